import { describe, expect, it } from "vitest";
import { RunnerRoom } from "../../../support/runner-room.js";
import { command, machine, model, parallel, undeclared, workflow } from "../../../support/workflow-builder.js";

const OPEN_FOREVER = new Promise<never>(() => undefined);

/** A task whose external step was cut off by a crash: its next owner asks what became of it. */
async function crashed(): Promise<RunnerRoom> {
  const room = new RunnerRoom(
    workflow(parallel("main", [undeclared("pay"), model("a")], { failureMode: "continue_on_error" })),
  );
  await room.start();
  return room.crash();
}

describe("closing", () => {
  it("goes on with what does not depend on a question, then waits for the person", async () => {
    const room = await crashed();
    await room.resume();
    expect(room.performer.names).toEqual(["a"]);
    expect(room.end).toBeUndefined();
    await room.finish("a");
    expect(room.closed).toMatchObject({ end: "waiting", exitStatus: 22 });
  });

  it("does not happen while somebody holds the task open", async () => {
    const room = await crashed();
    let release = (): void => undefined;
    room.onObserved = (event) => {
      if (event.type === "question_opened") room.runner.holdOpen(new Promise<void>((resolve) => (release = resolve)));
    };
    await room.resume();
    await room.finish("a");
    expect(room.end).toBeUndefined();
    release();
    await room.flush();
    expect(room.closed.end).toBe("waiting");
  });

  it("takes a hold that ends in a failure for ended", async () => {
    const room = await crashed();
    room.runner.holdOpen(Promise.reject(new Error("the terminal went away")));
    await room.resume();
    await room.finish("a");
    expect(room.closed.end).toBe("waiting");
  });

  it("an answer that comes while the task is held open lets it go on", async () => {
    const room = await crashed();
    room.runner.holdOpen(OPEN_FOREVER);
    await room.resume();
    await room.finish("a", 1);
    const [question] = room.state.unsettled;
    room.send({ kind: "answer", question: question as never, answer: "done", value: { paid: true }, by: "ann" });
    await room.flush();
    expect(room.performer.names).toEqual(["a"]);
    expect(room.state.task?.root?.outcome).toBe("done");
    room.runner.leave({ end: "stopped", reason: "SIGTERM", exitStatus: 143, cancel: true });
    await room.flush();
    expect(room.closed).toMatchObject({ end: "done", exitStatus: 0 });
    expect(room.output).toEqual({ pay: { paid: true }, a: 1 });
  });

  it("is not missed when the last thing ends while snapshots are waited for", async () => {
    const room = new RunnerRoom(workflow(parallel("main", [model("a"), model("b")])));
    const gates: (() => void)[] = [];
    room.idle = () => new Promise((resolve) => gates.push(resolve));
    await room.start();
    await room.finish("a");
    await room.finish("b");
    expect(gates).toHaveLength(1);
    let release = (): void => undefined;
    room.runner.holdOpen(new Promise<void>((resolve) => (release = resolve)));
    gates.shift()?.();
    await room.flush();
    expect(room.end).toBeUndefined();
    release();
    await room.flush();
    while (gates.length > 0) {
      gates.shift()?.();
      await room.flush();
    }
    expect(room.closed.end).toBe("done");
  });

  it("happens once, however often it becomes quiet", async () => {
    const room = new RunnerRoom(workflow(machine("main", [model("a")])));
    await room.start();
    room.log.isByHand = true;
    await room.finish("a");
    for (let hold = 0; hold < 5; hold += 1) room.runner.holdOpen(Promise.resolve());
    room.log.sync();
    await room.flush();
    room.log.sync();
    await room.flush();
    expect(room.of("task_closed")).toHaveLength(1);
    expect(room.closed.end).toBe("done");
  });

  it("a message for a closed task changes nothing", async () => {
    const room = new RunnerRoom(workflow(machine("main", [model("a")])));
    await room.start();
    room.log.isByHand = true;
    await room.finish("a");
    room.log.sync();
    await room.flush();
    expect(room.trace).toContain("append task_closed");
    room.send({ kind: "checkpoint", by: "ann" });
    room.send({ kind: "stop", by: "ann" });
    room.log.isByHand = false;
    room.log.sync();
    await room.flush();
    expect(room.closed.end).toBe("done");
    expect(room.log.appended.at(-1)?.type).toBe("task_closed");
  });

  it("a failure that nobody absorbs ends the task, and a resume runs the failed step again", async () => {
    const room = new RunnerRoom(workflow(machine("main", [command("a", { routes: [{ to: "b" }] }), command("b")])));
    await room.start();
    room.performer.of("a").end({ status: "failed", error: { code: "STEP_FAILED", message: "no", retryable: true } });
    await room.flush();
    expect(room.closed).toMatchObject({ end: "failed", exitStatus: 4, resumable: true });
    const next = room.crash();
    await next.resume();
    await next.finish("a");
    await next.finish("b", "end");
    expect(next.output).toBe("end");
  });

  it("a task that can neither go on nor be closed is a mistake of ours, and not a silence", async () => {
    const room = new RunnerRoom(workflow(machine("main", [model("a")])));
    await room.start();
    room.state.open.add("nobody@1.1" as never);
    await room.finish("a");
    expect(room.error).toMatchObject({ code: "INTERNAL" });
  });

  it("an answer that nothing can follow any more does not keep the task from closing", async () => {
    const room = new RunnerRoom(workflow(parallel("main", [undeclared("a"), model("b")])));
    await room.start();
    const next = room.crash();
    let release = (): void => undefined;
    next.runner.holdOpen(new Promise<void>((resolve) => (release = resolve)));
    await next.resume();
    next.performer.of("b").end({ status: "failed", error: { code: "STEP_FAILED", message: "no", retryable: false } });
    await next.flush();
    const [question] = next.state.unsettled;
    next.send({ kind: "answer", question: question as never, answer: "rerun", by: "ann" });
    await next.flush();
    release();
    await next.flush();
    expect(next.performer.names).toEqual(["b"]);
    expect(next.closed).toMatchObject({ end: "failed", exitStatus: 4 });
  });
});
