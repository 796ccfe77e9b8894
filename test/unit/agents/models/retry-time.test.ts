import { describe, expect, it } from "vitest";
import { computeRetryAtMs } from "../../../../src/agents/providers/retry-time.js";
import { processorMsOf } from "../../../support/real-clock.js";

const NOW = Date.parse("2026-03-01T12:00:00Z");
const afterMs = (headers: Record<string, string>, body = ""): number | undefined => {
  const atMs = computeRetryAtMs({ headers, body, nowMs: NOW });
  return atMs === undefined ? undefined : atMs - NOW;
};

describe("when to ask again", () => {
  it.each<[string, Record<string, string>, number | undefined]>([
    ["seconds", { "retry-after": "3" }, 3_000],
    ["parts of seconds", { "retry-after": "1.5" }, 1_500],
    ["a date", { "retry-after": "Sun, 01 Mar 2026 12:00:03 GMT" }, 3_000],
    ["a date in the past as not said", { "retry-after": "Sun, 01 Mar 2026 11:00:00 GMT" }, undefined],
    ["no wait at all as not said", { "retry-after": "0" }, undefined],
    ["no milliseconds as not said", { "retry-after-ms": "0" }, undefined],
    ["a reset that is over as not said", { "ratelimit-reset": "0" }, undefined],
    ["nothing for less than nothing", { "retry-after": "-1" }, undefined],
    ["nothing for what is no time", { "retry-after": "abc" }, undefined],
    ["a long time", { "retry-after": "99999" }, 99_999_000],
    ["a month at most", { "retry-after": "99999999" }, 31 * 24 * 3_600_000],
    ["milliseconds", { "retry-after-ms": "250", "retry-after": "9" }, 250],
    ["milliseconds as Azure says them", { "x-ms-retry-after-ms": "80" }, 80],
    ["nothing at all", {}, undefined],
    [
      "Anthropic's reset of the limit that is used up",
      {
        "anthropic-ratelimit-requests-remaining": "7",
        "anthropic-ratelimit-requests-reset": "2026-03-01T12:30:00Z",
        "anthropic-ratelimit-tokens-remaining": "0",
        "anthropic-ratelimit-tokens-reset": "2026-03-01T12:00:20Z",
      },
      20_000,
    ],
    [
      "Anthropic's unified reset in seconds since the epoch",
      { "anthropic-ratelimit-unified-reset": String(NOW / 1_000 + 60) },
      60_000,
    ],
    ["OpenAI's spans", { "x-ratelimit-reset-requests": "1s", "x-ratelimit-reset-tokens": "6m0s" }, 360_000],
    [
      "OpenAI's span of the limit that is used up",
      {
        "x-ratelimit-remaining-requests": "0",
        "x-ratelimit-reset-requests": "120ms",
        "x-ratelimit-remaining-tokens": "90",
        "x-ratelimit-reset-tokens": "6m0s",
      },
      120,
    ],
    ["milliseconds since the epoch", { "x-ratelimit-reset": String(NOW + 5_000) }, 5_000],
    ["seconds from now", { "ratelimit-reset": "12" }, 12_000],
  ])("reads %s in headers", (_name, headers, expected) => {
    expect(afterMs(headers)).toBe(expected);
  });

  it.each<[string, number | undefined]>([
    ["Rate limit reached. Please try again in 20s.", 20_000],
    ["Please try again in 1m20.5s. Visit", 80_500],
    ["try again in 350ms", 350],
    ["Please retry after 30 seconds", 30_000],
    ["try again in 2 minutes", 120_000],
    ["retry in 45", 45_000],
    ['{"error":{"details":[{"@type":"x.RetryInfo","retryDelay":"34s"}]}}', 34_000],
    ['{"retry_after": 12.5}', 12_500],
    ['{"resets_at": "2026-03-01T13:00:00Z"}', 3_600_000],
    [`Claude AI usage limit reached|${NOW / 1_000 + 900}`, 900_000],
    ["your limit resets at 2026-03-01T12:10:00Z", 600_000],
    ["You have used 500 tokens in 3 requests", undefined],
    ["", undefined],
  ])("reads it in the body: %s", (body, expected) => {
    expect(afterMs({}, body)).toBe(expected);
  });

  it("believes a header more than a body", () => {
    expect(afterMs({ "retry-after": "2" }, "try again in 20s")).toBe(2_000);
  });

  it("reads hostile text in little time", async () => {
    const tookMs = await processorMsOf(() => {
      expect(afterMs({}, `try again in ${"1s".repeat(200_000)}!`)).toBeUndefined();
      expect(afterMs({}, `try again in ${"9".repeat(200_000)}`)).toBeDefined();
    });
    expect(tookMs).toBeLessThan(1_000);
  });
});
