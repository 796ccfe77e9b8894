import { describe, expect, it } from "vitest";
import {
  formatAgo,
  formatCost,
  formatDuration,
  formatMoney,
  formatNumber,
  formatSize,
  formatTokens,
} from "../../../web/model/figures.js";

describe("figures", () => {
  it.each([
    [0, "0 ms"],
    [0.0994, "99 ms"],
    [0.0996, "0.1 s"],
    [9.94, "9.9 s"],
    [9.96, "10 s"],
    [59.6, "1 min 0 s"],
    [3599.6, "1 h 0 min"],
    [86_399, "1 d 0 h"],
    [200_000, "2 d 8 h"],
  ])("%d seconds are %s", (seconds, text) => {
    expect(formatDuration(seconds)).toBe(text);
  });

  it.each([
    [0, "0 B"],
    [999, "999 B"],
    [1000, "1.0 KB"],
    [254_321, "254 KB"],
    [12_300_000, "12.3 MB"],
  ])("%d bytes are %s", (bytes, text) => {
    expect(formatSize(bytes)).toBe(text);
  });

  it.each([
    [0, "$0"],
    [0.00042, "$0.00042"],
    [0.0999, "$0.100"],
    [12.3456, "$12.35"],
  ])("%d dollars are %s", (dollars, text) => {
    expect(formatMoney(dollars)).toBe(text);
  });

  it("groups thousands, and says times from now", () => {
    expect(formatNumber(1_234_567)).toBe("1\u2009234\u2009567");
    expect([formatAgo(0, 2000), formatAgo(0, 90_000), formatAgo(3_600_000, 0)]).toEqual([
      "just now",
      "2 min ago",
      "in 1 h",
    ]);
  });
});

describe("what was spent", () => {
  const calls = { calls: 2, tokens: 0, cost_usd: 0, unpriced_calls: 0, uncounted_calls: 0 };

  it.each([
    [{ ...calls, calls: 0 }, "$0", "0"],
    [{ ...calls, tokens: 480, cost_usd: 0.04 }, "$0.040", "480"],
    [{ ...calls, unpriced_calls: 2, uncounted_calls: 2 }, "unknown", "unknown"],
    [{ ...calls, tokens: 7, cost_usd: 0.04, unpriced_calls: 1, uncounted_calls: 1 }, "$0.040 + ?", "7 + ?"],
  ])("of %j is told as known, in part, or unknown", (spent, cost, tokens) => {
    expect([formatCost(spent), formatTokens(spent)]).toEqual([cost, tokens]);
  });
});
