/**
 * Tells a task's story again from its events, asks today's engine at each choice, and says where it would choose
 * otherwise. Runs nothing and writes nothing.
 *
 * What is asked: at every recorded start, end of a scope, iteration, verdict and decision of the orchestrator, what `advance` would choose from the
 * state just before; at every completion, which target would follow. Times, ids and random numbers are not compared.
 */
import { SplashdownError } from "../../base/errors.js";
import type { JsonObject, JsonValue } from "../../base/json.js";
import { canonicalJson } from "../../base/json-encoding.js";
import { createBlobShelf } from "../../checkpoint/blobs/blobs.js";
import type { SnapshotSource } from "../../checkpoint/contract.js";
import { decide } from "../../engine/decide.js";
import { CONFIDENCE_DECISIONS } from "../../engine/rules/triggers.js";
import { evolve } from "../../engine/fold/evolve.js";
import { withInlineState } from "../../engine/fold/restore-state.js";
import type { EngineEvent, EngineEventType } from "../../engine/model/events.js";
import type { BlobRef } from "../../engine/model/value-ref.js";
import type { DecideContext, EngineInput } from "../../engine/model/input.js";
import { createState, type TaskState } from "../../engine/model/state.js";
import { readHistory, type History } from "../../journal/history.js";
import type { TaskStore } from "../../store/contract/contract.js";
import type { TaskVault } from "../../vault/contract.js";
import type { ReplayView } from "../views/past-views.js";
import type { EventView } from "../views/task-views.js";
import type { Services } from "../services/services.js";
import { viewEvent } from "../views/event-text.js";

export interface ReplayOptions {
  readonly task: TaskStore;
  readonly vault: TaskVault;
  readonly snapshots: SnapshotSource;
  readonly until: number;
}

/** Types that only `advance` chooses, with what is compared of them. */
const COMPARED: Partial<Record<EngineEventType, readonly string[]>> = {
  step_intended: ["step", "attempt", "kind", "effects", "onUnknown", "inputHash"],
  scope_entered: ["path", "visit"],
  scope_left: ["path", "visit", "outcome", "next"],
  node_skipped: ["path", "visit", "reason", "next"],
  evaluation_completed: ["path", "iteration", "score", "verdict", "best"],
  decision_made: ["agent", "decision", "subject", "confidence"],
  question_opened: ["kind", "phase"],
};

/** Decisions of the orchestrator that `advance` makes. People's and those of a start or a restart are no choice of it. */
const ADVANCED: ReadonlySet<string> = new Set([
  ...CONFIDENCE_DECISIONS,
  "proceed",
  "go_on_without",
  "give_up",
  "keep_best",
  "restart_specialist",
]);

export async function replayEvents(
  services: Services,
  options: ReplayOptions,
): Promise<Pick<ReplayView, "story" | "differences">> {
  const { task, vault, until } = options;
  const shelf = createBlobShelf({ store: task, vault });
  const asker = new Asker(services, await services.templates(), shelf);
  const history = await readHistory({ task, vault });
  const { state, from } = await beginOf(history, options);
  const story: EventView[] = [];
  const differences: JsonObject[] = [];
  for (const record of history.recordsFrom(from)) {
    const { n } = record;
    if (n > until) break;
    const event = record.decode();
    const difference = await asker.compare(state, event);
    if (difference !== undefined) differences.push({ n, ...difference });
    story.push(viewEvent(n, event));
    evolve(state, await withInlineState(event, (ref) => shelf.get(ref)));
  }
  return { story, differences };
}

/** From the first record; of a shortened history, from the oldest file that its records follow. */
async function beginOf(
  history: History,
  { snapshots, until, task }: ReplayOptions,
): Promise<{ state: TaskState; from: number }> {
  const first = history.records[0]?.n ?? 1;
  if (first === 1) return { state: createState(), from: 1 };
  for (const { file } of (await snapshots.list()).toReversed()) {
    const { state, position } = await snapshots.load(file);
    if (position.n >= first - 1 && position.n <= until && history.covers(position))
      return { state, from: position.n + 1 };
  }
  throw new SplashdownError(
    "CHECKPOINT_NOT_FOUND",
    `records before ${first} of ${task.name} were removed by prune --history: record ${until} cannot be reached`,
    { details: { task: task.name, n: until } },
  );
}

