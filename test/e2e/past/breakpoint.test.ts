import { describe, expect, it } from "vitest";
import type { CheckpointView, ReplayView, RunView } from "../../../src/runtime/contract.js";
import { openPlace } from "../../support/command-place.js";

const WORKFLOW = `
workflow: {name: past}
phases:
  - name: one
    specialists:
      - {name: a, command: [sh, -c, 'echo a >> ledger'], effects: none}
      - {name: b, command: [sh, -c, 'echo b >> ledger'], effects: none, depends_on: [a]}
      - {name: c, command: [sh, -c, 'echo c >> ledger'], effects: none, depends_on: [b]}
`;

describe("run --break-at", () => {
  it("stops before the step with a checkpoint, paused, and says how to go on", async () => {
    const place = openPlace();
    place.write("wf.yaml", WORKFLOW);
    const run = await place.run(["run", "wf.yaml", "--task", "t", "--break-at", "b"]);
    expect([run.code, place.ledger()]).toEqual([20, ["a"]]);
    expect(run.stdout).toContain("stopped before main/one/b");
    expect(run.stdout).toContain("splashdown resume t");
    const list = (await place.run(["checkpoints", "list", "t", "--json"])).json<CheckpointView[]>();
    expect(list.at(-1)).toMatchObject({ trigger: "debug_breakpoint", status: "paused", note: "before main/one/b" });
    expect(list.at(-1)?.file).toBeDefined();
    expect((await place.run(["recover", "--json"])).code).toBe(0);
    expect(place.ledger()).toEqual(["a"]);
    expect((await place.run(["resume", "t"])).code).toBe(0);
    expect(place.ledger()).toEqual(["a", "b", "c"]);
  });

  it("refuses a step that is not there, with the nearest, before anything is made", async () => {
    const place = openPlace();
    place.write("wf.yaml", WORKFLOW);
    const run = await place.run(["run", "wf.yaml", "--task", "t", "--break-at", "bb"]);
    expect(run.code).toBe(2);
    expect(run.stderr).toContain("did you mean b?");
    expect((await place.run(["list", "--json"])).json<object[]>()).toEqual([]);
  });
});

describe("debug replay", () => {
  it("ends with a step and runs nothing; with --live it is a fork that runs, and stops before the step", async () => {
    const place = openPlace();
    place.write("wf.yaml", WORKFLOW);
    await place.run(["run", "wf.yaml", "--task", "t"]);
    const args = ["debug", "replay", "--json", "--checkpoint"];
    const told = (await place.run([...args, "t:latest", "--until", "b"])).json<ReplayView>();
    expect(told).toMatchObject({ until: "main/one/b@1.1", differences: [] });
    expect(told.story.at(-1)?.text).toContain("one/b done");
    const later = (await place.run([...args, "t:1", "--until", "b"])).json<ReplayView>();
    expect(later.to).toBe(told.to);
    expect((await place.run([...args, "t:1", "--until", "zz"])).code).toBe(2);
    expect(place.ledger()).toEqual(["a", "b", "c"]);
    const live = await place.run([...args, "t:2", "--live", "--until", "c"]);
    expect(live.code).toBe(20);
    const { result } = live.json<{ live: { result: RunView } }>().live;
    expect(result).toMatchObject({ task: "t-fork", status: "paused", reason: "stopped before main/one/c" });
    expect(place.ledger()).toEqual(["a", "b", "c", "b"]);
    expect((await place.run([...args, "t:2", "--live"])).code).toBe(0);
    expect(place.ledger()).toEqual(["a", "b", "c", "b", "b", "c"]);
  });
});
