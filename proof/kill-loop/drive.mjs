// Drives one task to its end: strikes its processes one after the other, answers what is asked, and judges the result.
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { findHistoryFaults, wasSpawned } from "./history.mjs";
import { awaitEnd, listChildren } from "./processes.mjs";

const PROCESSES_MAX = 40;
/** The setting's default: so many owners must have died in a step before a person is asked whether it may run again. */
const CRASHES_UNTIL_PARKED = 3;
/** The keeper's patience is a second, and a second of KILL; the rest is for a busy machine. */
const END_MS_MAX = 40_000;
/** So many tools, less one, are let go before one is struck, so that it is not always the first. */
const TOOLS_LET_GO_MAX = 3;
const KILL_CHILD = join(import.meta.dirname, "kill-child.mjs");

/**
 * Shape: place; violations; kills and misses (strikes whose process ended before it was struck); unknown outcomes that
 * were reported, steps that were parked; the result to compare with others; how long the last process ran; seconds in all.
 */
export async function driveTask(options) {
  const startedAt = performance.now();
  const drive = new Drive(options);
  try {
    await drive.toEnd();
    await drive.judge();
  } catch (error) {
    drive.violate(error.message);
  }
  return { ...drive.outcome, seconds: (performance.now() - startedAt) / 1000 };
}

class Drive {
  #bench;
  #job;
  #random;
  #plant;
  #expected;
  #task;
  #strikes;
  /** Children that were made to outlive their owner: a successor that is killed before it has ended them leaves them too. */
  #outliving = [];
  /** True when the next process must be a `resume`, because a person has answered. */
  #isAnswered = false;

  constructor({ bench, job, strikes, random, plant, expected }) {
    const place = bench.createPlace();
    this.#bench = bench;
    this.#job = job;
    this.#random = random;
    this.#plant = plant;
    this.#expected = expected;
    this.#strikes = [...strikes];
    this.#task = job.prepare(place);
    this.outcome = {
      place,
      violations: [],
      kills: 0,
      misses: 0,
      unknown: 0,
      parked: 0,
      result: undefined,
      lastProcessMs: 0,
    };
  }

  violate(text) {
    this.outcome.violations.push(text);
  }

  async toEnd() {
    for (let count = 0; count < PROCESSES_MAX; count += 1) {
      const strike = this.#strikes.shift();
      const ended = await this.#runProcess(strike);
      if (ended.isHanging) throw new Error(`a process did not end: ${ended.stderr.slice(-800)}`);
      const view = await this.#show();
      if (this.#isOver(view, ended)) return;
      if (ended.signal !== "SIGKILL") await this.#answer(view, ended);
    }
    throw new Error(`not done after ${PROCESSES_MAX} processes`);
  }

  async #runProcess(strike) {
    const { place } = this.outcome;
    if (strike?.by === "effect" || strike?.by === "outlive") this.#task.arm(strike.by, strike.name);
    const given = await this.#chooseArguments(strike);
    const startedAt = performance.now();
    const started = this.#bench.start(place, given);
    const [ended, hasStruckOther] = await Promise.all([started.ended, this.#strike(strike, started)]);
    this.outcome.lastProcessMs = performance.now() - startedAt;
    const isStruck = hasStruckOther || ended.signal === "SIGKILL";
    if (strike !== undefined) this.outcome[isStruck ? "kills" : "misses"] += 1;
    if (strike?.by === "outlive") this.#outliving = listChildren(place).map(({ pid }) => pid);
    else if (ended.signal === "SIGKILL" && this.#random.below(2) === 0)
      await this.#requireEnd(started.pid, "a child outlived its owner");
    return ended;
  }

  /** Half of the time the next owner starts at once, while the keeper still ends what the last one left. */
  async #requireEnd(ownerPid, what, except = this.#outliving) {
    const left = await awaitEnd(this.outcome.place, { ownerPid, except, limitMs: END_MS_MAX });
    for (const each of left) this.violate(`${what}: ${each}`);
  }

  async #chooseArguments(strike) {
    const verb = await this.#chooseVerb();
    const { file, inputs } = this.#task;
    const task = this.#job.name;
    if (strike?.by === "point") {
      const rest = verb === "run" ? ["run", file, task, ...inputs] : ["resume", task];
      return [KILL_CHILD, this.#bench.program, strike.point, ...rest];
    }
    const flags = inputs.flatMap((input) => ["--input", input]);
    const all = { run: ["run", file, "--task", task, ...flags], resume: ["resume", task], recover: ["recover"] };
    return [this.#bench.program, ...all[verb], ...(verb === "recover" ? [] : this.#plant.flags), "--json"];
  }

  /** A task that was never begun can only be run; one that a person answered for is resumed. */
  async #chooseVerb() {
    if (this.#isAnswered) {
      this.#isAnswered = false;
      return "resume";
    }
    const view = await this.#show();
    return view === undefined ? "run" : this.#random.pick(["run", "resume", "recover"]);
  }

  /** Resolves to true when something was struck that is not the process itself. */
  async #strike(strike, started) {
    if (strike?.by === "tools") return await this.#strikeTools(started);
    if (strike?.by === "time") {
      await sleep(40 + this.#random.below(this.#job.usualMs));
      started.kill();
    }
    return false;
  }

  /** Kills the group of one tool while it works. */
  async #strikeTools(started) {
    const letGo = this.#random.below(TOOLS_LET_GO_MAX);
    const seen = new Set();
    while (!started.hasEnded()) {
      const leaders = listChildren(this.outcome.place, started.pid).filter(({ pid, group }) => pid === group);
      for (const { pid } of leaders) seen.add(pid);
      if (leaders.length > 0 && seen.size > letGo) {
        process.kill(-this.#random.pick(leaders).pid, "SIGKILL");
        return true;
      }
      await sleep(5);
    }
    return false;
  }

  /** `undefined` when nothing was recorded before the first process died. */
  async #show() {
    return this.#bench.look(this.outcome.place, async (splashdown) => {
      const [summary] = await splashdown.list();
      return summary?.started_at === undefined ? undefined : splashdown.show(this.#job.name);
    });
  }

