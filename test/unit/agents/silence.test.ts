/** The limit on silence, with real programs: whatever descriptor a program writes to, it is not silent. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import type { StepKind } from "../../../src/definition/model/step.js";
import type { StepSink } from "../../../src/engine/model/ports.js";
import { Attempt } from "../../../src/engine/runner/attempt.js";
import { FakeClock } from "../../support/fake-clock.js";
import { openPerformerRoom, type PerformerRoom } from "../../support/performer-room.js";
import { until } from "../../support/real-clock.js";
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

/** An attempt within its limits, on a clock of its own; what it reports goes nowhere. */
function begin(kind: StepKind, script: string) {
  const clock = new FakeClock();
  const work = workOf(kind, script, IDLE_MS);
  const running = new Attempt(work.step, work.definition, {
    clock,
    sanitiser: { clean: (value) => value, cleanText: (text) => text },
    state: { channel: new Map(), histories: new Map() },
    store: (value) => Promise.resolve({ inline: value }),
    submit: () => Promise.resolve([{ type: "noted", atMs: 0, text: "" }]),
    post: () => Promise.resolve(),
  });
  const seen = { spawned: 0, signs: 0 };
  const { sink } = running;
  const watched: StepSink = {
    ...sink,
    spawned: (process) => ((seen.spawned += 1), sink.spawned(process)),
    alive: () => ((seen.signs += 1), sink.alive()),
    progress: (report) => ((seen.signs += 1), sink.progress(report)),
  };
  const ended = room.performer.perform(work, watched, running.signal).then(({ status }) => {
    const { closed } = running;
    running.close("finished");
    return { status, closed };
  });
  return { clock, seen, ended };
}

const ROUNDS = [1, 2, 3];

describe("the limit on silence of a program", () => {
  it.each([
    ["script", "stdout", "echo x"],
    ["command", "stdout", "echo"],
    ["command", "stderr", "echo x >&2"],
    ["command", "descriptor 3", 'echo \'{"type":"progress"}\' >&3'],
  ] as const)("starts again when a %s writes to %s", async (kind, _where, write) => {
    const folder = mkdtempSync(join(tmpdir(), "splashdown-silence-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const wait = `until [ -e ${folder}/$round ]; do sleep 0.02; done`;
    const script = `for round in ${ROUNDS.join(" ")}; do ${write}; ${wait}; done`;
    const { clock, seen, ended } = begin(kind, script);
    for (const round of ROUNDS) {
      const before = round === 1 ? 0 : seen.signs;
      if (round > 1) writeFileSync(join(folder, String(round - 1)), "");
      await until("it writes", () => seen.signs > before);
      await clock.advance(IDLE_MS - 1);
    }
    writeFileSync(join(folder, String(ROUNDS.length)), "");
    expect(await ended).toEqual({ status: "completed", closed: undefined });
  });

  it("ends a program that says nothing", async () => {
    const { clock, seen, ended } = begin("command", "sleep 60");
    await until("it runs", () => seen.spawned === 1);
    await clock.advance(IDLE_MS);
    expect(await ended).toEqual({ status: "cancelled", closed: "idle" });
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
