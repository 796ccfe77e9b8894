/** The session of an installed agent from one visit of its step to the next. */
import { describe, expect, it } from "vitest";
import type { CliStep } from "../../../../src/definition/model/step.js";
import { encodeForReturn } from "../../../../src/engine/fold/restore-state.js";
import { evolve } from "../../../../src/engine/fold/evolve.js";
import { RunnerRoom } from "../../../support/runner-room.js";
import { cli, machine, workflow } from "../../../support/workflow-builder.js";

/** A step that comes again until it is good, after its first visit told its session. */
async function visited(session: CliStep["session"]): Promise<RunnerRoom> {
  const routes = [{ to: "a", when: "{{ not output.good }}" }, { to: "$end" }];
  const room = new RunnerRoom(workflow(machine("main", [cli("a", { session, routes })])));
  await room.start();
  await room.performer.of("a").sink.milestone("session", { session: "s1" });
  await room.finish("a", { good: false });
  return room;
}

const sessionsOf = (room: RunnerRoom) => {
  const { step, milestone, earlierMilestone } = room.performer.of("a").work;
  return { visit: step.visit, own: milestone?.state, earlier: earlierMilestone?.state };
};

describe("the session of an agent", () => {
  it("is handed to the next visit of a step that goes on, and to none that begins anew", async () => {
    expect(sessionsOf(await visited("continue"))).toEqual({ visit: 2, own: undefined, earlier: { session: "s1" } });
    expect(sessionsOf(await visited("fresh"))).toEqual({ visit: 2, own: undefined, earlier: undefined });
  });

  it("is handed to an attempt after a crash, beside the one that it told itself", async () => {
    const room = await visited("continue");
    await room.performer.of("a").sink.milestone("session", { session: "s2" });
    const next = room.crash();
    await next.resume({ onUnknown: "rerun" });
    expect(sessionsOf(next)).toEqual({ visit: 2, own: { session: "s2" }, earlier: { session: "s1" } });
  });

  it("is not handed over a roll-back", async () => {
    const room = await visited("continue");
    const early = encodeForReturn(room.state);
    const next = room.crash();
    const to = "00000000-0000-4000-8000-000000000009" as never;
    const back = {
      type: "rolled_back",
      atMs: 1,
      to,
      seq: 1,
      round: 2,
      reason: "ann",
      state: { inline: early },
    } as const;
    evolve(next.state, back);
    await next.resume({ onUnknown: "rerun", crashed: true });
    expect(sessionsOf(next)).toEqual({ visit: 2, own: undefined, earlier: undefined });
  });
});
