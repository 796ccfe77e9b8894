/** Every fault says of what kind it is: a table of a file for each kind, and the kinds that programs may rely on. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { FAULT_CODES, type FaultCode } from "../../../src/definition/faults/fault.js";
import { faultsOf, loadText } from "../../support/workflow-files.js";

const HEAD = "workflow: {name: t}\n";
const ROUTED = "workflow: {name: t, entry_point: a}\nagents:\n";

/** Kind, file, place. */
const TABLE: readonly (readonly [FaultCode, string, number, number])[] = [
  ["syntax", "workflow:\n\tname: t\n", 2, 1],
  ["too_large", `${HEAD}steps: ${"[".repeat(200)}\n`, 1, 1],
  ["duplicate_key", "workflow: {name: t, name: u}\nsteps: [{name: a, value: 1}]\n", 1, 21],
  ["unknown_key", `${HEAD}steps: [{name: a, valeu: 1}]\n`, 2, 19],
  ["misplaced_key", `${HEAD}steps: [{name: a, value: 1, duration: 5s}]\n`, 2, 29],
  ["missing_key", `${HEAD}steps: [{name: a, type: wait}]\n`, 2, 9],
  ["wrong_type", `${HEAD}steps: [{name: a, value: 1, risky: 5}]\n`, 2, 36],
  ["wrong_value", `${HEAD}steps: [{name: a, value: 1, effects: some}]\n`, 2, 38],
  ["conflict", `${HEAD}steps: [{name: a, value: 1, values: {x: 1}}]\n`, 2, 9],
  ["unknown_name", `${ROUTED}  - {name: a, prompt: x, routes: [{to: nowhere}]}\n`, 3, 40],
  ["duplicate_name", `${HEAD}steps: [{name: f, for_each: [1], as: output, step: {value: 1}}]\n`, 2, 38],
  ["template", `${HEAD}steps: [{name: a, value: "{{ 1 +* 2 }}"}]\n`, 2, 27],
  ["order", `${HEAD}steps: [{name: a, value: 1, depends_on: b}, {name: b, value: 1, depends_on: a}]\n`, 2, 41],
  ["nesting", `${HEAD}steps: [{name: a, workflow: flow.yaml}]\n`, 2, 29],
  ["file", `${HEAD}steps: [{name: a, value: !file gone.md}]\n`, 2, 32],
  ["variable", `${HEAD}steps: [{name: a, value: "\${GONE}"}]\n`, 2, 26],
  [
    "meaning",
    "workflow: {name: t, entry_point: a, context: {mode: explicit}}\nagents:\n  - {name: b, prompt: x, routes: [{to: a}]}\n  - {name: a, prompt: '{{ b.output }}', routes: [{to: b}]}\n",
    4,
    27,
  ],
];

describe("a fault", () => {
  it.each(TABLE)("of kind %s is told so, at its place", async (code, text, line, column) => {
    const faults = await faultsOf(text);
    expect(faults[0]).toMatchObject({ code, line, column });
  });

  it("has one of the kinds of the view for programs, and each is in the table", () => {
    const view = JSON.parse(
      readFileSync(new URL("../../../schemas/views/validate.schema.json", import.meta.url), "utf8"),
    ) as { properties: { faults: { items: { properties: { code: { enum: string[] } } } } } };
    expect(view.properties.faults.items.properties.code.enum).toEqual([...FAULT_CODES]);
    // A secret is a warning only.
    expect([...TABLE.map(([code]) => code), "secret"].sort()).toEqual([...FAULT_CODES].sort());
  });

  it("of a secret is a note, as the file runs", async () => {
    const { notes } = await loadText(`${HEAD}steps: [{name: a, command: [x], env: {API_KEY: abcdef}}]\n`);
    expect(notes.some((note) => note.includes("a secret stands in the file"))).toBe(true);
  });
});
