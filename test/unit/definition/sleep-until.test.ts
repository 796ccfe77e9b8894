import { describe, expect, it } from "vitest";
import { readdirSync, readFileSync } from "node:fs";
import { parseUntil } from "../../../src/definition/kinds/sleep-until.js";
import { refusalOf } from "../../support/error-code.js";
import { loadText } from "../../support/workflow-files.js";

describe("until", () => {
  it.each([
    ["2026-12-24T18:00:00+01:00", { until: "2026-12-24T17:00:00.000Z" }],
    ["2026-12-24 18:00Z", { until: "2026-12-24T18:00:00.000Z" }],
    [" 2028-02-29T00:00:00.5z ", { until: "2028-02-29T00:00:00.500Z" }],
    ["36h", { after_ms: 129_600_000 }],
    [90, { after_ms: 90_000 }],
    ["0s", { after_ms: 0 }],
    // Without a zone it would be another moment on another machine.
    ["2026-12-24T18:00:00", undefined],
    ["2026-12-24", undefined],
    ["2026-02-30T00:00:00Z", undefined],
    ["2026-13-01T00:00:00Z", undefined],
    ["2026-12-24T25:00:00Z", undefined],
    ["18:00", undefined],
    ["tomorrow", undefined],
    ["0 18 * * *", undefined],
    [-1, undefined],
    [null, undefined],
    [["36h"], undefined],
  ])("reads %j as %j", (value, read) => {
    expect(parseUntil(value)).toEqual(read);
  });

  it.each([
    ["until: tomorrow", "needs until: a time with its zone, or a duration", "2026-12-24T18:00:00+01:00"],
    ["until: 2026-12-24T18:00:00", "needs until", "with Z or the offset at the end"],
    ["type: sleep_until", "needs until", ""],
    ["type: sleep_until, duration: 5s, until: 1h", "duration has no meaning for a sleep_until step", "wait"],
    ["until: 1h, output: {a: {type: string}}", "a sleep_until step declares no output: it gives waited_seconds", ""],
    ["until: 1h, command: [ls]", "has no meaning for a", ""],
  ])("refuses %s, and says what to write", async (keys, message, advice) => {
    const refusal = await refusalOf(() => loadText(`workflow: {name: t}\nsteps:\n  - {name: a, ${keys}}\n`));
    expect(refusal.code).toBe("WORKFLOW_INVALID");
    expect(refusal.message).toContain(message);
    expect(refusal.message).toContain(advice);
  });
});

describe("a kind of step", () => {
  it("stands in four files: its keys, its type, itself and its row", () => {
    const root = new URL("../../../", import.meta.url);
    const files = ["src", "schemas"].flatMap((folder) =>
      readdirSync(new URL(folder, root), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && !entry.parentPath.includes("generated"))
        .map((entry) => `${entry.parentPath}/${entry.name}`),
    );
    const naming = files.filter((file) =>
      /sleep_until|sleep-until|SleepUntil|SLEEP_UNTIL/.test(readFileSync(file, "utf8")),
    );
    expect(naming.map((file) => file.split("/").slice(-2).join("/")).sort()).toEqual([
      "kinds/sleep-until.ts",
      "kinds/table.ts",
      "model/step.ts",
      "schemas/workflow.schema.json",
    ]);
  });
});
