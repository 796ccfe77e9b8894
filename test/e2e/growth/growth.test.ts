import { lstatSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { LIMITS } from "../../../src/base/limits.js";
import type { RunView, TaskView } from "../../../src/runtime/contract.js";
import { openPlace, type CommandPlace } from "../../support/command-place.js";

const STEPS = 200;
const STEP_BYTES = 20_000;
const CONSTANT_BYTES = 2_000_000;
const UNIQUE_BYTES = CONSTANT_BYTES + STEPS * STEP_BYTES;

/**
 * Text as a model writes it: words, of which some are common. Each step adds a piece to the channel that all can read, and
 * notes how much of the processor its process has had by then.
 */
const FUNCTIONS = `
import { randomInt } from "node:crypto";
import { appendFileSync } from "node:fs";
function write(bytes) {
  let text = "";
  while (text.length < bytes) text += "w" + Math.floor(randomInt(1, 5000) ** 2 / 5000).toString(36) + " ";
  return text.slice(0, bytes);
}
export const constant = () => write(${CONSTANT_BYTES});
export function grow(context) {
  const { user, system } = process.cpuUsage();
  appendFileSync("spent", (user + system) / 1000 + "\\n");
  context.channel.append("log", write(${STEP_BYTES}));
  context.channel.add("count", 1);
  return { n: context.channel.get("count") };
}
export const measure = (context) => ({
  constant: context.input.constant,
  pieces: context.channel.get("log").length,
  bytes: context.channel.get("log").join("").length,
});
`;

const WORKFLOW = {
  workflow: { name: "growing", entry_point: "constant", limits: { max_iterations: 1 + STEPS / 2 } },
  agents: [
    { name: "constant", function: "./functions.mjs#constant", effects: "none", routes: [{ to: "grow" }] },
    {
      name: "grow",
      function: "./functions.mjs#grow",
      effects: "none",
      routes: [{ to: "measure", when: `{{ output.n >= ${STEPS} }}` }, { to: "grow" }],
    },
    {
      name: "measure",
      function: "./functions.mjs#measure",
      effects: "none",
      input: { constant: "{{ constant.output | length }}" },
      routes: [{ to: "$end" }],
    },
  ],
  output: { measured: "{{ measure.output }}" },
};

function sizeOf(path: string): number {
  const stat = lstatSync(path);
  return stat.isDirectory() ? readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0) : stat.size;
}

const sizeIn = (place: CommandPlace, name = ""): number => sizeOf(join(place.folder, "outputs/t/checkpoints", name));

/** The processor's time from step to step where no snapshot was made beside them: the tenth part takes less. Unit: ms. */
function quietStepMs(place: CommandPlace, from: number, to: number): number {
  const spent = place.ledger("spent").map(Number);
  const gaps = spent.slice(from, to).map((at, index) => at - (spent[from + index - 1] ?? at));
  return gaps.toSorted((a, b) => a - b)[Math.floor(gaps.length / 10)] ?? Infinity;
}

/** Bytes of the journal's sealed lines, in their order. */
function lineSizes(place: CommandPlace): number[] {
  const folder = join(place.folder, "outputs/t/checkpoints/journal");
  const names = readdirSync(folder).toSorted((a, b) => (a < b ? -1 : 1));
  return names.flatMap((name) => readFileSync(join(folder, name), "latin1").split("\n")).map((line) => line.length);
}

