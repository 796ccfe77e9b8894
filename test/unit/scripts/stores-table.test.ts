import { describe, expect, it } from "vitest";
import { addKills, computeRows, findFaults, formatRows, placeTable } from "../../../proof/stores/table.mjs";

const RESULTS = [
  { ancestorTitles: ["store: directory on this machine, fresh, tasks"], status: "passed" },
  { ancestorTitles: ["store: directory on this machine, prefixed, tasks"], status: "failed" },
  { ancestorTitles: ["store: sqlite, reopened, claims"], status: "passed" },
  { ancestorTitles: ["on 'file'"], title: "a task runs", status: "passed" },
  { ancestorTitles: ["on 'postgres behind redis'"], title: "FAULTS 10: a file is empty", status: "passed" },
  { ancestorTitles: ["on file"], status: "passed" },
  { ancestorTitles: ["on 'sqlite'"], status: "skipped" },
  { ancestorTitles: ["the store suite"], status: "passed" },
];

describe("the table of stores", () => {
  it("counts what passed by store and group, and what was skipped as neither", () => {
    expect(formatRows(computeRows(RESULTS))).toBe(
      [
        "| store | tasks | claims | story | faults |",
        "| --- | --- | --- | --- | --- |",
        "| file | 1 of 2 | – | 2 of 2 | – |",
        "| sqlite | – | 1 of 1 | – | – |",
        "| postgres behind redis | – | – | – | 1 of 1 |",
      ].join("\n"),
    );
  });

  it("has the kills of each store beside them, in the order in which stores are always told", () => {
    const killed = [
      { store: "pglite", passed: 5, failed: 0 },
      { store: "sqlite", passed: 6, failed: 1 },
    ];
    expect(
      formatRows(addKills(computeRows(RESULTS.slice(2, 3)), killed))
        .split("\n")
        .slice(2),
    ).toEqual(["| sqlite | 1 of 1 | 6 of 7 |", "| pglite | – | 5 of 5 |"]);
  });

  it("comes with a line for each that failed", () => {
    const failed = { ...RESULTS[1], title: "lists", failureMessages: ["expected 1\n  at x"] };
    expect(findFaults([...RESULTS.slice(2), failed])).toEqual([
      "store: directory on this machine, prefixed, tasks, lists: expected 1",
    ]);
  });

  it("goes between its marks in a page, and nowhere else", () => {
    const readme = "a\n<!-- stores: made by proof/stores.mjs --readme -->\nold\n<!-- /stores -->\nb\n";
    expect(placeTable(readme, "new")).toBe(
      "a\n<!-- stores: made by proof/stores.mjs --readme -->\n\nnew\n\n<!-- /stores -->\nb\n",
    );
    expect(() => placeTable("no marks", "new")).toThrow("no place");
  });
});