  #isOver(view, ended) {
    if (view === undefined || view.status === "crashed" || view.status === "waiting") return false;
    if (view.status === "done") return this.#requireStatus(ended, 0);
    throw new Error(`the task is ${view.status} (${view.reason}); exit ${ended.code}: ${ended.stderr.slice(-800)}`);
  }

  #requireStatus(ended, status) {
    if (ended.code !== status && ended.signal !== "SIGKILL")
      throw new Error(`done, but the exit status is ${ended.code}`);
    return true;
  }

  /** Answers unknown outcomes as a person with the ledger at hand would: done if the line is there, else rerun. */
  async #answer(view, ended) {
    const open = (view?.questions ?? []).filter((question) => question.status === "open");
    // Answered before, and the process that was to go on with it died too early to say so.
    const isAnswered = (view?.questions ?? []).some((question) => question.status === "answered");
    if (open.length === 0 && !isAnswered)
      throw new Error(`nothing is asked, and it ended with ${ended.code}: ${ended.stderr.slice(-800)}`);
    for (const question of open) {
      this.#countQuestion(question);
      const { events, answer } = await this.#bench.look(this.outcome.place, async (splashdown) => ({
        events: await listEvents(splashdown, this.#job.name),
        answer: this.#plant.answer ?? this.#task.answer(question),
      }));
      if (question.kind === "unknown_outcome" && !wasSpawned(events, question.step))
        this.violate(`${question.step} never ran, and was asked about`);
      await this.#bench.look(this.outcome.place, (splashdown) =>
        splashdown.answer({ task: this.#job.name, question: question.id, ...answer }),
      );
    }
    this.#isAnswered = true;
  }

  #countQuestion({ kind, id, text }) {
    if (kind === "unknown_outcome") this.outcome.unknown += 1;
    else if (kind === "parked_step" && this.outcome.kills >= CRASHES_UNTIL_PARKED) this.outcome.parked += 1;
    else throw new Error(`asked ${id}: ${text}`);
  }

  async judge() {
    await this.#requireEnd(0, "left over when the task was done", []);
    await this.#bench.look(this.outcome.place, async (splashdown) => {
      const view = await splashdown.show(this.#job.name);
      const events = await listEvents(splashdown, this.#job.name);
      for (const fault of findHistoryFaults(events)) this.violate(fault);
      for (const damage of view.damage) this.violate(`damage: ${damage}`);
      this.#plant.spoil(this.#task);
      this.outcome.result = this.#task.readResult(view);
    });
    for (const fault of this.#task.findFaults()) this.violate(fault);
    if (this.#expected !== undefined) this.#compare(this.outcome.result, this.#expected);
  }

  /** A person who was asked about a parked step stands in what tells of decisions; the rest is the same. */
  #compare(result, expected) {
    const told = this.outcome.parked > 0 ? this.#job.toldOfAnswers : [];
    for (const name of Object.keys(expected).filter((each) => !told.includes(each))) {
      if (result[name] === expected[name]) continue;
      this.violate(`${name} differs from the undisturbed run: ${firstDifference(result[name], expected[name])}`);
    }
  }
}

async function listEvents(splashdown, task) {
  const events = [];
  for await (const event of splashdown.events(task)) events.push(event);
  return events;
}

function firstDifference(text, expected) {
  let at = 0;
  while (at < text.length && text[at] === expected[at]) at += 1;
  const from = Math.max(0, at - 40);
  return `…${text.slice(from, at + 80)}… instead of …${expected.slice(from, at + 80)}…`;
}
