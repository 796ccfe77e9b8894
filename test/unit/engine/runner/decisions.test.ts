import { describe, expect, it } from "vitest";
import { command, machine, model, parallel, workflow } from "../../../support/workflow-builder.js";
import { RunnerRoom } from "../../../support/runner-room.js";

const two = workflow(machine("main", [model("a", { routes: [{ to: "b" }] }), model("b")]));

describe("the way of an input", () => {
  it("X3: performs a step only after its intent is durable and a higher epoch was looked for", async () => {
    const room = new RunnerRoom(two);
    room.log.isByHand = true;
    await room.start();
    expect(room.trace).toEqual(["append task_started", "append scope_entered", "append step_intended"]);
    room.log.sync();
    await room.flush();
    expect(room.trace.slice(3)).toEqual(["durable", "look", "perform a"]);
  });

  it("makes a completion and the next intent durable in one sync", async () => {
    const room = new RunnerRoom(two);
    await room.start();
    room.trace.length = 0;
    await room.finish("a");
    expect(room.trace).toEqual([
      "append step_completed",
      "append checkpoint_recorded",
      "append step_intended",
      "durable",
      "look",
      "perform b",
    ]);
  });

  it("waits for required snapshots after the sync and before the look", async () => {
    const room = new RunnerRoom(workflow(machine("main", [model("a", { risky: true })])));
    let written = (): void => undefined;
    room.captured = () => ({ required: true, written: new Promise((resolve) => (written = resolve)) });
    await room.start();
    expect(room.trace.at(-1)).toBe("durable");
    expect(room.performer.names).toEqual([]);
    written();
    await room.flush();
    expect(room.trace.slice(-2)).toEqual(["look", "perform a"]);
  });

  it("lets steps that end together share one sync and one look", async () => {
    const members = ["a", "b", "c", "d", "e", "f"].map((name) => command(name));
    const room = new RunnerRoom(workflow(parallel("main", members, { maxConcurrent: 3 })));
    await room.start();
    room.log.isByHand = true;
    room.trace.length = 0;
    for (const name of ["a", "b", "c"]) room.performer.of(name).end({ status: "completed", output: 1 });
    await room.flush();
    expect(room.trace.filter((line) => line === "append step_completed")).toHaveLength(3);
    expect(room.trace).not.toContain("durable");
    room.log.sync();
    await room.flush();
    expect(room.trace.slice(-5)).toEqual(["durable", "look", "perform d", "perform e", "perform f"]);
  });

  it("tells observers of events that are durable, with their journal numbers", async () => {
    const room = new RunnerRoom(two);
    room.log.isByHand = true;
    await room.start();
    expect(room.observed).toEqual([]);
    room.log.sync();
    await room.flush();
    expect(room.observed.map(([n, event]) => `${n} ${event.type}`)).toEqual([
      "1 task_started",
      "2 scope_entered",
      "3 step_intended",
    ]);
  });

  it("X3: announces what begins after the look for a higher epoch, and nothing where the look refuses", async () => {
    const room = new RunnerRoom(two);
    room.log.isByHand = true;
    await room.start();
    expect(room.announced).toEqual([]);
    room.log.sync();
    await room.flush();
    expect(room.announced).toEqual(["1 task_started", "2 scope_entered", "3 step_intended"]);
    room.log.isSuperseded = true;
    room.performer.of("a").end({ status: "completed", output: 1 });
    await room.flush();
    room.log.sync();
    await room.flush();
    expect(room.error).toMatchObject({ code: "OWNER_SUPERSEDED" });
    expect(room.observed.at(-1)?.[1]).toMatchObject({ type: "step_intended", path: "main/b" });
    expect(room.announced).toHaveLength(3);
    expect(room.performer.names).toEqual(["a"]);
  });

  it("X3: announces in order: what is recorded while a look is on its way comes after it", async () => {
    const room = new RunnerRoom(workflow(parallel("main", [model("a"), model("b")], { maxConcurrent: 2 })));
    await room.start();
    await room.finish("a", 1);
    await room.finish("b", 2);
    const numbers = room.announced.map((line) => Number(line.split(" ")[0]));
    expect(numbers).toEqual(numbers.map((_n, at) => at + 1));
    expect(room.announced.at(-1)).toMatch(/ task_closed$/);
  });

  it("runs to the end and gives the output of the last step", async () => {
    const room = new RunnerRoom(two);
    await room.start();
    await room.finish("a", 1);
    await room.finish("b", { sum: 2 });
    expect(room.closed).toMatchObject({ end: "done", exitStatus: 0 });
    expect(room.output).toEqual({ sum: 2 });
    expect(room.isListening).toBe(false);
    expect(room.clock.pendingCount).toBe(0);
  });

  it("starts what an answer frees at once, one scope after the other", async () => {
    const inner = (name: string) => parallel(name, [model(`${name}1`), model(`${name}2`)]);
    const room = new RunnerRoom(workflow(parallel("main", [inner("x"), inner("y"), model("z")])));
    await room.start();
    expect([...room.performer.names].sort()).toEqual(["x1", "x2", "y1", "y2", "z"]);
  });
});
