/** FAULTS 16: a workflow is edited between two runs, in the file itself and in a file that it nests. */
import { describe, expect, it } from "vitest";
import type { RunView, TaskView } from "../../../src/runtime/contract.js";
import { openPlace, type CommandPlace } from "../../support/command-place.js";
import { repair, spoil, writeHeldSteps } from "../../support/held-steps.js";

/** Four steps; each after the first is handed what the one before gave. */
const FLOW = `workflow: {name: edited, entry_point: a, limits: {max_iterations: 50}}
agents:
  - {name: a, command: [sh, step.sh, a, pa], effects: none, output: {step: {type: string}}, routes: [{to: b}]}
  - {name: b, command: [sh, step.sh, b, pb], effects: none, input: {before: "{{ a.output.step }}"}, routes: [{to: c}]}
  - {name: c, command: [sh, step.sh, c, pc], effects: none, routes: [{to: d}]}
  - {name: d, command: [sh, step.sh, d, !file words.md], effects: none, input: {before: "{{ c.output.step }}"}}
output: {c: "{{ c.output.step }}", d: "{{ d.output.step }}"}
`;
const OUTER = `workflow: {name: outer, entry_point: sub, limits: {max_iterations: 50}}
agents:
  - {name: sub, type: workflow, workflow: flow.yaml}
output: {c: "{{ sub.output.c }}", d: "{{ sub.output.d }}"}
`;

interface Edit {
  readonly what: string;
  readonly edit: (text: string) => string;
  readonly words?: string;
  /** What a resume says of it, with the path of the flow before each name; absent: it is no change. */
  readonly told?: readonly string[];
  /** What runs when it is accepted; default: what had failed, and what follows. */
  readonly runs?: readonly string[];
  readonly code?: number;
}

const line = (name: string) => new RegExp(`^ {2}- \\{name: ${name},.*\\n`, "m");

const EDITS: readonly Edit[] = [
  { what: "a comment", edit: (text) => `# said\n${text.replace("agents:", "agents: # more")}` },
  {
    what: "the order of keys",
    edit: (text) =>
      text.replace(
        "{name: b, command: [sh, step.sh, b, pb], effects: none,",
        "{effects: none, command: [sh, step.sh, b, pb], name: b,",
      ),
  },
  { what: "a step to come", edit: (text) => text.replace("d, !file words.md", "d, new"), told: ["d: changed"] },
  { what: "a file that a step to come includes", edit: (text) => text, words: "other words", told: ["d: changed"] },
  { what: "a finished step", edit: (text) => text.replace("b, pb", "b, other"), told: ["b: changed"] },
  {
    what: "the form of a finished step's output",
    edit: (text) => text.replace("{step: {type: string}}", "{step: {type: string}, more: {type: string}}"),
    told: ["a: changed"],
  },
  {
    what: "the name of a finished step",
    edit: (text) => text.replace("{to: b}", "{to: bee}").replace("name: b,", "name: bee,"),
    told: ["b: renamed to "],
  },
  {
    what: "a step between two finished ones",
    edit: (text) =>
      text
        .replace("{to: b}", "{to: x}")
        .replace(
          line("b"),
          (own) => `  - {name: x, command: [sh, step.sh, x], effects: none, routes: [{to: b}]}\n${own}`,
        ),
    told: ["x: added"],
  },
  {
    what: "the lack of a finished step",
    edit: (text) =>
      text
        .replace("entry_point: a", "entry_point: b")
        .replace(line("a"), "")
        .replace('input: {before: "{{ a.output.step }}"}, ', ""),
    told: ["a: removed"],
  },
  {
    what: "a step before the one that comes next",
    edit: (text) =>
      text
        .replace("{to: d}", "{to: x}")
        .replace(
          line("d"),
          (own) => `  - {name: x, command: [sh, step.sh, x], effects: none, routes: [{to: d}]}\n${own}`,
        ),
    told: ["x: added"],
    runs: ["c", "x", "d"],
  },
  {
    what: "the lack of the step that failed",
    edit: (text) =>
      text
        .replace("{to: c}", "{to: d}")
        .replace(line("c"), "")
        .replace('input: {before: "{{ c.output.step }}"}', "input: {}")
        .replace('c: "{{ c.output.step }}", ', ""),
    told: ["c: removed"],
    runs: [],
    code: 4,
  },
];

const FORMS = [
  { form: "the file itself", file: "flow.yaml", path: "main" },
  { form: "a nested file", file: "outer.yaml", path: "main/sub/main" },
] as const;

async function failedAtThird(file: string): Promise<CommandPlace> {
  const place = openPlace();
  writeHeldSteps(place, ["unused"]);
  place.write("flow.yaml", FLOW);
  place.write("outer.yaml", OUTER);
  place.write("words.md", "words");
  spoil(place, "c");
  expect((await place.run(["run", file, "--task", "t"])).code).toBe(4);
  expect(place.ledger()).toEqual(["a", "b", "c"]);
  repair(place, "c");
  return place;
}

describe.each(FORMS)("FAULTS 16: an edit of $form", ({ file, path }) => {
  it.each(EDITS)("$what", async ({ edit, words, told, runs = ["c", "d"], code = 0 }) => {
    const place = await failedAtThird(file);
    place.write("flow.yaml", edit(FLOW));
    if (words !== undefined) place.write("words.md", words);
    let resumed = await place.run(["resume", "t", "--json"]);
    if (told !== undefined) {
      expect(resumed.code).toBe(20);
      const { notices } = resumed.json<RunView>();
      for (const text of told) expect(notices.join("\n")).toContain(`${path}/${text}`);
      expect(place.ledger()).toEqual(["a", "b", "c"]);
      resumed = await place.run(["resume", "t", "--accept-changes", "--json"]);
    }
    expect({ code: resumed.code, ran: place.ledger().slice(3) }).toEqual({ code, ran: runs });
    if (code === 0) expect(resumed.json<RunView>().output).toEqual({ c: "c", d: "d" });
    const { steps } = (await place.run(["show", "t", "--json"])).json<TaskView>();
    for (const { path: at, status } of steps.filter((step) => runs.includes(step.path.split("/").at(-1) ?? "")))
      expect([at, status]).toEqual([at, "completed"]);
  });
});
