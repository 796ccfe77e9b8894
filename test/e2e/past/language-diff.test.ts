/** FAULTS 52: two runs of groups, items and nested workflows that differ in one word and in the order of finishing. */
import { describe, expect, it } from "vitest";
import { openPlace, type CommandPlace } from "../../support/command-place.js";

/** Waits as long as `delay-NAME` says, then gives the word of `word-NAME`. */
const STEP = `echo "$1" >> ledger
sleep "$(cat "delay-$1" 2>/dev/null || echo 0)"
printf '{"output": {"word": "%s"}}' "$(cat "word-$1" 2>/dev/null || echo "$1")"
`;
const step = (name: string, rest = "") =>
  `{name: ${name}, command: [sh, step.sh, ${name}], effects: none, output: {word: {type: string}}${rest}}`;
const FLOW = `workflow: {name: nine, entry_point: one, limits: {max_iterations: 50}}
parallel:
  - {name: pair, agents: [left, right], routes: [{to: sub}]}
agents:
  - ${step("one", ", routes: [{to: pair}]")}
  - ${step("left")}
  - ${step("right")}
  - {name: sub, type: workflow, workflow: inner.yaml, routes: [{to: list}]}
  - {name: list, type: set, value: [0, 1, 2], routes: [{to: each}]}
  - ${step("last")}
for_each:
  - {name: each, type: for_each, source: list.output, as: it, max_concurrent: 3, agent: {name: w, command: [sh, step.sh, "item-{{ it }}"], effects: none, output: {word: {type: string}}}, routes: [{to: last}]}
output: {last: "{{ last.output.word }}"}
`;
const INNER = `workflow: {name: inner, entry_point: four}
agents: [${step("four")}]
output: {word: "{{ four.output.word }}"}
`;

function prepare(): CommandPlace {
  const place = openPlace();
  place.write("step.sh", STEP);
  place.write("wf.yaml", FLOW);
  place.write("inner.yaml", INNER);
  return place;
}

const diff = (place: CommandPlace, from: string, to: string) =>
  place.run(["debug", "diff-checkpoints", `--from=${from}:latest`, `--to=${to}:latest`]);

describe("FAULTS 52: a diff of two runs", () => {
  it("names first the step in the nested workflow that differs, its field and both words, whatever ended in which order", async () => {
    const place = prepare();
    const order = (late: readonly string[], early: readonly string[]) => {
      for (const name of late) place.write(`delay-${name}`, "0.3");
      for (const name of early) place.write(`delay-${name}`, "0");
    };
    place.write("word-four", "white");
    order(["left", "item-0"], ["right", "item-2"]);
    expect((await place.run(["run", "wf.yaml", "--task", "a"])).code).toBe(0);
    order(["right", "item-2"], ["left", "item-0"]);
    expect((await place.run(["run", "wf.yaml", "--task", "same"])).code).toBe(0);
    expect(place.ledger()).toHaveLength(16);
    const same = await diff(place, "a", "same");
    expect({ code: same.code, stdout: same.stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/: equal\n$/) });
    place.write("word-four", "black");
    expect((await place.run(["run", "wf.yaml", "--task", "b"])).code).toBe(0);
    const other = await diff(place, "a", "b");
    expect(other.code).toBe(1);
    const [first = "", , ...lines] = other.stdout.split("\n");
    expect(first).toMatch(/first at step 4 main\/sub\/main\/four@1\.1: output\.word$/);
    expect(lines[0]).toBe("step 4 main/sub/main/four@1.1: output.word: white → black");
  });

  it("a replay of it runs nothing and makes the same choices", async () => {
    const place = prepare();
    expect((await place.run(["run", "wf.yaml", "--task", "a"])).code).toBe(0);
    const before = place.ledger();
    const replay = await place.run(["debug", "replay", "--checkpoint=a:latest"]);
    expect(replay.stdout).toContain("today's engine makes the same choices");
    expect(place.ledger()).toEqual(before);
  });
});
