import { describe, expect, it } from "vitest";
import { SplashdownError } from "../../../../src/base/errors.js";
import { codeOfAsync } from "../../../support/error-code.js";
import { RunnerRoom } from "../../../support/runner-room.js";
import { command, machine, model, parallel, workflow } from "../../../support/workflow-builder.js";

const cancelled = { status: "cancelled" as const };
const pair = workflow(parallel("main", [command("a"), command("b"), command("c")], { maxConcurrent: 2 }));

describe("a run that cannot go on", () => {
  it("X5: a superseded owner acts no more, ends everything and gives the error", async () => {
    const room = new RunnerRoom(pair);
    await room.start();
    room.log.isSuperseded = true;
    await room.finish("a", 1);
    expect(room.performer.names).toEqual(["a", "b"]);
    expect(room.performer.of("b").signal.aborted).toBe(true);
    expect(room.end).toBeUndefined();
    const count = room.log.appended.length;
    room.performer.of("b").end({ status: "completed", output: "x".repeat(300 * 1024) });
    await room.flush();
    expect(room.error).toMatchObject({ code: "OWNER_SUPERSEDED" });
    expect(room.log.appended).toHaveLength(count);
    expect(room.blobs.size).toBe(0);
    expect(await codeOfAsync(() => room.performer.of("b").sink.turn("late"))).toBe("CANCELLED");
    expect(room.isListening).toBe(false);
    expect(room.clock.pendingCount).toBe(0);
  });

  it("X5: a superseded owner does not say that the task is done", async () => {
    const room = new RunnerRoom(workflow(machine("main", [model("a")])));
    await room.start();
    room.log.isSuperseded = true;
    await room.finish("a", 1);
    expect(room.error).toMatchObject({ code: "OWNER_SUPERSEDED" });
  });

  it("X5: a superseded owner writes no deliverable", async () => {
    const room = new RunnerRoom(workflow(machine("main", [model("a", { saveAs: { "final/a.md": "" } })])));
    await room.start();
    room.log.isSuperseded = true;
    await room.finish("a", "text");
    expect(room.files.size).toBe(0);
    expect(room.error).toMatchObject({ code: "OWNER_SUPERSEDED" });
  });

  it("X5: a journal that cannot be written ends everything and writes nothing more", async () => {
    const room = new RunnerRoom(pair);
    await room.start();
    room.log.isByHand = true;
    await room.finish("a", 1);
    room.log.fail("STORE_FULL");
    await room.flush();
    expect(room.performer.of("b").signal.aborted).toBe(true);
    room.performer.of("b").end(cancelled);
    await room.flush();
    expect(room.error).toMatchObject({ code: "STORE_FULL" });
    expect(room.performer.names).toEqual(["a", "b"]);
  });

  it("X5: refuses what a step still reports, and snapshots that are still written", async () => {
    const room = new RunnerRoom(pair);
    await room.start();
    room.log.isByHand = true;
    const turn = codeOfAsync(() => room.performer.of("b").sink.turn("x"));
    await room.flush();
    room.log.fail("STORE_FAILED");
    expect(await turn).toBe("STORE_FAILED");
    const pruned = { type: "pruned" as const, atMs: 0, files: [], reason: "old" };
    expect(await codeOfAsync(() => room.runner.recordSnapshot(pruned))).toBe("STORE_FAILED");
  });

  it("X5: a performer that loses the ownership ends the run", async () => {
    const room = new RunnerRoom(pair);
    await room.start();
    room.performer.of("a").fail(new SplashdownError("OWNER_SUPERSEDED", "claimed"));
    room.performer.of("b").end(cancelled);
    await room.flush();
    expect(room.error).toMatchObject({ code: "OWNER_SUPERSEDED" });
    expect(room.of("step_failed")).toEqual([]);
  });

  it("X5: a large value that cannot be stored ends the run and leaves the step open", async () => {
    const room = new RunnerRoom(workflow(machine("main", [command("a")])));
    room.blobs.set = () => {
      throw new SplashdownError("STORE_FULL", "no room");
    };
    await room.start();
    await room.finish("a", "x".repeat(300 * 1024));
    expect(room.error).toMatchObject({ code: "STORE_FULL" });
    expect([...room.state.open]).toEqual(["main/a@1.1"]);
  });

  it("returns only when every performer has come back", async () => {
    const room = new RunnerRoom(pair);
    await room.start();
    room.log.isSuperseded = true;
    await room.finish("a", 1);
    expect(room.end).toBeUndefined();
    room.performer.of("b").end(cancelled);
    await room.flush();
    expect(room.error).toMatchObject({ code: "OWNER_SUPERSEDED" });
  });

  it("gives the error of an inbox that cannot be listened to", async () => {
    const room = new RunnerRoom(workflow(machine("main", [model("a")])));
    room.onObserved = () => {
      throw new SplashdownError("INTERNAL", "an observer broke");
    };
    await room.start();
    expect(room.error).toMatchObject({ code: "INTERNAL" });
    expect(room.performer.names).toEqual([]);
  });
});
