import { describe, expect, it } from "vitest";
import { isNotLetIn, readStatusMeaning } from "../../../src/agents/outcome/status-table.js";

describe("what a status says of asking again", () => {
  it.each<[number, string, string, string]>([
    [400, "final", "final", "final"],
    [401, "final", "final", "final"],
    [404, "final", "final", "final"],
    [408, "passing", "passing", "passing"],
    [409, "final", "final", "passing"],
    [425, "passing", "passing", "passing"],
    [429, "limit", "limit", "limit"],
    [500, "passing", "passing", "passing"],
    [501, "final", "final", "passing"],
    [503, "passing", "limit", "passing"],
    [504, "passing", "passing", "passing"],
    [505, "final", "final", "passing"],
    [529, "limit", "limit", "limit"],
  ])("%i is %s, %s with a time to come again, and %s of a model", (status, plain, timed, model) => {
    expect([
      readStatusMeaning(status),
      readStatusMeaning(status, { isTimed: true }),
      readStatusMeaning(status, { isModel: true }),
    ]).toEqual([plain, timed, model]);
  });

  it("is that of a key or an account for 401 and 403 alone", () => {
    expect([400, 401, 402, 403, 404].filter((status) => isNotLetIn(status))).toEqual([401, 403]);
  });
});
