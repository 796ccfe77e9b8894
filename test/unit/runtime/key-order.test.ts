/** Maps keep the order of their keys wherever a person reads them: what was put first stands first. */
import { describe, expect, it, onTestFinished } from "vitest";
import type { RunView } from "../../../src/runtime/contract.js";
import { createEnvironment } from "../../../src/runtime/platform/environment.js";
import { openSplashdown } from "../../../src/runtime/open.js";
import { openPlace } from "../../support/command-place.js";

const INNER = `workflow: {name: inner, input: {m: {type: object}}}
steps: [{name: s, value: "{{ workflow.input.m }}"}]
output: {zz: "{{ s.output }}", aa: 1}
`;
const FLOW = `workflow: {name: order, entry_point: mk, input: {given: {type: object}, n: {type: number, default: 1}}}
agents:
  - {name: mk, value: {zeta: "{{ workflow.input.n }}", alpha: {y: 1, b: [{q: 1, c: 2}]}, mid: x}, routes: [{to: sub}]}
  - {name: sub, type: workflow, workflow: inner.yaml, input_mapping: {m: "{{ workflow.input.given }}"}, routes: [{to: each}]}
  - {name: ask, type: human_gate, prompt: "{{ mk.output | json(none) }} {{ mk.output }}", options: [{label: Y, value: "yes", route: $end}]}
for_each:
  - {name: each, type: for_each, source: '{{ [{"z": 2, "a": 1}] }}', as: it, agent: {name: w, value: {zz: "{{ it }}", aa: 1}}, routes: [{to: ask}]}
output: {zz: "{{ mk.output }}", sub: "{{ sub.output }}", aa: "{{ each.outputs }}", given: "{{ workflow.input.given }}"}
`;
const GIVEN = { z: 1, a: { y: 1, b: 2 } };
const MADE = { zeta: 1, alpha: { y: 1, b: [{ q: 1, c: 2 }] }, mid: "x" };

interface Differences {
  readonly differences: readonly { readonly name: string; readonly field: string }[];
}

/** Equal with the order of keys. */
const text = (value: unknown): string => JSON.stringify(value);

describe("the order of keys", () => {
  it("is kept in outputs, inputs, gate prompts, nested workflows, items, views and diffs, over a restart", async () => {
    const place = openPlace();
    place.write("inner.yaml", INNER);
    const workflow = place.write("wf.yaml", FLOW);
    const open = async () => {
      const splashdown = await openSplashdown({ environment: createEnvironment(place.env, place.folder) });
      onTestFinished(() => splashdown.close());
      return splashdown;
    };
    const first = await open();
    const asked = await first.run({ workflow, task: "t", inputs: { given: GIVEN } });
    expect(asked.reason).toBe(
      `${text(MADE).replace(/([,:])/g, "$1 ")} {'zeta': 1, 'alpha': {'y': 1, 'b': [{'q': 1, 'c': 2}]}, 'mid': 'x'}`,
    );
    await first.answer({ task: "t", answer: "yes" });
    await first.close();
    const second = await open();
    const done = (await second.resume({ task: "t" })) as RunView;
    const output = { zz: MADE, sub: { zz: GIVEN, aa: 1 }, aa: [{ zz: { z: 2, a: 1 }, aa: 1 }], given: GIVEN };
    expect(text(done.output)).toBe(text(output));
    const shown = await second.show("t");
    expect([text(shown.output), text(shown.inputs)]).toEqual([text(output), text({ given: GIVEN, n: 1 })]);
    expect(shown.questions[0]?.text).toBe(asked.reason);
    const changed = { ...GIVEN, z: 7, a: { y: 2, b: 3 } };
    await second.run({ workflow, task: "v", inputs: { given: changed }, answers: { ask: "yes" } });
    const { differences } = (await second.debug.diffCheckpoints("t:latest", "v:latest")) as unknown as Differences;
    const keys = differences.flatMap(({ name, field }) =>
      name.includes("/main/s@") && field.startsWith("output") ? field : [],
    );
    expect(keys).toEqual(["output.z", "output.a.y", "output.a.b"]);
  });
});
