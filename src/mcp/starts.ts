/**
 * Tasks that are started or taken up for a client, each in a process of its own that outlives server and client.
 *
 * Whoever makes the task first has made it for all: its name comes from the client's key, and is made exclusively in the
 * store. So nothing of what is kept here is needed by another server; it is for answers within a second, and to tell of a
 * start that failed after that.
 */
import type { Clock } from "../base/clock.js";
import { errorCodeOf, messageOf, SplashdownError } from "../base/errors.js";
import { isJsonObject, type JsonObject } from "../base/json.js";
import { LIMITS } from "../base/limits.js";

/** Starts the program again in the background. */
export interface Background {
  /** Shape: `words` are verb, flags and arguments; `input` is what it reads on stdin. */
  readonly start: (words: readonly string[], input?: string) => Promise<BackgroundOutcome>;
}

/** It runs; or the process ended first: its answer on stdout, and what it said. */
type BackgroundOutcome =
  | { readonly task: string; readonly pid: number }
  | { readonly status: number; readonly answer: string; readonly said: string };

/** It was `started`; `nothing` was to be done; it is `owned` by another process; or nobody has told yet. */
export type StartOutcome = "started" | "nothing" | "owned" | "late";

export class Starts {
  readonly #pending = new Map<string, Map<string, Promise<StartOutcome>>>();
  readonly #failures = new Map<string, SplashdownError>();

  constructor(
    private readonly clock: Clock,
    private readonly background: Background,
  ) {}

  /**
   * Starts a task, or waits with those who are starting the same one the same way.
   *
   * Errors: what the process says that could not start it, when it says so in time; `failureOf` has it later.
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
    this.#failures.delete(task);
    const outcome = this.background
      .start(words, input)
      .then(readOutcome)
      .finally(() => {
        ways.delete(way);
        if (ways.size === 0) this.#pending.delete(task);
      });
    this.#pending.set(task, ways.set(way, outcome));
    outcome.catch((error: unknown) => this.#remember(task, error));
    return outcome;
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
  const { task, how } = parseObject(outcome.answer) ?? {};
  if (task !== undefined) return how === "finished_before" ? "nothing" : "started";
  const error = readError(outcome.said);
  if (error.code === "OWNER_ALIVE" || error.code === "OWNER_SUPERSEDED") return "owned";
  throw error;
}

/** The last error that a process told as JSON. */
function readError(said: string): SplashdownError {
  const lines = said.trim().split("\n");
  for (const line of lines.toReversed()) {
    const error = parseObject(line)?.["error"];
    const code = errorCodeOf(error);
    if (code === undefined || !isJsonObject(error)) continue;
    const details = isJsonObject(error["details"]) ? error["details"] : {};
    return new SplashdownError(code, messageOf(error["message"]), { details });
  }
  return new SplashdownError("INTERNAL", `the process that was to run the task ended: ${lines.at(-1) ?? ""}`);
}

function parseObject(text: string): JsonObject | undefined {
  try {
    const value = JSON.parse(text) as unknown;
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
