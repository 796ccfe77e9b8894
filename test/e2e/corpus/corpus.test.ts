/**
 * Conductor's own example files, unmodified: each runs to its end with a scripted model, and again with three kills.
 *
 * The files are not part of the project: SPLASHDOWN_CONDUCTOR_EXAMPLES names their folder (`npm run proof -- corpus FOLDER`).
 * Without it every test here is skipped; test/unit/definition and the other tests cover the same keys with own files.
 */
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/base/json.js";
import type { TaskView } from "../../../src/runtime/contract.js";
import { openPlace, type CommandPlace } from "../../support/command-place.js";
import { inputsFor, settingsFor, type Sayings } from "../../support/corpus-answers.js";
import { countRecords, killAtRecord } from "../../support/killed-run.js";
import { createSeededNumbers, type SeededNumbers } from "../../support/seeded-random.js";

const FOLDER = process.env["SPLASHDOWN_CONDUCTOR_EXAMPLES"];
const KILLS = 3;
/** Records of the shortest run that can be killed so often. */
const EVENTS_MIN = 4;
const TRIALS_MAX = 5;

/** One way through a file. */
interface Path {
  readonly input?: Readonly<Record<string, string>>;
  readonly says?: Sayings;
  readonly answer?: string;
  readonly status?: number;
  /** Steps that must have run, and those that must not. */
  readonly through?: readonly string[];
  readonly not?: readonly string[];
  /** Steps with this many visits: the loop was taken, and left. */
  readonly visits?: Readonly<Record<string, number>>;
  /** Fields of the output that count what happened outside, so a second run of a step shows in them. */
  readonly counting?: readonly string[];
  /** Removed before each run: a file that the example keeps outside the task. */
  readonly outside?: string;
}

/** Files that have more to say than one path. A file that is not here is run once, with a text for each input. */
const PATHS: Readonly<Record<string, readonly Path[]>> = {
  "aca-coding-agent": [{ visits: { implement: 2 } }],
  "claude-agent-sdk-session-key": [{ visits: { investigate: 2, verify: 2, summarize: 1 } }],
  "context-tier": [{ not: ["analyze"] }, { says: { triage: { needs_deep_analysis: true } }, through: ["analyze"] }],
  design: [{ visits: { architect: 3, technical_reviewer: 3, readability_reviewer: 2 } }],
  plan: [{ visits: { architect: 3, technical_reviewer: 3, readability_reviewer: 2 } }],
  "parallel-research": [
    { says: { quality_checker: { quality_score: 9 } }, visits: { planner: 1 } },
    { says: { quality_checker: { quality_score: 3 } } },
  ],
  "parallel-validation": [
    { says: { validation_summary: { approval: "approved" } }, through: ["auto_approve"] },
    { says: { validation_summary: { approval: "conditional" } }, through: ["conditional_review"] },
    { says: { validation_summary: { approval: "rejected" } }, through: ["rejection_handler"] },
  ],
  questions: [
    {
      says: {
        architect: { open_questions: [{ question: "Which store?", choices: ["disk", "memory"] }, "How often?"] },
      },
      answer: 'ask_questions={"q1": "disk", "q2": "hourly"}',
      through: ["finalize"],
    },
  ],
  // It declares no inputs, and uses one.
  "script-stdin": [{ input: { topic: "errors" }, through: ["summarize"] }],
  "script-step": [{ through: ["analyze_version"], not: ["handle_error"] }],
  "set-step": [
    { input: { org: "a", repo: "b", severity: "high" }, through: ["breaking_path"], not: ["safe_path"] },
    { input: { org: "a", repo: "b", severity: "low" }, through: ["safe_path"], not: ["breaking_path"] },
  ],
  "skills-self-improving-workflow": [
    { says: { reviewer: { verdict: "needs_revision" } }, through: ["fixer"] },
    { says: { reviewer: { verdict: "approved" } }, not: ["fixer"] },
  ],
  terminate: [
    { input: { document_state: "current" }, through: ["noop_exit"], not: ["refresh"] },
    { input: { document_state: "stale" }, through: ["refresh"] },
    { input: { document_state: "unsafe" }, through: ["abort_unsafe"], status: 4 },
  ],
  "wait-step": [
    {
      input: { poll_interval_seconds: "0.05", max_attempts: "3" },
      through: ["cool_down", "summarize"],
      counting: ["attempts"],
      outside: "/tmp/wait-step-demo.count",
    },
  ],
};

/** Files that cannot run, with what they are told. */
const REFUSED: Readonly<Record<string, string>> = {
  // A template names an input without its place: Conductor fails when it renders, we say so before anything is paid for.
  "plugin-sources": "write workflow.input.changes",
};

const files = FOLDER === undefined ? [] : readdirSync(FOLDER).filter((name) => name.endsWith(".yaml"));
const names = files.map((name) => name.replace(/\.yaml$/, ""));
const why = "SPLASHDOWN_CONDUCTOR_EXAMPLES names no folder of examples";

interface Way extends Path {
  readonly place: CommandPlace;
  readonly args: readonly string[];
}

