/**
 * The one way of every input: decide → large values to blobs → fold and append → durable → look for a higher epoch → act.
 *
 * Owns: that order. Deciding and folding happen one input at a time; waiting for the disk does not hold up the next one,
 * so steps that end together share one sync. What acting means is the runner's.
 *
 * What may start is asked again as long as there is something, and no longer than any task could need: an engine that
 * chooses for ever is a mistake of ours, and is named instead of hanging.
 *
 * X3: nothing is acted on, or announced, before its event is durable and the epoch was looked at. X5: once ended, nothing more is
 * decided, folded, appended or acted on, and whoever still waits is refused.
 */
import { SplashdownError } from "../../base/errors.js";
import type { JsonValue } from "../../base/json.js";
import { LIMITS } from "../../base/limits.js";
import { decide } from "../decide.js";
import type { EngineEvent, EventOf } from "../model/events.js";
import { evolve } from "../fold/evolve.js";
import { stateOf } from "../fold/restore-state.js";
import type { DecideContext, EngineInput, RunLimits, TemplateEngine } from "../model/input.js";
import type { EnginePorts } from "../model/ports.js";
import type { TaskState } from "../model/state.js";
import { Mailbox } from "./mailbox.js";
import type { LargeValues } from "./values.js";

export interface DecisionsDeps {
  readonly state: TaskState;
  readonly ports: EnginePorts;
  /** The task's clock less the wall. */
  readonly aheadMs: () => number;
  readonly templates: TemplateEngine;
  readonly limits: RunLimits;
  readonly values: LargeValues;
  /** False while nothing new may start. */
  readonly mayStart: () => boolean;
  /** Captures at once; the answer must be waited for before anything is acted on. */
  readonly capture: (event: EventOf<"checkpoint_recorded">) => Promise<void> | undefined;
  /** Called after the events of an input were folded. */
  readonly onFolded: (input: EngineInput, count: number) => void;
  readonly act: (event: EngineEvent) => void;
}

interface Batch {
  readonly events: EngineEvent[];
  /** Journal number of the first event; the others follow. */
  readonly firstN: number;
  readonly required: Promise<void>[];
}

interface Untold extends Pick<Batch, "events" | "firstN"> {
  isAllowed: boolean;
}

export class Decisions {
  readonly #deps: DecisionsDeps;
  readonly #mailbox = new Mailbox();
  /** Inputs on their way after which something may start. */
  #freeingNext = 0;
  #nextLook: Promise<void> | undefined;
  /** What is durable and not announced yet. */
  readonly #untold: Untold[] = [];
  #ended: { readonly error: unknown } | undefined;

  constructor(deps: DecisionsDeps) {
    this.#deps = deps;
  }

  get isEnded(): boolean {
    return this.#ended !== undefined;
  }

  /** Nothing goes this way any more; later inputs, and those on their way, are refused with the error. */
  end(error: unknown): void {
    this.#ended ??= { error };
  }

