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

describe("a process that may still run where it cannot be looked up", () => {
  const ELSEWHERE = { pid: 44, host: "container-a" };
  const TEXT =
    "main/pay was started and its end was not recorded: it may or may not have acted, and process 44 of host container-a may still run: look there before you answer";

  async function resumed(room: RunnerRoom, options: Parameters<RunnerRoom["resume"]>[0] = {}) {
    const [step] = room.state.open;
    if (step === undefined) throw new Error("no step is open");
    room.performer.probeRule = () => Promise.resolve({ done: false });
    await room.resume({ mayRun: new Map([[step, ELSEWHERE]]), ...options });
    return room;
  }

  it("[reliability 1c] has no probe asked and nothing run beside it: a person is asked, who is told of it", async () => {
    const room = await resumed(await crashedAfterSpawn());
    expect([room.performer.probed, room.performer.names]).toEqual([[], []]);
    expect(room.of("question_opened")).toMatchObject([
      { question: { kind: "unknown_outcome", text: TEXT, facts: { may_still_run: ELSEWHERE } } },
    ]);
    expect(room.closed).toMatchObject({ end: "waiting", exitStatus: 22 });
  });

  it("[reliability 1c kin] is asked about whatever says that the step is run again", async () => {
    const never = workflow(machine("main", [command("pay", { onUnknown: "rerun" })]));
    for (const [definition, flags] of [
      [never, {}],
      [probed, { onUnknown: "rerun" as const }],
      [probed, { onUnknownOf: { pay: "rerun" as const } }],
    ] as const) {
      const room = await resumed(await crashedAfterSpawn(definition), flags);
      expect([room.performer.names, room.of("question_opened").length]).toEqual([[], 1]);
    }
  });

  it("[reliability 1c kin] does not keep a step from being skipped, or failed, which runs nothing", async () => {
    const room = await resumed(await crashedAfterSpawn(), { onUnknown: "skip" });
    expect([room.of("question_opened"), room.performer.names]).toEqual([[], []]);
    expect(room.closed.end).toBe("partial");
  });

  it("[reliability 1c kin] does not keep a step without effects, or one that never began, from running again", async () => {
    const harmless = await resumed(
      await crashedAfterSpawn(workflow(machine("main", [command("pay", { effects: "none" })]))),
    );
    expect(harmless.performer.names).toEqual(["pay"]);
    const room = new RunnerRoom(probed);
    await room.start();
    const unborn = await resumed(room.crash());
    expect(unborn.performer.names).toEqual(["pay"]);
  });

  it("[reliability 1c kin] may be the owner itself, of whose function nothing else is known", async () => {
    const room = new RunnerRoom(workflow(machine("main", [undeclared("pay", { probe: ["ask"] })])));
    await room.start();
    const next = await resumed(room.crash());
    expect([next.performer.probed, next.of("question_opened").length]).toEqual([[], 1]);
  });
});
