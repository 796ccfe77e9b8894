import { describe, expect, it } from "vitest";
import { computeRows, formatRows, placeTable } from "../../../scripts/stores/table.mjs";

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

  it("goes between its marks in the README, and nowhere else", () => {
    const readme = "a\n<!-- stores: made by scripts/stores.mjs --readme -->\nold\n<!-- /stores -->\nb\n";
    expect(placeTable(readme, "new")).toBe(
      "a\n<!-- stores: made by scripts/stores.mjs --readme -->\n\nnew\n\n<!-- /stores -->\nb\n",
    );
    expect(() => placeTable("no marks", "new")).toThrow("no place");
  });
});
