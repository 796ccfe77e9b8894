/** The limit on silence, with real programs: whatever descriptor a program writes to, it is not silent. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { StepKind } from "../../../src/definition/workflow.js";
import { Attempt } from "../../../src/engine/runner/attempt.js";
import { openPerformerRoom, type PerformerRoom } from "../../support/performer-room.js";
import { realClock } from "../../support/real-clock.js";
import { createRecordingSink } from "../../support/recording-sink.js";
import { createStepWork } from "../../support/step-work.js";

const IDLE_MS = 1_000;
let room: PerformerRoom;
beforeEach(() => {
  room = openPerformerRoom();
});
afterEach(() => room.close());

const workOf = (kind: StepKind, script: string, idleTimeoutMs?: number) =>
  createStepWork(kind, { rendered: { command: ["sh", "-c", script] }, definition: { idleTimeoutMs } });

/** Performs within the limits of a real attempt; what it reports goes nowhere. */
async function attempt(kind: StepKind, script: string) {
  const work = workOf(kind, script, IDLE_MS);
  const running = new Attempt(work.step, work.definition, {
    clock: realClock,
    sanitiser: { clean: (value) => value, cleanText: (text) => text },
    state: { channel: new Map(), histories: new Map() },
    store: (value) => Promise.resolve({ inline: value }),
    submit: () => Promise.resolve([{ type: "noted", atMs: 0, text: "" }]),
    post: () => Promise.resolve(),
  });
  const outcome = await room.performer.perform(work, running.sink, running.signal);
  const { closed } = running;
  running.close("finished");
  return { status: outcome.status, closed };
}

const everyTick = (write: string) => `for i in 1 2 3 4 5 6 7; do ${write}; sleep 0.2; done`;

describe("the limit on silence of a program", () => {
  it.each([
    ["script", "stdout", "echo x"],
    ["command", "stdout", "echo"],
    ["command", "stderr", "echo x >&2"],
    ["command", "descriptor 3", 'echo \'{"type":"progress"}\' >&3'],
  ] as const)("starts again when a %s writes to %s", async (kind, _where, write) => {
    expect(await attempt(kind, everyTick(write))).toEqual({ status: "completed", closed: undefined });
  });

  it("ends a program that says nothing", async () => {
    expect(await attempt("command", "sleep 60")).toEqual({ status: "cancelled", closed: "idle" });
  });
});

describe("a sign of life", () => {
  it.each([
    ["stdout of a command", "command", "echo 1"],
    ["stdout of a script", "script", "echo x"],
    ["stderr", "script", "echo x >&2"],
    ["a control line that is malformed", "command", "echo x >&3"],
    ["the stdout of a scorer", "scorer", "echo 1"],
  ] as const)("is %s, and makes no report", async (_what, kind, script) => {
    const sink = createRecordingSink();
    const definition = { dimension: "quality", scorer: { by: "command", command: [], environment: {} } };
    const work = createStepWork(kind, { rendered: { command: ["sh", "-c", script] }, definition });
    await room.perform(work, { sink });
    expect(sink.signsOfLife).toBeGreaterThan(0);
    expect(sink.calls.map(([name]) => name)).toEqual(["spawned"]);
  });

  it("does not come from a program that writes nothing", async () => {
    const sink = createRecordingSink();
    await room.perform(workOf("script", "true"), { sink });
    expect(sink.signsOfLife).toBe(0);
  });
});
