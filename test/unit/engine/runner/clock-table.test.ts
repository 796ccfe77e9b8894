/**
 * Clocks × what a task measures: whatever the wall does while a process runs, and in whichever zone, on whichever night, a
 * span is as long as it says. Times of the wall that come from outside are read as what they are in every zone.
 */
import { afterEach, describe, expect, it } from "vitest";
import { computeRetryAtMs } from "../../../../src/agents/providers/retry-time.js";
import { formatDay, formatMoment } from "../../../../src/cli/terminal/local-time.js";
import { parseSince } from "../../../../src/cli/command/flags.js";
import { computeTaskName } from "../../../../src/runtime/tasks/task-name.js";
import { FakeClock } from "../../../support/fake-clock.js";
import { RunnerRoom } from "../../../support/runner-room.js";
import { command, gate, machine, model, wait, workflow } from "../../../support/workflow-builder.js";

const HOUR_MS = 3_600_000;
const RETRY = { maxAttempts: 3, backoff: "fixed" as const, delayMs: 60_000, delayMsMax: 60_000, jitter: 0 };
const broken = { status: "failed" as const, error: { code: "STEP_FAILED", message: "no", retryable: true } };
const SPAN_MS = 60_000;

const zoneBefore = process.env["TZ"];
afterEach(() => {
  if (zoneBefore === undefined) delete process.env["TZ"];
  else process.env["TZ"] = zoneBefore;
});

/** What the wall does while ten seconds pass. */
const CLOCKS: Readonly<Record<string, (clock: FakeClock) => void>> = {
  "goes right": () => undefined,
  "is set back by a minute": (clock) => clock.jumpWall(-60_000),
  "is set back by a day": (clock) => clock.jumpWall(-24 * HOUR_MS),
  "is set ahead by an hour": (clock) => clock.jumpWall(HOUR_MS),
  "is set ahead by a year": (clock) => clock.jumpWall(365 * 24 * HOUR_MS),
  "stands still": (clock) => clock.jumpWall(-10_000),
  "goes at half its pace": (clock) => clock.jumpWall(-5_000),
  "is set ahead and back": (clock) => {
    clock.jumpWall(HOUR_MS);
    clock.jumpWall(-HOUR_MS);
  },
};

/** Half a minute before clocks change, by the zone that changes; and nights that other zones have. */
const NIGHTS: readonly (readonly [zone: string, night: string, atMs: number])[] = [
  ["UTC", "any day", Date.UTC(2026, 5, 7, 12)],
  ["Europe/Berlin", "the night without an hour", Date.UTC(2026, 2, 29, 0, 59, 30)],
  ["Europe/Berlin", "the night with an hour twice", Date.UTC(2026, 9, 25, 0, 59, 30)],
  ["America/New_York", "the night without an hour", Date.UTC(2026, 2, 8, 6, 59, 30)],
  ["America/New_York", "the night with an hour twice", Date.UTC(2026, 10, 1, 5, 59, 30)],
  ["Australia/Lord_Howe", "the night with half an hour twice", Date.UTC(2026, 3, 4, 14, 59, 30)],
  ["Pacific/Apia", "the day that was left out", Date.UTC(2011, 11, 30, 9, 59, 30)],
  ["Asia/Kolkata", "the end of a year", Date.UTC(2026, 11, 31, 18, 29, 30)],
];

/** What is measured: how it begins, and whether it is over. Each takes `SPAN_MS`. */
interface Measured {
  readonly open: (clock: FakeClock) => RoomOf;
  readonly begin: (room: RoomOf) => Promise<void>;
  readonly isOver: (room: RoomOf) => boolean;
}
type RoomOf = RunnerRoom;

const inherit = (clock: FakeClock) => ({ history: [], blobs: new Map(), files: new Map(), epoch: 1, clock });
const room = (definition: Parameters<typeof workflow>[0], clock: FakeClock, more: object = {}) =>
  new RunnerRoom(workflow(definition, more), {}, inherit(clock));
const begin = (one: RoomOf) => one.start();

