/** An engine with a planted fault: it finds something to choose for ever. */
import { describe, expect, it, vi } from "vitest";
import type { StepId } from "../../../../src/base/ids.js";
import type { decide } from "../../../../src/engine/decide.js";
import { machine, model, workflow } from "../../../support/workflow-builder.js";
import { RunnerRoom } from "../../../support/runner-room.js";

const REF = { key: "blobs/ab/x.bin", sizeBytes: 1, digest: "x" };
const { BOUND, plant } = vi.hoisted(() => ({ BOUND: 50, plant: {} as { rule?: typeof decide } }));

vi.mock("../../../../src/base/limits.js", async (original) => {
  const { LIMITS } = await original<typeof import("../../../../src/base/limits.js")>();
  return { LIMITS: { ...LIMITS, advanceRoundsMax: BOUND } };
});
vi.mock("../../../../src/engine/decide.js", async (original) => {
  const real = await original<typeof import("../../../../src/engine/decide.js")>();
  const planted: typeof decide = (...given) => (plant.rule ?? real.decide)(...given);
  return { ...real, decide: planted };
});

const single = workflow(machine("main", [model("a")]));

async function runWith(rule: (real: typeof decide) => typeof decide): Promise<RunnerRoom> {
  const { decide: real } = await vi.importActual<typeof import("../../../../src/engine/decide.js")>(
    "../../../../src/engine/decide.js",
  );
  plant.rule = rule(real);
  const room = new RunnerRoom(single);
  room.blobs.set(REF.key, 1);
  await room.start();
  await room.flush();
  return room;
}

describe("an engine that chooses for ever", () => {
  it("ends the run with the task and the step that it was last about, after a stated number of rounds", async () => {
    let rounds = 0;
    const room = await runWith((real) => (state, input, context) => {
      if (input.kind !== "advance" || state.open.size === 0) return real(state, input, context);
      rounds += 1;
      const [step = ""] = state.open;
      return {
        events: [{ type: "progress_reported", atMs: context.nowMs, step: step as StepId, attempt: 1, fraction: 0.5 }],
      };
    });
    expect(rounds).toBeLessThanOrEqual(BOUND);
    expect(room.end).toMatchObject({
      error: {
        code: "INTERNAL",
        message: expect.stringMatching(/^the engine asks for what may start of task task without end, last for .*a@/),
        details: { task: "task", step: expect.stringContaining("a@") },
      },
    });
    expect(room.performer.names).toEqual([]);
  });

  it("ends the run where it asks again for a value that it was given", async () => {
    const room = await runWith(
      (real) => (state, input, context) => (input.kind === "advance" ? { needs: [REF] } : real(state, input, context)),
    );
    expect(room.end).toMatchObject({ error: { code: "INTERNAL", details: { task: "task" } } });
  });
});
