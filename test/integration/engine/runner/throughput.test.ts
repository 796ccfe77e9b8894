import { describe, expect, it } from "vitest";
import { measureSlowness } from "../../../support/machine-speed.js";
import { RunnerRoom } from "../../../support/runner-room.js";
import { command, dag, model, parallel, workflow } from "../../../support/workflow-builder.js";
import type { ScopeDefinition } from "../../../../src/definition/model/workflow.js";

const STEPS = 10_000;
const each = (make: (at: number) => ReturnType<typeof model> | ReturnType<typeof command>) =>
  Array.from({ length: STEPS }, (_unused, at) => make(at));

const FORMS: readonly (readonly [string, ScopeDefinition])[] = [
  [
    "a parallel group",
    parallel(
      "main",
      each((at) => model(`s${at}`)),
      { maxConcurrent: 64 },
    ),
  ],
  [
    "a dag",
    dag(
      "main",
      each((at) => command(`s${at}`, at < 64 ? {} : { dependsOn: [`s${at - 64}`] })),
      { maxConcurrent: 64 },
    ),
  ],
];

/** Time of this process by which each tenth of the steps had ended: others on the machine do not count. Units: ms. */
async function timeTenths(root: ScopeDefinition): Promise<readonly number[]> {
  const room = new RunnerRoom(workflow(root), {
    perform: () => Promise.resolve({ status: "completed", output: null }),
  });
  const times: number[] = [];
  let done = 0;
  const startedAt = process.cpuUsage();
  const spentMs = (): number => {
    const { user, system } = process.cpuUsage(startedAt);
    return (user + system) / 1_000;
  };
  room.onObserved = (event) => {
    if (event.type !== "step_completed") return;
    done += 1;
    if (done % (STEPS / 10) === 0) times.push(spentMs());
  };
  await room.start();
  while (room.end === undefined) await room.flush();
  expect(room.closed.end).toBe("done");
  expect(done).toBe(STEPS);
  return times;
}

describe("the throughput of a run", () => {
  it.each(FORMS)("E5: does not fall with the steps done in %s", async (_name, root) => {
    const times = await timeTenths(root);
    const tenths = times.map((time, at) => time - (times[at - 1] ?? 0));
    const early = Math.min(...tenths.slice(1, 4));
    const late = Math.min(...tenths.slice(7));
    expect(late).toBeLessThan(early * 2 + 5);
    expect(STEPS / ((times.at(-1) ?? Infinity) / 1_000)).toBeGreaterThan(1_000 / measureSlowness());
  });
});
