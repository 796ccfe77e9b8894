/**
 * Whole files in Conductor's form, against what Conductor itself makes of them: which step comes next, what a value becomes
 * at every entry and exit, what a file may not say. The expected values came out of Conductor's own engine (`source` of
 * whole-files.json); where we end otherwise, whole-files-differences.json has what comes here, and why.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { expectedOf, readRows, runRow, titleOf, type Ended } from "../../support/conductor-files.js";

/** Why some rows end otherwise, and how: an error is any error. */
interface Difference {
  readonly why: string;
  readonly rows: Readonly<Record<string, Ended>>;
}

const table = readRows("whole-files.json");
const differences = JSON.parse(
  readFileSync(join(import.meta.dirname, "../../golden/conductor/whole-files-differences.json"), "utf8"),
) as readonly Difference[];
const ours = new Map(differences.flatMap(({ rows }) => Object.entries(rows)));

const root = mkdtempSync(join(tmpdir(), "splashdown-conductor-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const rows = table.rows.map((row, at) => ({ title: titleOf(row), row, at }));
const shapeOf = (ended: Ended) => ("error" in ended ? { error: expect.any(String) as string } : ended);

describe("a file of Conductor's", () => {
  it("is known of more than nine hundred, each another one", () => {
    expect(new Set(rows.map(({ title }) => title)).size).toBe(rows.length);
    expect(rows.length).toBeGreaterThan(900);
  });

  it.each(rows)("ends as there, or otherwise for a reason: $title", async ({ title, row, at }) => {
    const ended = await runRow(table, row, join(root, `${at}`));
    expect(ended).toEqual(shapeOf(ours.get(title) ?? expectedOf(row)));
  });

  it("ends otherwise only where that is said, and why", () => {
    const expected = new Map(rows.map(({ title, row }) => [title, expectedOf(row)]));
    for (const { why, rows: other } of differences) {
      expect(why).toMatch(/\w/);
      for (const [title, ended] of Object.entries(other))
        expect({ title, ended }).not.toEqual({ title, ended: shapeOf(expected.get(title) ?? ended) });
    }
  });
});
