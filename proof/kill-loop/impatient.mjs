// A user without patience: after each kill the same command is typed one to three times, in mixture with its siblings, some at
// once side by side, with answers to gates and unknown outcomes. The task has two gates; the second one is the end, so that
// nobody types `run` when it may be done: that would rightly be another task.
import { setTimeout as sleep } from "node:timers/promises";
import { findHistoryFaults, wasSpawned } from "./history.mjs";
import { awaitEnd } from "./processes.mjs";
import { answersTo, FINISH } from "./impatient-job.mjs";
import { findSaidFaults } from "./impatient-words.mjs";
import { join } from "node:path";

const ROUNDS_MAX = 60;
const TYPED_MAX = 3;
/** The keeper's patience is a second, and a second of KILL; the rest is for a busy machine. */
const END_MS_MAX = 40_000;
const KILL_CHILD = join(import.meta.dirname, "kill-child.mjs");

/** Shape: as `driveTask` gives it. */
export async function driveImpatiently(options) {
  const startedAt = performance.now();
  const drive = new ImpatientDrive(options);
  try {
    await drive.toEnd();
    await drive.judge();
  } catch (error) {
    drive.violate(error.message);
  }
  return { ...drive.outcome, seconds: (performance.now() - startedAt) / 1000 };
}

class ImpatientDrive {
  #bench;
  #job;
  #random;
  #plant;
  #expected;
  #task;
  #strikes;
  #asked = new Set();
  /** A child outlives its owner in some round, until recovery ends it. */
  #hasOutliving = false;
  /** By question: what was accepted, or may have been where the one who said it was killed. */
  #accepted = new Map();

  constructor({ bench, job, strikes, random, plant, expected }) {
    const place = bench.createPlace();
    this.#bench = bench;
    this.#job = job;
    this.#random = random;
    this.#plant = plant;
    this.#expected = expected;
    this.#strikes = [...strikes];
    this.#task = job.prepare(place);
    this.outcome = { place, violations: [], kills: 0, misses: 0, unknown: 0, parked: 0, lastProcessMs: 0 };
  }

  violate(text) {
    this.outcome.violations.push(text);
  }

  async toEnd() {
    for (let round = 0; round < ROUNDS_MAX; round += 1) {
      const view = await this.#look();
      if (view?.status === "done") return;
      await this.#type(this.#chooseCommands(view), this.#strikes.shift());
    }
    throw new Error(`not done after ${ROUNDS_MAX} rounds: ${JSON.stringify((await this.#look())?.status)}`);
  }

