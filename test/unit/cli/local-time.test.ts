/** Times by the clock of the zone that the process is in. */
import { afterEach, describe, expect, it } from "vitest";
import { formatAgo, formatClock, formatMoment, formatUntil, formatZone } from "../../../src/cli/terminal/local-time.js";

const before = process.env["TZ"];
afterEach(() => {
  if (before === undefined) delete process.env["TZ"];
  else process.env["TZ"] = before;
});

describe("a local time", () => {
  it.each([
    ["UTC", "2026-11-28 20:16:10 UTC"],
    ["America/New_York", "2026-11-28 15:16:10 -05:00"],
    ["Asia/Kolkata", "2026-11-29 01:46:10 +05:30"],
    ["America/St_Johns", "2026-11-28 16:46:10 -03:30"],
  ])("names its zone (%s)", (zone, moment) => {
    process.env["TZ"] = zone;
    expect(formatMoment("2026-11-28T20:16:10.718Z")).toBe(moment);
    expect(formatClock("2026-11-28T20:16:10.718Z")).toBe(moment.slice(11, 19));
  });

  it("follows the summer", () => {
    process.env["TZ"] = "Europe/Berlin";
    expect([formatZone("2026-01-01T00:00:00Z"), formatZone("2026-07-01T00:00:00Z")]).toEqual(["+01:00", "+02:00"]);
  });

  it("is the text itself where that is no time", () => {
    expect([formatMoment("?"), formatClock("")]).toEqual(["?", ""]);
  });
});

describe("a length of time", () => {
  const at = "2026-11-28T20:00:00.000Z";
  const now = Date.parse(at);
  it.each([
    [0, "0 s ago"],
    [12, "12 s ago"],
    [200, "3 min ago"],
    [7_300, "2 h ago"],
    [49 * 3600, "2 days ago"],
  ])("since %i seconds is %s", (seconds, text) => {
    expect(formatAgo(at, now + seconds * 1000)).toBe(text);
  });

  it.each([
    [0, "now"],
    [12, "in 12 s"],
    [121, "in 3 min"],
    [7_300, "in 2 h"],
    [72 * 3600, "in 3 days"],
  ])("until %i seconds from now is %s", (seconds, text) => {
    expect(formatUntil(at, now - seconds * 1000)).toBe(text);
  });
});
