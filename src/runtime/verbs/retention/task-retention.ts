/**
 * Which whole tasks retention lets go: to the trash by age and by count, and out of it when their time there is over.
 *
 * Only ended ones, only by a setting of a person, never by a clock that cannot be right. `keep_successful`: of each
 * workflow the task that was done last is left alone. Source: DESIGN section 7 (retention), STORAGE 1.12, FAULTS 11.
 */
import { writeCommand } from "../../../base/command-text.js";
import type { EffectiveSettings } from "../../../definition/settings/settings.js";
import type { TrashedTask } from "../../../store/contract/contract.js";
import { formatTime } from "../../views/views.js";

export const DAY_MS = 24 * 60 * 60 * 1000;
const YEAR_MS = 365 * DAY_MS;
/** Nothing is left to run in these. */
export const ENDED: ReadonlySet<string> = new Set(["done", "partial"]);

/** How a task stands among the others. */
export interface RetainedTask {
  readonly name: string;
  readonly workflow: string;
  readonly status: string;
  readonly lastAtMs: number;
}

type Config = EffectiveSettings["checkpoint_config"];

export interface Verdict {
  readonly goes: boolean;
  /** Empty where nothing is to be said. */
  readonly why: string;
}

const KEPT: Verdict = { goes: false, why: "" };
const kept = (why: string): Verdict => ({ goes: false, why });

export class TaskRetention {
  readonly #nowMs: number;
  /** Of all that was ever recorded here. */
  readonly #newestMs: number;
  readonly #spared: ReadonlySet<string>;
  readonly #newer: ReadonlyMap<string, number>;

  constructor(tasks: readonly RetainedTask[], trash: readonly TrashedTask[], nowMs: number) {
    this.#nowMs = nowMs;
    this.#newestMs = Math.max(0, ...tasks.map(({ lastAtMs }) => lastAtMs), ...trash.map((one) => one.trashedAtMs));
    this.#spared = lastDoneOf(tasks);
    this.#newer = countNewer(tasks);
  }

  /** True for the task of its workflow that was done last. */
  isLastDone(name: string): boolean {
    return this.#spared.has(name);
  }

  judge(retained: RetainedTask, config: Config): Verdict {
    if (!ENDED.has(retained.status)) return KEPT;
    const verdict = this.#judgeCount(retained, config) ?? this.#judgeAge(retained, config);
    if (verdict.goes && config.keep_successful && this.#spared.has(retained.name))
      return kept(`the last done task of ${retained.workflow} (keep_successful)`);
    return verdict;
  }

  /** Of what is in the trash. */
  judgeTrashed({ name, trashedAtMs }: TrashedTask, { trash_days: days }: Config): Verdict {
    const since = `in the trash since ${formatTime(trashedAtMs)}`;
    const doubt = this.#doubtClock();
    if (doubt !== undefined) return kept(`${since}; ${doubt}`);
    const endMs = trashedAtMs + days * DAY_MS;
    if (this.#nowMs < endMs)
      return kept(`${since}, until ${formatTime(endMs)}: ${writeCommand("store restore", [name])}`);
    return { goes: true, why: `${since}, over trash_days: ${days}` };
  }

  #judgeCount({ name, workflow }: RetainedTask, { max_tasks: max }: Config): Verdict | undefined {
    if (max === undefined || (this.#newer.get(name) ?? 0) < max) return undefined;
    return { goes: true, why: `more than max_tasks: ${max} ended tasks of ${workflow}; deliverables stay` };
  }

  #judgeAge({ lastAtMs }: RetainedTask, { retention_days: days }: Config): Verdict {
    if (days === undefined) return KEPT;
    if (this.#nowMs < this.#newestMs) return kept(CLOCK_BEHIND);
    if (this.#nowMs - lastAtMs <= days * DAY_MS) return KEPT;
    const doubt = this.#doubtClock();
    if (doubt !== undefined) return kept(doubt);
    const since = formatTime(lastAtMs);
    return { goes: true, why: `ended and untouched since ${since}, over retention_days: ${days}; deliverables stay` };
  }

  #doubtClock(): string | undefined {
    if (this.#nowMs < this.#newestMs) return CLOCK_BEHIND;
    return this.#nowMs - this.#newestMs > YEAR_MS
      ? "nothing was recorded for a year: if the clock is right, use store remove and store purge"
      : undefined;
  }
}

const CLOCK_BEHIND = "the clock is behind what was recorded: no age is judged";

function lastDoneOf(tasks: readonly RetainedTask[]): ReadonlySet<string> {
  const last = new Map<string, RetainedTask>();
  for (const retained of tasks) {
    const known = last.get(retained.workflow);
    if (retained.status === "done" && (known === undefined || known.lastAtMs <= retained.lastAtMs))
      last.set(retained.workflow, retained);
  }
  return new Set([...last.values()].map(({ name }) => name));
}

/** Of each ended task, how many of its workflow ended after it. */
function countNewer(tasks: readonly RetainedTask[]): ReadonlyMap<string, number> {
  const newer = new Map<string, number>();
  const perWorkflow = new Map<string, number>();
  const ended = tasks.filter(({ status }) => ENDED.has(status));
  for (const { name, workflow } of [...ended].sort((first, second) => second.lastAtMs - first.lastAtMs)) {
    const count = perWorkflow.get(workflow) ?? 0;
    newer.set(name, count);
    perWorkflow.set(workflow, count + 1);
  }
  return newer;
}
