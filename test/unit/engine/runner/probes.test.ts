import { describe, expect, it } from "vitest";
import { RunnerRoom } from "../../../support/runner-room.js";
import { command, machine, undeclared, workflow } from "../../../support/workflow-builder.js";
import { processOf } from "../../../support/places.js";

const PROCESS = processOf(7, 1, "b");
const probed = workflow(machine("main", [command("pay", { probe: ["ask"] })]));

async function crashedAfterSpawn(definition = probed): Promise<RunnerRoom> {
  const room = new RunnerRoom(definition);
  await room.start();
  await room.performer.of("pay").sink.spawned(PROCESS);
  return room.crash();
}

describe("probes", () => {
  it("say that a step is done: it completes with their output and does not run again", async () => {
    const room = await crashedAfterSpawn();
    room.clean = (text) => text.replaceAll("s3cret", "***");
    room.performer.probeRule = () => Promise.resolve({ done: true, output: { receipt: "s3cret" } });
    await room.resume();
    expect(room.performer.names).toEqual([]);
    expect(room.of("step_completed")).toMatchObject([{ by: "probe", output: { inline: { receipt: "***" } } }]);
    expect(room.closed.end).toBe("done");
  });

  it("say that a step is not done: it runs again without asking", async () => {
    const room = await crashedAfterSpawn();
    room.performer.probeRule = () => Promise.resolve({ done: false });
    await room.resume();
    expect(room.performer.of("pay").work.step.attempt).toBe(2);
    expect(room.of("question_opened")).toEqual([]);
  });

  it("that fail do not know: a person is asked", async () => {
    const room = await crashedAfterSpawn();
    room.performer.probeRule = () => Promise.reject(new Error("no such host"));
    await room.resume();
    expect(room.closed).toMatchObject({ end: "waiting", exitStatus: 22 });
    expect(room.warnings).toEqual(["the probe of main/pay failed: no such host"]);
  });

  it("are not asked of a child that was never spawned, unless records are missing", async () => {
    const room = new RunnerRoom(probed);
    await room.start();
    const next = room.crash();
    await next.resume();
    expect(next.performer.probed).toEqual([]);
    expect(next.performer.names).toEqual(["pay"]);
    const uncertain = room.crash();
    await uncertain.resume({ uncertain: true });
    expect(uncertain.performer.probed).toEqual(["pay"]);
  });

  it("are asked of functions, which have no child", async () => {
    const room = new RunnerRoom(workflow(machine("main", [undeclared("pay", { probe: ["ask"] })])));
    await room.start();
    const next = room.crash();
    next.performer.probeRule = () => Promise.resolve({ done: true, output: 7 });
    await next.resume();
    expect(next.performer.probed).toEqual(["pay"]);
    expect(next.output).toBe(7);
  });

  it("are not asked of steps without effects", async () => {
    const room = await crashedAfterSpawn(
      workflow(machine("main", [command("pay", { probe: ["ask"], effects: "none" })])),
    );
    await room.resume();
    expect(room.performer.probed).toEqual([]);
    expect(room.performer.names).toEqual(["pay"]);
  });
});
