/** A limit in time ends what runs where it counts: waits, children, calls, functions; and nothing is done behind it. */
import { describe, expect, it } from "vitest";
import type { NodeDefinition } from "../../../../src/definition/model/workflow.js";
import { RunnerRoom } from "../../../support/runner-room.js";
import { command, machine, model, nested, parallel, wait, workflow } from "../../../support/workflow-builder.js";

const TIMED = { maxIterations: 100, timeoutMs: 3_000 };

async function runFor(ms: number, root: NodeDefinition & { node: "scope" }, limits = TIMED): Promise<RunnerRoom> {
  const room = new RunnerRoom(workflow(root, { limits }), { sleepMsMax: 3_600_000 });
  await room.start();
  await room.clock.advance(ms);
  await room.flush();
  return room;
}

const asked = (room: RunnerRoom) => room.of("question_opened").map(({ question }) => question.kind);

describe("a limit in time", () => {
  it("[kinds F6] ends a command at once; the task is not done, and one question is open", async () => {
    const room = await runFor(3_000, machine("main", [command("a", { effects: "none" })]));
    expect(room.performer.of("a").signal.aborted).toBe(true);
    room.performer.of("a").end({ status: "cancelled" });
    await room.flush();
    expect(room.closed).toMatchObject({ end: "waiting", exitStatus: 21 });
    expect(asked(room)).toEqual(["limit"]);
  });

  it("[kinds F6 kin] ends a wait at once", async () => {
    const room = await runFor(3_000, machine("main", [wait("nap", 30)]));
    expect(room.closed).toMatchObject({ end: "waiting", exitStatus: 21 });
    expect(room.of("step_completed")).toEqual([]);
  });

  it("[kinds F6 kin] ends the call of a model, which goes on when the limit is raised", async () => {
    const room = await runFor(3_000, machine("main", [model("a")]));
    expect(room.performer.of("a").signal.aborted).toBe(true);
    room.performer.of("a").end({ status: "cancelled" });
    await room.flush();
    const [question] = room.state.unsettled;
    const next = room.crash();
    next.runner.holdOpen(new Promise(() => undefined));
    await next.resume();
    expect(next.performer.names).toEqual([]);
    next.send({ kind: "answer", question: question as never, answer: "extend", value: { seconds: 60 }, by: "ann" });
    await next.flush();
    expect(next.performer.names).toEqual(["a"]);
  });

  it("[kinds F6 kin] refuses a result that comes after it", async () => {
    const room = await runFor(3_000, machine("main", [model("a")]));
    room.performer.of("a").end({ status: "completed", output: "late" });
    await room.flush();
    expect(room.of("step_completed")).toEqual([]);
    expect(room.closed).toMatchObject({ end: "waiting", exitStatus: 21 });
  });

  it("[kinds F6 kin] asks what an external step has done before it acts again", async () => {
    const root = machine("main", [command("a", { effects: "external" })]);
    const room = new RunnerRoom(workflow(root, { limits: TIMED }));
    await room.start();
    void room.performer.of("a").sink.spawned({ pid: 7, startTime: "1", bootId: "b" } as never);
    await room.flush();
    await room.clock.advance(3_000);
    await room.flush();
    room.performer.of("a").end({ status: "cancelled" });
    await room.flush();
    expect(room.closed).toMatchObject({ end: "waiting", exitStatus: 21 });
    const [question] = room.state.unsettled;
    const next = room.crash();
    next.send({ kind: "answer", question: question as never, answer: "extend", value: { seconds: 60 }, by: "ann" });
    await next.resume();
    await next.flush();
    expect(next.performer.names).toEqual([]);
    expect(next.closed).toMatchObject({ end: "waiting", exitStatus: 22 });
  });

  it("[kinds F6 kin] of a nested workflow ends what runs in it, and nothing beside it", async () => {
    const inner = nested("c", machine("in", [model("slow")]), { limits: TIMED });
    const root = parallel("main", [inner, model("beside")]);
    const room = await runFor(3_000, root, { maxIterations: 100, timeoutMs: 60_000 });
    expect(room.performer.of("slow").signal.aborted).toBe(true);
    expect(room.performer.of("beside").signal.aborted).toBe(false);
    room.performer.of("slow").end({ status: "cancelled" });
    await room.finish("beside");
    expect(room.closed).toMatchObject({
      end: "waiting",
      exitStatus: 21,
      reason: "the limit of 3 seconds of main/c is reached (3 used); extend it or stop?",
    });
  });

  it("[kinds F6 kin] of a nested workflow counts from its beginning, whatever was worked before", async () => {
    const inner = nested("c", machine("in", [model("slow")]), { limits: TIMED });
    const room = new RunnerRoom(workflow(machine("main", [model("first", { routes: [{ to: "c" }] }), inner])));
    await room.start();
    await room.clock.advance(10_000);
    await room.finish("first");
    await room.clock.advance(2_999);
    await room.flush();
    expect(asked(room)).toEqual([]);
    await room.clock.advance(1);
    await room.flush();
    expect(asked(room)).toEqual(["limit"]);
  });
});
