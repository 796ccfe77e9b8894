/**
 * Tasks that are started or taken up for a client, each in a process of its own that outlives server and client.
 *
 * Whoever makes the task first has made it for all: its name comes from the client's key, and is made exclusively in the
 * store. So nothing of what is kept here is needed by another server; it is for answers within a second, and to tell of a
 * start that failed after that.
 */
import type { Clock } from "../../base/clock.js";
import { errorCodeOf, messageOf, SplashdownError } from "../../base/errors.js";
import { isJsonObject, parseJsonObject } from "../../base/json.js";
import { LIMITS } from "../../base/limits.js";

/** Starts the program again in the background. */
export interface Background {
  /** Shape: `words` are verb, flags and arguments; `input` is what it reads on stdin. */
  readonly start: (words: readonly string[], input?: string) => Promise<BackgroundOutcome>;
}

/** It runs; or the process ended first: its answer on stdout, and what it said. */
type BackgroundOutcome =
  /** `ended` resolves when the process does. */
  | { readonly task: string; readonly pid: number; readonly ended?: Promise<void> }
  | { readonly status: number; readonly answer: string; readonly said: string };

/** It was `started`; `nothing` was to be done; it is `owned` by another process; or nobody has told yet. */
export type StartOutcome = "started" | "nothing" | "owned" | "late";

export class Starts {
  readonly #pending = new Map<string, Map<string, Promise<StartOutcome>>>();
  readonly #failures = new Map<string, SplashdownError>();
  /** Processes that were begun and have not ended, as far as this server has seen. */
  #processes = 0;

  constructor(
    private readonly clock: Clock,
    private readonly background: Background,
  ) {}

  /**
   * Starts a task, or waits with those who are starting the same one the same way.
   *
   * Errors: what the process says that could not start it, when it says so in time; `failureOf` has it later;
   * PROCESSES_TOO_MANY, and nothing was begun.
   */
  async start(task: string, words: readonly string[], input?: string): Promise<StartOutcome> {
    return this.#within(LIMITS.mcpStartMs, this.#join(task, words, input));
  }

  /** Waits for what is being started of a task, and not longer. */
  async settle(task: string, limitMs: number): Promise<void> {
    const pending = [...(this.#pending.get(task)?.values() ?? [])];
    await this.#within(limitMs, Promise.allSettled(pending));
  }

  /** Nobody has told yet what became of a start. */
  isPending(task: string): boolean {
    return this.#pending.has(task);
  }

  /** Why the last start of a task failed, where nobody was told. */
  failureOf(task: string): SplashdownError | undefined {
    return this.#failures.get(task);
  }

  #join(task: string, words: readonly string[], input: string | undefined): Promise<StartOutcome> {
    const way = JSON.stringify([words, input]);
    const ways = this.#pending.get(task) ?? new Map<string, Promise<StartOutcome>>();
    const known = ways.get(way);
    if (known !== undefined) return known;
    this.#requireRoom();
    this.#failures.delete(task);
    const outcome = this.#begin(words, input)
      .then(readOutcome)
      .finally(() => {
        ways.delete(way);
        if (ways.size === 0) this.#pending.delete(task);
      });
    this.#pending.set(task, ways.set(way, outcome));
    outcome.catch((error: unknown) => this.#remember(task, error));
    return outcome;
  }

  /** Errors: PROCESSES_TOO_MANY. */
  #requireRoom(): void {
    const most = LIMITS.mcpProcessesMax;
    if (this.#processes < most) return;
    const text = `${most} processes that this server has begun run tasks already; nothing was started`;
    throw new SplashdownError("PROCESSES_TOO_MANY", text, { details: { limit: most } });
  }

  /** A process counts until it has ended, also when its task has long been told to run. */
  async #begin(words: readonly string[], input: string | undefined): Promise<BackgroundOutcome> {
    this.#processes += 1;
    const leave = (): void => void (this.#processes -= 1);
    try {
      const outcome = await this.background.start(words, input);
      const ended = "task" in outcome ? outcome.ended : undefined;
      if (ended === undefined) leave();
      else void ended.then(leave);
      return outcome;
    } catch (error) {
      leave();
      throw error;
    }
  }

  #remember(task: string, error: unknown): void {
    this.#failures.set(task, error instanceof SplashdownError ? error : new SplashdownError("INTERNAL", String(error)));
    const [oldest] = this.#failures.keys();
    if (this.#failures.size > LIMITS.mcpFailuresKeptMax && oldest !== undefined) this.#failures.delete(oldest);
  }

  async #within<T>(limitMs: number, work: Promise<T>): Promise<T | "late"> {
    const over = new AbortController();
    const late = this.clock.sleep(limitMs, over.signal).then((): "late" => "late");
    try {
      return await Promise.race([work, late]);
    } finally {
      over.abort();
    }
  }
}

/** Errors: that of the process, with its code. */
function readOutcome(outcome: BackgroundOutcome): StartOutcome {
  if ("task" in outcome) return "started";
  const { task, how } = parseJsonObject(outcome.answer) ?? {};
  if (task !== undefined) return how === "finished_before" ? "nothing" : "started";
  const error = readError(outcome.said);
  if (error.code === "OWNER_ALIVE" || error.code === "OWNER_SUPERSEDED") return "owned";
  throw error;
}

/** The last error that a process told as JSON. */
function readError(said: string): SplashdownError {
  const lines = said.trim().split("\n");
  for (const line of lines.toReversed()) {
    const error = parseJsonObject(line)?.["error"];
    const code = errorCodeOf(error);
    if (code === undefined || !isJsonObject(error)) continue;
    const details = isJsonObject(error["details"]) ? error["details"] : {};
    return new SplashdownError(code, messageOf(error["message"]), { details });
  }
  return new SplashdownError("INTERNAL", `the process that was to run the task ended: ${lines.at(-1) ?? ""}`);
}
