/**
 * Each way in which a provider says "not now", in each form: whether it is a limit, and until when. A time that is not ahead
 * counts as none, and one that nobody lives to see is bounded.
 */
import { afterEach, describe, expect, it } from "vitest";
import { LIMITS } from "../../../../src/base/limits.js";
import { FakeClock } from "../../../support/fake-clock.js";
import { keepEnds, openModels, requestOf } from "../../../support/model-room.js";
import { SERVER_FORMS, type ServerForm } from "../../../support/model-server.js";
import { answer, openRawServer, type RawReply, type RawServer } from "../../../support/raw-server.js";

const servers: RawServer[] = [];
afterEach(() => Promise.all(servers.splice(0).map((server) => server.close())));

interface Told {
  readonly code: string;
  readonly message: string;
  readonly details: Readonly<Record<string, unknown>>;
}

const NOW_MS = new FakeClock().nowMs();

async function ask(form: ServerForm, reply: RawReply): Promise<Told> {
  const server = await openRawServer(reply);
  servers.push(server);
  const models = openModels({ environment: form.environment(server.url), clock: new FakeClock() });
  return models(form.provider)
    .call(requestOf(), keepEnds())
    .then(
      (said) => ({ code: "ANSWERED", message: JSON.stringify(said.say), details: {} }),
      (error: unknown) => error as Told,
    );
}

const iso = (ms: number): string => new Date(NOW_MS + ms).toISOString();
const date = (ms: number): string => new Date(NOW_MS + ms).toUTCString();
/** Dates of headers have whole seconds. */
const NOW_PART_MS = NOW_MS % 1_000;

type Headers = Readonly<Record<string, string>>;
/** Headers of a refusal, and the wait that they ask for in milliseconds; `undefined` for none. */
const WAITS: readonly (readonly [string, Headers, number | undefined])[] = [
  ["seconds", { "retry-after": "7" }, 7_000],
  ["parts of a second", { "retry-after": "1.5" }, 1_500],
  ["a date", { "retry-after": date(60_000) }, 60_000 - NOW_PART_MS],
  ["milliseconds", { "retry-after-ms": "1500" }, 1_500],
  ["Azure's milliseconds", { "x-ms-retry-after-ms": "2500", "retry-after": "9" }, 2_500],
  [
    "a span of a used-up limit",
    { "x-ratelimit-reset-requests": "6m0s", "x-ratelimit-remaining-requests": "0" },
    360_000,
  ],
  ["the later of two", { "x-ratelimit-reset-requests": "2s", "x-ratelimit-reset-tokens": "350ms" }, 2_000],
  [
    "Anthropic's date",
    { "anthropic-ratelimit-tokens-reset": iso(30_000), "anthropic-ratelimit-tokens-remaining": "0" },
    30_000,
  ],
  [
    "seconds since the epoch",
    { "x-ratelimit-reset": String(Math.ceil(NOW_MS / 1_000) + 60) },
    60_000 + ((1_000 - NOW_PART_MS) % 1_000),
  ],
  ["milliseconds since the epoch", { "x-ratelimit-reset": String(NOW_MS + 45_000) }, 45_000],
  ["[public E kin] no time", {}, undefined],
  ["[public E kin] no seconds", { "retry-after": "0" }, undefined],
  ["[public E kin] fewer than none", { "retry-after": "-5" }, undefined],
  ["[public E kin] a date that has passed", { "retry-after": date(-3_600_000) }, undefined],
  ["[public E kin] a reset that has passed", { "x-ratelimit-reset": "1000000000" }, undefined],
  ["words that are no time", { "retry-after": "soon" }, undefined],
  ["[public E kin] an absurd time", { "retry-after": "99999999999" }, LIMITS.retryAfterMsMax],
  ["[public E kin] an absurd date", { "retry-after": "Fri, 31 Dec 9999 23:59:59 GMT" }, LIMITS.retryAfterMsMax],
];
const STATUSES = [429, 529, 503] as const;
const forms = SERVER_FORMS.filter(({ isWhole }) => !isWhole);
const waits = forms.flatMap((form) =>
  STATUSES.flatMap((status) => WAITS.map(([name, headers, waitMs]) => ({ form, status, name, headers, waitMs }))),
);

describe("a refusal with a status", () => {
  it.each(waits)("$status with $name, in $form.name", async ({ form, status, headers, waitMs }) => {
    const told = await ask(form, (socket) => answer(socket, status, headers, '{"error":{"message":"slow down"}}'));
    // 503 without a time is an outage, which may pass.
    const isLimit = status !== 503 || waitMs !== undefined;
    expect(told).toMatchObject({
      code: isLimit ? "MODEL_RATE_LIMITED" : "MODEL_FAILED",
      details: { status, ...(isLimit ? {} : { retryable: true }) },
    });
    const atMs = told.details["retry_at_ms"];
    if (waitMs !== undefined) expect(atMs).toBe(NOW_MS + waitMs);
    else if (!isLimit) expect(atMs).toBeUndefined();
    else {
      // Ours, from a second on; it doubles with each refusal in a row.
      expect(atMs).toBeGreaterThan(NOW_MS);
      expect(atMs).toBeLessThanOrEqual(NOW_MS + 2_000);
    }
    expect(told.details["usage"]).toBeUndefined();
  });
});

const limit = (more: object = {}) => ({ code: "MODEL_RATE_LIMITED", details: more });
const failure = (isRetryable: boolean) => ({ code: "MODEL_FAILED", details: { retryable: isRetryable } });
/** Errors that are told with the status 200, and what they are. */
const ERRORS: readonly (readonly [string, object, object])[] = [
  ["[public J kin] overloaded_error", { type: "overloaded_error", message: "Overloaded" }, limit()],
  ["[public J kin] rate_limit_error", { type: "rate_limit_error", message: "slow" }, limit()],
  ["[public J kin] rate_limit_exceeded", { code: "rate_limit_exceeded", message: "slow", type: "requests" }, limit()],
  ["[public J kin] the code 429", { code: 429, message: "slow" }, limit({ status: 429 })],
  ["[public J kin] the code 529", { code: 529, message: "busy" }, limit({ status: 529 })],
  ["[public J kin] the code 503", { code: 503, message: "busy" }, limit({ status: 503 })],
  [
    "[public J kin] a time in its words",
    { code: 429, message: "try again in 20s" },
    limit({ retry_at_ms: NOW_MS + 20_000 }),
  ],
  ["a failure of the server", { type: "api_error", message: "Internal server error" }, failure(true)],
  ["the code 502", { code: 502, message: "bad upstream" }, failure(true)],
  ["a request that is not valid", { code: 400, message: "no such field" }, failure(false)],
  ["a used-up balance", { code: 402, message: "Insufficient credits" }, failure(false)],
  ["a used-up quota", { code: "insufficient_quota", message: "You exceeded your current quota" }, failure(false)],
];
const errors = SERVER_FORMS.flatMap((form) =>
  ERRORS.map(([name, error, expected]) => ({ form, name, error, expected })),
);

describe("a refusal inside an answer that began well", () => {
  it.each(errors)("$name, in $form.name", async ({ form, error, expected }) => {
    const told = await ask(form, form.fail(error));
    expect(told).toMatchObject(expected);
    // Told in words, not as programs print objects.
    expect(told.message).not.toMatch(/\[object|\{ /);
    const isCounted = form.provider === "anthropic" && !form.isWhole;
    expect(told.details["usage"]).toEqual(isCounted ? { calls: 1, tokensIn: 3, tokensOut: 1 } : undefined);
  });
});