  /** The only task there may be; `undefined` before anything of it was recorded. Errors: a twin. */
  async #look() {
    return this.#bench.look(this.outcome.place, async (splashdown) => {
      const tasks = await splashdown.list();
      const begun = tasks.filter(({ started_at }) => started_at !== undefined);
      if (begun.length > 1) throw new Error(`a twin: ${begun.map(({ task }) => task).join(", ")}`);
      return begun.length === 0 ? undefined : splashdown.show(begun[0].task);
    });
  }

  #chooseCommands(view) {
    const { file } = this.#task;
    const run = ["run", file, ...(this.#plant.runFlags ?? []), ...this.#plant.flags];
    const count = 1 + this.#random.below(TYPED_MAX);
    if (view === undefined) return Array.from({ length: count }, () => run);
    const open = view.questions.filter(({ status }) => status === "open");
    const answers = open.flatMap((question) => this.#answersFor(view, question));
    const isLast = view.questions.some(({ step, status }) => isFinish(step) && status !== "open");
    const again = [["resume", view.task, ...this.#plant.flags], ["recover"], ...(isLast ? [] : [run])];
    if (open.some(({ step }) => isFinish(step))) return [...answers, ["resume", view.task]];
    const others = Array.from({ length: count }, () => this.#random.pick(again));
    return this.#random.below(2) === 0 ? [...answers, ...others] : [...others, ...answers];
  }

  /** A gate is answered twice at once, differently: one counts. */
  #answersFor(view, question) {
    const isCareless = this.#plant.answer !== undefined && question.kind !== "gate";
    const given = isCareless ? [this.#plant.answer] : answersTo(this.#task, question);
    const isNews = !this.#asked.has(question.id);
    this.#asked.add(question.id);
    if (isNews && question.kind === "unknown_outcome") this.outcome.unknown += 1;
    if (isNews && question.kind === "parked_step") this.outcome.parked += 1;
    return given.map(({ answer, value }) => {
      const output = value === undefined ? [] : ["--output", JSON.stringify(value)];
      return ["answer", view.task, question.id, answer, ...output];
    });
  }

  /** What is typed, one after the other or at once; the strike is for the first that works on the task. */
  async #type(commands, strike) {
    if (strike?.by === "effect" || strike?.by === "outlive") this.#task.arm(strike.by, strike.name);
    this.#hasOutliving ||= strike?.by === "outlive";
    const struck = commands.findIndex(([verb]) => verb !== "answer");
    const strikes = commands.map((_words, at) => (at === struck ? strike : undefined));
    const ended = await this.#typeAll(commands, strikes);
    // An effect that was to kill its owner may come to it in a later round.
    const isStruck = ended.some(({ signal }) => signal === "SIGKILL");
    if (isStruck) this.outcome.kills += 1;
    else if (strike !== undefined) this.outcome.misses += 1;
    // Half of the time the next command comes at once, while a keeper still ends what the last owner left.
    if (!this.#hasOutliving && this.#random.below(2) === 0) await this.#requireEnd("a child outlived its owner");
  }

  /** Answers come at once, so that those to one gate race; not where a store takes one process at a time. */
  async #typeAll(commands, strikes) {
    const isAtOnce = !this.#bench.isOfOneProcess && this.#random.below(2) === 0;
    const typed = [];
    for (const [at, words] of commands.entries()) {
      typed.push(this.#typeOne(words, strikes[at]));
      if (this.#bench.isOfOneProcess || (!isAtOnce && words[0] !== "answer")) await Promise.all(typed);
    }
    return Promise.all(typed);
  }

  async #typeOne(words, strike) {
    const { place } = this.outcome;
    const startedAt = performance.now();
    const started = this.#bench.start(place, this.#argumentsOf(words, strike));
    if (strike?.by === "time") {
      await sleep(40 + this.#random.below(this.#job.usualMs));
      started.kill();
    }
    const ended = await started.ended;
    this.outcome.lastProcessMs = Math.max(this.outcome.lastProcessMs, performance.now() - startedAt);
    if (ended.isHanging) throw new Error(`${words.join(" ")} did not end: ${ended.stderr.slice(-800)}`);
    if (words[0] === "answer") this.#noteAnswer(words, ended);
    if (ended.signal !== "SIGKILL" && strike?.by !== "point")
      for (const fault of findSaidFaults(words, ended)) this.violate(fault);
    return ended;
  }

  #argumentsOf(words, strike) {
    const [verb, ...rest] = words;
    if (strike?.by === "point" && verb !== "recover") {
      const given = verb === "run" ? ["run", rest[0]] : ["resume", rest[0]];
      return [KILL_CHILD, this.#bench.program, strike.point, ...given];
    }
    return [this.#bench.program, ...words, "--json"];
  }

  #noteAnswer([, , question, answer], { code, signal }) {
    const given = this.#accepted.get(question) ?? { certain: [], possible: [] };
    this.#accepted.set(question, given);
    if (signal === "SIGKILL") given.possible.push(answer);
    else if (code === 0) given.certain.push(answer);
  }

  async #requireEnd(what) {
    const left = await awaitEnd(this.outcome.place, { ownerPid: 0, except: [], limitMs: END_MS_MAX });
    for (const each of left) this.violate(`${what}: ${each}`);
  }

  async judge() {
    await this.#requireEnd("left over when the task was done");
    await this.#bench.look(this.outcome.place, async (splashdown) => {
      const summary = (await splashdown.list()).find(({ started_at }) => started_at !== undefined);
      const view = await splashdown.show(summary.task);
      const events = [];
      for await (const event of splashdown.events(summary.task)) events.push(event);
      for (const fault of findHistoryFaults(events)) this.violate(fault);
      for (const damage of view.damage) this.violate(`damage: ${damage}`);
      for (const question of view.questions) this.#judgeQuestion(question, events);
      this.#plant.spoil(this.#task);
      this.outcome.result = this.#task.readResult(view);
    });
    for (const fault of this.#task.findFaults()) this.violate(fault);
    for (const [name, value] of Object.entries(this.#expected ?? {}))
      if (this.outcome.result[name] !== value)
        this.violate(`${name} is ${this.outcome.result[name]} instead of ${value}`);
  }

  #judgeQuestion({ id, kind, step, answer }, events) {
    const given = this.#accepted.get(id) ?? { certain: [], possible: [] };
    this.#accepted.delete(id);
    if (!isRightAnswer(given, answer))
      this.violate(`${id}: ${given.certain.join(" and ")} was accepted, and ${answer} counts`);
    if (kind === "unknown_outcome" && !wasSpawned(events, step)) this.violate(`${step} never ran, and was asked about`);
  }
}

/** What was accepted counts, and one alone; an answer whose process was killed counts or does not. A flag may answer too. */
function isRightAnswer({ certain, possible }, answer) {
  if (certain.length > 0) return certain.length === 1 && certain[0] === answer;
  return possible.length === 0 || answer === undefined || possible.includes(answer);
}

const isFinish = (step) => step?.split("@")[0].split("/").at(-1) === FINISH;