describe("FAULTS 24: a task of 200 steps that add 20 KB each, and a constant of 2 MB", () => {
  it("grows in line with what is new, saves its last step like an early one, shrinks by pruning, and still goes on", async () => {
    const place = openPlace();
    place.write("functions.mjs", FUNCTIONS);
    place.write("workflow.json", JSON.stringify(WORKFLOW));
    expect((await place.run(["run", "workflow.json", "--task", "t"])).code).toBe(21);
    const [journalAtHalf, atHalf] = [sizeIn(place, "journal"), sizeIn(place)];
    expect(atHalf).toBeLessThan(3 * (UNIQUE_BYTES - (STEPS / 2) * STEP_BYTES));

    const pruned = await place.run(["checkpoints", "prune", "t", "--keep", "2", "--yes"]);
    expect(pruned.code).toBe(0);
    expect(sizeIn(place)).toBeLessThan(atHalf);
    const resumed = await place.run(["resume", "t", "--extend", `max_iterations=${STEPS}`, "--json"]);
    expect(resumed.json<RunView>()).toMatchObject({
      status: "done",
      output: { measured: { constant: CONSTANT_BYTES, pieces: STEPS, bytes: STEPS * STEP_BYTES } },
    });
    expect(sizeIn(place)).toBeLessThan(3 * UNIQUE_BYTES);
    expect(sizeIn(place, "journal") / journalAtHalf).toBeGreaterThan(1.8);
    expect(sizeIn(place, "journal") / journalAtHalf).toBeLessThan(2.2);
    expect((await place.run(["show", "t", "--json"])).json<TaskView>().damage).toEqual([]);

    expect(place.ledger("spent")).toHaveLength(STEPS);
    const [early, late] = [quietStepMs(place, 10, 60), quietStepMs(place, STEPS - 50, STEPS)];
    expect(late).toBeLessThanOrEqual(2 * early + 5);
    const lines = lineSizes(place);
    const sum = (sizes: readonly number[]) => sizes.reduce((total, size) => total + size, 0);
    expect(sum(lines.slice(-200)) / sum(lines.slice(50, 250))).toBeLessThan(1.2);
  });
});

/** Keyring, audit, owner and the names of them all. */
const OTHER_BYTES = 64 * 1024;

describe("FAULTS 24: items of nested workflows that each leave 20 KB", () => {
  const COUNT = 100;
  const flow = (count: number) => ({
    workflow: { name: "growing", entry_point: "constant", limits: { max_iterations: 1000 } },
    agents: [
      { name: "constant", function: "./functions.mjs#constant", effects: "none", routes: [{ to: "list" }] },
      { name: "list", type: "set", value: Array.from({ length: count }, (_none, at) => at), routes: [{ to: "each" }] },
    ],
    for_each: [
      {
        name: "each",
        type: "for_each",
        source: "list.output",
        as: "it",
        max_concurrent: 8,
        agent: { name: "sub", type: "workflow", workflow: "inner.json" },
      },
    ],
    output: { count: "{{ each.count }}" },
  });
  const INNER = {
    workflow: { name: "inner", entry_point: "a" },
    agents: [
      { name: "a", function: "./functions.mjs#piece", effects: "none", routes: [{ to: "b" }] },
      { name: "b", type: "set", value: "{{ a.output | length }}" },
    ],
    output: { bytes: "{{ b.output }}" },
  };

  it("grow in line with what is new, and are pruned like any other", async () => {
    const place = openPlace();
    place.write("functions.mjs", `${FUNCTIONS}\nexport const piece = () => write(${STEP_BYTES});\n`);
    place.write("inner.json", JSON.stringify(INNER));
    const journals: number[] = [];
    for (const count of [COUNT / 2, COUNT]) {
      rmSync(join(place.folder, "outputs/t"), { recursive: true, force: true });
      place.write("workflow.json", JSON.stringify(flow(count)));
      const run = await place.run(["run", "workflow.json", "--task", "t", "--new", "--json"]);
      expect(run.json<RunView>()).toMatchObject({ exit_status: 0, output: { count } });
      journals.push(sizeIn(place, "journal"));
    }
    const [half = 0, journal = 0] = journals;
    expect(journal / half).toBeGreaterThan(1.8);
    expect(journal / half).toBeLessThan(2.2);
    expect(journal).toBeLessThan(1.5 * COUNT * STEP_BYTES);
    const whole = sizeIn(place);
    // How many snapshots come to be is a matter of time; what they may take together is not. Source: DESIGN section 7.
    const snapshots = whole - journal - sizeIn(place, "blobs") - LIMITS.ballastBytes;
    expect(snapshots).toBeLessThan(1024 * 1024 + 4 * journal + OTHER_BYTES);
    expect((await place.run(["checkpoints", "prune", "t", "--keep", "1", "--yes"])).code).toBe(0);
    expect(sizeIn(place)).toBeLessThanOrEqual(whole);
    expect((await place.run(["show", "t", "--json"])).json<TaskView>().damage).toEqual([]);
  });
});
