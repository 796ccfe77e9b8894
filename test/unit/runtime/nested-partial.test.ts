/** FAULTS 5: a nested file that went on without a failed step is partial, and so is what it is nested in. */
import { describe, expect, it, onTestFinished } from "vitest";
import { createEnvironment } from "../../../src/runtime/platform/environment.js";
import { openSplashdown } from "../../../src/runtime/open.js";
import { openPlace } from "../../support/command-place.js";

const inner = (policy: string, command: string) => `workflow: {name: inner${policy}}
steps:
  - {name: bad, command: [sh, -c, "${command}"], effects: none}
  - {name: good, type: set, value: 1}
`;
const OUTER = `workflow: {name: outer}
steps:
  - {name: sub, type: workflow, workflow: inner.yaml}
  - {name: after, type: set, value: 2}
`;
const DEEP = `workflow: {name: middle}
steps: [{name: deep, type: workflow, workflow: inner.yaml}]
`;
const EACH = `workflow: {name: each, entry_point: all, input: {list: {type: array}}}
agents:
  - {name: all, type: for_each, source: workflow.input.list, as: it, agent: {name: sub, type: workflow, workflow: inner.yaml}, routes: [{to: $end}]}
`;

async function run(outer: string, innerText: string, inputs?: { readonly list: readonly number[] }) {
  const place = openPlace();
  place.write("inner.yaml", innerText);
  place.write("middle.yaml", DEEP);
  const workflow = place.write("outer.yaml", outer);
  const environment = createEnvironment({ PATH: process.env["PATH"] ?? "", ...place.env }, place.folder);
  const splashdown = await openSplashdown({ store: "file:outputs", environment });
  onTestFinished(() => splashdown.close());
  const { status, exit_status: exitStatus } = await splashdown.run({
    workflow,
    ...(inputs && { inputs: { ...inputs } }),
  });
  return [status, exitStatus];
}

describe("a nested file with a failed step", () => {
  it("[reliability E07] under on_failure: continue leaves the task partial, 3, and never done, 0", async () => {
    expect(await run(OUTER, inner(", on_failure: continue", "exit 3"))).toEqual(["partial", 3]);
  });

  it("[reliability E07 kin] two files down leaves the task partial as well", async () => {
    const outer = OUTER.replace("inner.yaml", "middle.yaml");
    expect(await run(outer, inner(", on_failure: continue", "exit 3"))).toEqual(["partial", 3]);
  });

  it("[reliability E07 kin] once for each item leaves the task partial as well", async () => {
    const outcome = await run(EACH, inner(", on_failure: continue", "exit 3"), { list: [1, 2] });
    expect(outcome).toEqual(["partial", 3]);
  });

  it("[reliability E07 kin] is done where nothing failed, and failed where nobody said to go on", async () => {
    expect(await run(OUTER, inner(", on_failure: continue", "echo '{}'"))).toEqual(["done", 0]);
    expect(await run(OUTER, inner("", "exit 3"))).toEqual(["failed", 4]);
  });
});