class Asker {
  readonly #services: Services;
  readonly #templates: DecideContext["templates"];
  readonly #shelf: ReturnType<typeof createBlobShelf>;
  readonly #blobs = new Map<string, JsonValue>();
  /** What the choice asked last holds after the events that were met: between the starts of one choice nobody is asked. */
  #rest: readonly JsonObject[] = [];

  constructor(services: Services, templates: DecideContext["templates"], shelf: ReturnType<typeof createBlobShelf>) {
    this.#services = services;
    this.#templates = templates;
    this.#shelf = shelf;
  }

  /** What today's engine would choose instead of the recorded event; `undefined` when it is the same. */
  async compare(state: TaskState, recorded: EngineEvent): Promise<JsonObject | undefined> {
    const [next, ...after] = this.#rest;
    this.#rest = [];
    if (recorded.type === "step_completed") return this.#compareTarget(state, recorded);
    const was = project(recorded);
    if (was === undefined || state.task === undefined) return undefined;
    if (next !== undefined && canonicalJson(was) === canonicalJson(next)) {
      this.#rest = after;
      return undefined;
    }
    const events = await this.#ask(state, { kind: "advance" }, recorded.atMs);
    const [today = null, ...rest] = events.map(project).filter((event) => event !== undefined);
    if (canonicalJson(was) !== canonicalJson(today)) return { recorded: was, today };
    this.#rest = rest;
    return undefined;
  }

  async #compareTarget(
    state: TaskState,
    recorded: Extract<EngineEvent, { type: "step_completed" }>,
  ): Promise<JsonObject | undefined> {
    if (recorded.by !== undefined || recorded.next === undefined) return undefined;
    const output = await this.#resolve(recorded.output);
    const input: EngineInput = {
      kind: "outcome",
      step: recorded.step,
      attempt: recorded.attempt,
      outcome: { status: "completed", output },
      durationMs: recorded.durationMs,
      ...(recorded.wishes === undefined ? {} : { wishes: recorded.wishes }),
    };
    const events = await this.#ask(state, input, recorded.atMs);
    const today = events.find((event) => event.type === "step_completed");
    if (today?.next === recorded.next) return undefined;
    return {
      recorded: { type: recorded.type, step: recorded.step, next: recorded.next },
      today: { type: today?.type ?? null, next: today?.next ?? null },
    };
  }

  async #ask(state: TaskState, input: EngineInput, nowMs: number): Promise<readonly EngineEvent[]> {
    for (;;) {
      const decided = decide(state, input, this.#context(Math.max(nowMs, state.atMs)));
      if ("events" in decided) return decided.events;
      for (const ref of decided.needs) this.#blobs.set(ref.key, await this.#shelf.get(ref));
    }
  }

  #context(nowMs: number): DecideContext {
    return {
      nowMs,
      random: this.#services.random,
      blob: (ref: BlobRef) => this.#blobs.get(ref.key),
      templates: this.#templates,
      memoryFraction: 0,
      memoryBytes: 0,
      sleepMsMax: Infinity,
    };
  }

  async #resolve(ref: Extract<EngineEvent, { type: "step_completed" }>["output"]): Promise<JsonValue> {
    return "inline" in ref ? ref.inline : this.#shelf.get(ref.blob);
  }
}

/** What is compared of an event; `undefined` for one that `advance` does not choose. */
function project(event: EngineEvent): JsonObject | undefined {
  const fields = COMPARED[event.type];
  const record = fields === undefined ? undefined : recordOf(event);
  if (fields === undefined || record === undefined) return undefined;
  return Object.fromEntries([
    ["type", event.type],
    ...fields.map((field) => [field, record[field] ?? null]),
  ]) as JsonObject;
}

/** Where the compared fields stand; `undefined` for an event that something else than `advance` may have chosen. */
function recordOf(event: EngineEvent): JsonObject | undefined {
  if (event.type === "decision_made") {
    const { agent, type, subject = null, confidence = null } = event.decision;
    return agent === "atlas" && ADVANCED.has(type) ? { agent, decision: type, subject, confidence } : undefined;
  }
  if (event.type === "question_opened") {
    const { kind, phase = null } = event.question;
    return kind === "low_confidence" ? { kind, phase } : undefined;
  }
  return event as unknown as JsonObject;
}