function openWay(name: string, path: Path): Way {
  const place = openPlace();
  const file = join(FOLDER ?? "", `${name}.yaml`);
  place.write("splashdown.config.yaml", settingsFor(file, path.says ?? {}));
  const given = path.input ?? inputsFor(file);
  const args = [file, ...Object.entries(given).flatMap(([input, value]) => ["--input", `${input}=${value}`])];
  return { ...path, place, args };
}

function start(way: Way, task: string) {
  const answers = way.answer === undefined ? [] : ["--answer", way.answer];
  return way.place.start(["run", ...way.args, "--task", task, "--on-unknown", "rerun", "--wait", ...answers]);
}

async function viewOf({ place }: Way, task: string): Promise<TaskView> {
  return (await place.run(["show", task, "--json"])).json<TaskView>();
}

/**
 * Points for the kills, one in each third of an undisturbed run: a number of records that the journal has come to.
 *
 * The end is left out: what is written there comes faster than anybody can kill.
 */
function choosePoints(total: number, numbers: SeededNumbers): number[] {
  const last = Math.max(KILLS + 1, total - 4);
  return Array.from({ length: KILLS }, (_none, third) => {
    const [from, to] = [
      2 + Math.floor((third * (last - 2)) / KILLS),
      2 + Math.floor(((third + 1) * (last - 2)) / KILLS),
    ];
    return from + numbers.next(Math.max(1, to - from));
  });
}

/** Runs the task and kills it at each point, then to its end. Shape: the kills that met it; fewer when it was faster. */
async function runKilled(way: Way, task: string, points: readonly number[]): Promise<number> {
  let kills = 0;
  for (const point of points) {
    // Every owner writes something of its own before it is killed.
    const reached = Math.max(point, countRecords(way.place, task) + 1);
    const { signal } = await killAtRecord(start(way, task), { place: way.place, task, point: reached });
    if (signal !== "SIGKILL") return kills;
    kills += 1;
  }
  const { code, stderr } = await start(way, task).done;
  expect({ code, stderr: code === (way.status ?? 0) ? "" : stderr }).toEqual({ code: way.status ?? 0, stderr: "" });
  return kills;
}

/** A task of the way that was killed as often as it is to be; where one was faster, another with earlier points. */
async function killThrice(way: Way, total: number, seed: number): Promise<string> {
  const numbers = createSeededNumbers(seed);
  let length = total;
  for (let trial = 1; trial <= TRIALS_MAX; trial += 1) {
    const task = `killed-${trial}`;
    clearOutside(way);
    if ((await runKilled(way, task, choosePoints(length, numbers))) === KILLS) return task;
    length = Math.max(KILLS + 1, Math.floor(length * 0.85));
  }
  throw new Error(`none of ${TRIALS_MAX} tasks was killed ${KILLS} times: the run of ${total} records is too fast`);
}

function clearOutside({ outside }: Way): void {
  if (outside !== undefined) rmSync(outside, { force: true });
}

function outputOf({ output }: TaskView, { counting = [] }: Path): unknown {
  return Object.fromEntries(Object.entries((output ?? {}) as JsonObject).filter(([key]) => !counting.includes(key)));
}

function expectThrough({ steps }: TaskView, path: Path): void {
  const visits: Record<string, number> = {};
  for (const { path: at } of steps) {
    const name = at.split("/").at(-1) ?? at;
    visits[name] = (visits[name] ?? 0) + 1;
  }
  for (const name of path.through ?? []) expect(Object.keys(visits)).toContain(name);
  for (const name of path.not ?? []) expect(Object.keys(visits)).not.toContain(name);
  expect(visits).toMatchObject(path.visits ?? {});
}

describe.skipIf(FOLDER === undefined)(`Conductor's examples${FOLDER === undefined ? `: ${why}` : ""}`, () => {
  const runnable = names.filter((name) => REFUSED[name] === undefined);
  const ways = runnable.flatMap((name) => (PATHS[name] ?? [{}]).map((path, index) => ({ name, path, index })));

  it.each(Object.entries(REFUSED))("%s is refused with what to write", async (name, hint) => {
    const { code, stderr, stdout } = await openPlace().run(["validate", join(FOLDER ?? "", `${name}.yaml`)]);
    expect({ code, isNamed: `${stdout}${stderr}`.includes(hint) }).toEqual({ code: 2, isNamed: true });
  });

  it.each(ways)(
    "$name, way $index, ends as it should, and killed three times ends the same",
    async ({ name, path, index }) => {
      const way = openWay(name, path);
      clearOutside(way);
      const { code, stderr } = await start(way, "whole").done;
      expect({ code, stderr: code === (path.status ?? 0) ? "" : stderr }).toEqual({
        code: path.status ?? 0,
        stderr: "",
      });
      const whole = await viewOf(way, "whole");
      expectThrough(whole, path);
      expect(whole.output).toBeDefined();
      const total = countRecords(way.place, "whole");
      expect(total).toBeGreaterThanOrEqual(EVENTS_MIN);
      const killed = await viewOf(way, await killThrice(way, total, 1000 * names.indexOf(name) + index));
      expect({ status: killed.status, output: outputOf(killed, path) }).toEqual({
        status: whole.status,
        output: outputOf(whole, path),
      });
    },
  );
});