  /** Throws what ended the run, when it is over. */
  requireGoing(): void {
    if (this.#ended !== undefined) throw this.#ended.error;
  }

  /** Takes one input all the way; resolves with what was recorded and acted on. */
  async submit(input: EngineInput): Promise<readonly EngineEvent[]> {
    const frees = MAY_FREE.has(input.kind) ? 1 : 0;
    this.#freeingNext += frees;
    const batch = await this.#mailbox.run(() => {
      this.#freeingNext -= frees;
      return this.#decideAndFold(input);
    });
    if (batch.events.length > 0) await this.#settle(batch);
    return batch.events;
  }

  async #decideAndFold(input: EngineInput): Promise<Batch> {
    const { state, mayStart, onFolded } = this.#deps;
    const batch: Batch = { events: [], firstN: state.position + 1, required: [] };
    await this.#foldOnce(input, batch);
    // What was said before a task goes on counts for the first thing that begins: it stands behind, and frees in its turn.
    const isFollowed = input.kind === "resumed" && this.#freeingNext > 0;
    if (MAY_FREE.has(input.kind) && !isFollowed) {
      for (let rounds = 1; mayStart() && (await this.#foldOnce({ kind: "advance" }, batch)) > 0; rounds += 1)
        if (rounds >= LIMITS.advanceRoundsMax) throw endless(state, batch.events.at(-1), "what may start");
    }
    onFolded(input, batch.events.length);
    return batch;
  }

  async #foldOnce(input: EngineInput, batch: Batch): Promise<number> {
    const events = await this.#decide(input);
    for (const event of events) await this.#fold(event, batch);
    return events.length;
  }

  async #decide(input: EngineInput): Promise<readonly EngineEvent[]> {
    const { state, values } = this.#deps;
    // Held until the choice is made: a choice may need more than is kept at hand.
    const loaded = new Map<string, JsonValue>();
    const context = this.#createContext(loaded);
    for (;;) {
      this.requireGoing();
      const decided = decide(state, input, context);
      if ("events" in decided) return decided.events;
      const wanted = decided.needs.filter(({ key }) => !loaded.has(key));
      if (wanted.length === 0) throw endless(state, undefined, `values for ${input.kind}`);
      for (const ref of wanted) loaded.set(ref.key, await values.load(ref));
    }
  }

  #createContext(loaded: ReadonlyMap<string, JsonValue>): DecideContext {
    const { state, ports, aheadMs, templates, values, limits } = this.#deps;
    const memory = ports.memory();
    return {
      nowMs: Math.max(ports.clock.nowMs(), state.atMs),
      aheadMs: aheadMs(),
      random: ports.random,
      blob: (ref) => loaded.get(ref.key) ?? values.peek(ref),
      templates,
      memoryFraction: memory.fraction,
      memoryBytes: memory.residentBytes,
      ...limits,
    };
  }

  async #fold(decided: EngineEvent, batch: Batch): Promise<void> {
    const { state, ports, values, capture } = this.#deps;
    const event = await values.externalise(decided);
    this.requireGoing();
    // A state that returns is folded from what was decided; the record may name it as a blob.
    evolve(state, stateOf(decided) === undefined ? event : decided);
    ports.events.append([event]);
    batch.events.push(event);
    const required = event.type === "checkpoint_recorded" ? capture(event) : undefined;
    if (required !== undefined) batch.required.push(required);
  }

  async #settle({ events, firstN, required }: Batch): Promise<void> {
    const { state, ports, act } = this.#deps;
    await ports.events.durable();
    this.requireGoing();
    for (const [at, event] of events.entries()) ports.observe(event, state, firstN + at);
    const untold: Untold = { events, firstN, isAllowed: false };
    this.#untold.push(untold);
    try {
      await Promise.all(required);
      // The task is closed only when no snapshot file is on its way: its record belongs into this part of the history.
      if (events.some((event) => event.type === "task_closed")) await ports.checkpoints.idle();
      if (events.some(needsLook)) await this.#look();
    } catch (error) {
      this.#untold.splice(this.#untold.indexOf(untold), 1);
      this.#announce();
      throw error;
    }
    untold.isAllowed = true;
    this.#announce();
    for (const event of events) {
      this.requireGoing();
      act(event);
    }
  }

  /** In order: those of a batch that still waits for its look hold up what was recorded after them. */
  #announce(): void {
    const { state, ports } = this.#deps;
    while (this.#untold[0]?.isAllowed === true) {
      const { events, firstN } = this.#untold.shift() as Untold;
      for (const [at, event] of events.entries()) ports.announce?.(event, state, firstN + at);
    }
  }

  /** One look serves all that ask for it before it begins: what they ask it for is durable by then. */
  #look(): Promise<void> {
    this.#nextLook ??= Promise.resolve().then(() => {
      this.#nextLook = undefined;
      return this.#deps.ports.events.confirm();
    });
    return this.#nextLook;
  }
}

function endless(state: TaskState, last: EngineEvent | undefined, what: string): SplashdownError {
  const task = state.task?.name ?? "?";
  const subject = last === undefined ? undefined : subjectOf(last);
  return new SplashdownError(
    "INTERNAL",
    `the engine asks for ${what} of task ${task} without end${subject === undefined ? "" : `, last for ${subject}`}`,
    {
      details: {
        task,
        ...(subject === undefined ? {} : { step: subject }),
        ...(last === undefined ? {} : { event: last.type }),
      },
    },
  );
}

/** The step or scope that an event is about. */
function subjectOf(event: EngineEvent): string | undefined {
  if ("step" in event && typeof event.step === "string") return event.step;
  return "path" in event && typeof event.path === "string" ? event.path : undefined;
}

/** Inputs after which something new may start. What a step reports on its way frees nothing. */
const MAY_FREE: ReadonlySet<EngineInput["kind"]> = new Set<EngineInput["kind"]>([
  "start",
  "resumed",
  "outcome",
  "message",
  "due",
  "answered_before",
  "ask",
]);

/** Events that are followed by an act that cannot be taken back. */
const IRREVERSIBLE: ReadonlySet<EngineEvent["type"]> = new Set<EngineEvent["type"]>([
  "task_resumed",
  "task_closed",
  "delivered",
  "step_intended",
  "step_spawned",
  "server_spawned",
  "substep_intended",
  "tool_intended",
]);

function needsLook(event: EngineEvent): boolean {
  const isDelivery = event.type === "step_completed" || event.type === "scope_left";
  return IRREVERSIBLE.has(event.type) || (isDelivery && event.saved !== undefined);
}