const MEASURED: Readonly<Record<string, Measured>> = {
  "a wait": {
    open: (clock) => room(machine("main", [wait("nap", 60)]), clock),
    begin,
    isOver: (one) => one.end !== undefined,
  },
  "the delay of a retry": {
    open: (clock) => room(machine("main", [command("a", { retry: RETRY })]), clock),
    begin: async (one) => {
      await one.start();
      one.performer.of("a").end(broken);
      await one.flush();
    },
    isOver: (one) => one.performer.attempts.length === 2,
  },
  "a gate's timeout": {
    open: (clock) => {
      const options = [{ value: "yes" }, { value: "no" }];
      const one = room(machine("main", [gate("ok", options, { timeoutMs: SPAN_MS, onTimeout: "no" })]), clock);
      one.runner.holdOpen(new Promise(() => undefined));
      return one;
    },
    begin,
    isOver: (one) => one.of("question_answered").length === 1,
  },
  "a limit on time": {
    open: (clock) => room(machine("main", [model("a")]), clock, { limits: { maxIterations: 10, timeoutMs: SPAN_MS } }),
    begin,
    isOver: (one) => one.of("question_opened").length === 1,
  },
  "a time that a provider names as a span": {
    open: (clock) => room(machine("main", [model("a")]), clock),
    begin: async (one) => {
      await one.start();
      const retryAtMs = one.clock.nowMs() + SPAN_MS;
      const error = { code: "MODEL_RATE_LIMITED", message: "slow down", retryable: true, retryAtMs };
      one.performer.of("a").end({ status: "failed", error });
      await one.flush();
    },
    isOver: (one) => one.performer.attempts.length === 2,
  },
};

const pass = async (one: RoomOf, ms: number) => {
  await one.clock.advance(ms);
  await one.flush();
};

describe.each(Object.entries(CLOCKS))("where the clock of the machine %s", (_way, disturb) => {
  it.each(Object.entries(MEASURED))("[kinds F4 kin] %s is as long as it says", async (_what, measured) => {
    const one = measured.open(new FakeClock());
    await measured.begin(one);
    await pass(one, 10_000);
    disturb(one.clock);
    await pass(one, SPAN_MS - 10_001);
    expect(measured.isOver(one)).toBe(false);
    await pass(one, 1);
    expect(measured.isOver(one)).toBe(true);
  });
});

describe.each(NIGHTS)("in %s, %s", (zone, _night, atMs) => {
  it.each(Object.entries(MEASURED))("[kinds F4 kin] %s is as long as it says", async (_what, measured) => {
    process.env["TZ"] = zone;
    const one = measured.open(new FakeClock(atMs));
    await measured.begin(one);
    await pass(one, SPAN_MS - 1);
    expect(measured.isOver(one)).toBe(false);
    await pass(one, 1);
    expect(measured.isOver(one)).toBe(true);
  });

  it("[kinds F4 kin] times that others name are the same as everywhere", () => {
    process.env["TZ"] = zone;
    const said = (text: string) => computeRetryAtMs({ headers: { "retry-after": text }, body: "", nowMs: atMs });
    const wanted = Math.floor(atMs / 1000) * 1000 + 3_600_000;
    const at = new Date(wanted);
    const iso = at.toISOString();
    const forms = [
      at.toUTCString(),
      iso,
      iso.replace("Z", "+00:00"),
      iso.replace("Z", ""),
      iso.slice(0, 19).replace("T", " "),
    ];
    // As RFC 9110 has it from before zones were written: asctime and RFC 850.
    const [, day = "", month = "", year = "", time = ""] =
      /^\w+, (\d+) (\w+) (\d+) (\S+) GMT$/.exec(at.toUTCString()) ?? [];
    forms.push(`${at.toUTCString().slice(0, 3)} ${month} ${String(Number(day)).padStart(2)} ${time} ${year}`);
    expect(forms.map((form) => [form, said(form)])).toEqual(forms.map((form) => [form, wanted]));
  });

  it("[kinds F4 kin] a task is called by the time in UTC, and a moment is told with its zone", () => {
    process.env["TZ"] = zone;
    const iso = new Date(atMs).toISOString();
    expect(computeTaskName("w", atMs)).toBe(
      `w_${iso.slice(0, 10).replaceAll("-", "")}_${iso.slice(11, 19).replaceAll(":", "")}`,
    );
    const told = formatMoment(iso).replace(" UTC", "Z").replace(" ", "T").replace(" ", "");
    expect(new Date(told).getTime()).toBe(Math.floor(atMs / 1000) * 1000);
  });
});

describe("a day of a person", () => {
  it.each([
    ["Europe/Berlin", "2026-03-29", 23],
    ["Europe/Berlin", "2026-10-25", 25],
    ["America/New_York", "2026-03-08", 23],
    ["America/New_York", "2026-11-01", 25],
    ["Australia/Lord_Howe", "2026-04-05", 24.5],
    ["Asia/Kolkata", "2026-10-25", 24],
    ["UTC", "2026-10-25", 24],
  ])("[kinds F4 kin] in %s %s has %d hours, and no moment of it is of another", (zone, day, hours) => {
    process.env["TZ"] = zone;
    const from = parseSince(day, 0);
    const minutes = Array.from({ length: 27 * 60 }, (_none, minute) => from + minute * 60_000);
    const own = minutes.filter((atMs) => formatDay(new Date(atMs).toISOString()) === day);
    expect([own[0], own.length / 60]).toEqual([from, hours]);
    expect(formatDay(new Date(from - 1).toISOString())).not.toBe(day);
  });
});
