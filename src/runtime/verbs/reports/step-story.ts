/** Folds the records of one step, in order, into its attempts, turns, calls, sub-steps and progress. */
import type { JsonValue } from "../../../base/json.js";
import type { EngineEvent, EventOf, FailureDisposition } from "../../../engine/model/events.js";
import type { ValueRef } from "../../../engine/model/value-ref.js";
import type { AttemptView, CallView, StepDetailView, SubstepView, TurnView } from "../../views/step-views.js";
import { describeEvent } from "../../views/event-text.js";
import { formatTime, viewFailure, viewUsage } from "../../views/views.js";

type Open<T> = { -readonly [K in keyof T]: T[K] };

/** Events that are only told, in words. */
const SAID: ReadonlySet<EngineEvent["type"]> = new Set(["milestone_reached", "progress_reported"]);

export class StepStory {
  readonly #attempts: Open<AttemptView>[] = [];
  readonly #turns: TurnView[] = [];
  readonly #calls = new Map<string, Open<CallView>>();
  readonly #substeps = new Map<string, Open<SubstepView>>();
  readonly #said: { readonly at: string; readonly text: string }[] = [];
  readonly #files = new Map<string, StepDetailView["files"][number]>();

  constructor(
    private readonly step: string,
    private readonly resolve: (ref: ValueRef) => Promise<JsonValue>,
  ) {}

  /** Its owner died: what was open ended with it. Units: when that owner was heard of last, in ms. */
  endOpen(atMs: number): void {
    this.#end(atMs, "crashed");
  }

  async add(event: EngineEvent): Promise<void> {
    if (!("step" in event) || event.step !== this.step) return;
    if (SAID.has(event.type)) this.#said.push({ at: formatTime(event.atMs), text: this.#describe(event) });
    switch (event.type) {
      case "step_intended":
        this.#intend(event);
        return;
      case "step_completed":
        this.#complete(event);
        return;
      case "step_failed":
        this.#fail(event);
        return;
      case "step_cancelled":
        this.#end(event.atMs, "cancelled", { then: event.reason });
        return;
      default:
        await this.#addWork(event);
    }
  }

  view(): Pick<StepDetailView, "attempts" | "turns" | "calls" | "substeps" | "said" | "files"> {
    return {
      attempts: this.#attempts,
      turns: this.#turns,
      calls: [...this.#calls.values()],
      substeps: [...this.#substeps.values()],
      said: this.#said,
      files: [...this.#files.values()],
    };
  }

  /** Without the step's own name before it: there is no other. */
  #describe(event: EngineEvent): string {
    const text = describeEvent(event);
    return text.startsWith(this.step) ? text.slice(this.step.length).replace(/^[: ]+/, "") : text;
  }

  #intend({ attempt, atMs }: EventOf<"step_intended">): void {
    this.#attempts.push({ attempt, started_at: formatTime(atMs), status: "open" });
  }

  #complete({ atMs, stderr, by, saved = [] }: EventOf<"step_completed">): void {
    this.#end(atMs, "completed", {
      ...(stderr === undefined ? {} : { stderr }),
      ...(by === undefined ? {} : { then: `by ${by}` }),
    });
    for (const { file, sizeBytes, sha256 } of saved) this.#files.set(file, { file, size: sizeBytes, sha256 });
  }

  #fail({ atMs, step, error, disposition }: EventOf<"step_failed">): void {
    const written = error.details?.["stderr"];
    this.#end(atMs, "failed", {
      error: viewFailure(step, error),
      ...(typeof written === "string" && written !== "" ? { stderr: written } : {}),
      then: describeDisposition(disposition),
    });
  }

  #end(atMs: number, status: string, more: Partial<AttemptView> = {}): void {
    const last = this.#attempts.at(-1);
    if (last?.status !== "open") return;
    const duration = Math.max(0, atMs - Date.parse(last.started_at)) / 1000;
    Object.assign(last, { status, ended_at: formatTime(atMs), duration, ...more });
  }

  async #addWork(event: EngineEvent): Promise<void> {
    const at = formatTime(event.atMs);
    switch (event.type) {
      case "turn_recorded": {
        const { turn, usage, fallback } = event;
        const answer = await this.resolve(event.value);
        const spent = usage === undefined ? {} : { usage: viewUsage(usage) };
        this.#turns.push({ turn, at, answer, ...spent, ...(fallback && { answered_by: fallback.answered }) });
        return;
      }
      case "tool_intended": {
        const { call, name, effects } = event;
        this.#calls.set(call, { call, name, at, effects, input: await this.resolve(event.value) });
        return;
      }
      case "tool_completed":
        end(this.#calls.get(event.call), event.atMs, { output: await this.resolve(event.value) });
        return;
      case "substep_intended":
        this.#substeps.set(event.name, { name: event.name, at, status: "open" });
        return;
      case "substep_completed":
        end(this.#substeps.get(event.name), event.atMs, {
          status: "completed",
          output: await this.resolve(event.value),
        });
        return;
      case "substep_failed":
        end(this.#substeps.get(event.name), event.atMs, { status: "failed", error: event.failure.message });
        return;
      default:
    }
  }
}

function end<T extends { readonly at: string }>(open: T | undefined, atMs: number, more: Partial<T>): void {
  if (open === undefined) return;
  Object.assign(open, { duration: Math.max(0, atMs - Date.parse(open.at)) / 1000, ...more });
}

function describeDisposition(disposition: FailureDisposition): string {
  switch (disposition.action) {
    case "retry":
      return `tried again at ${formatTime(disposition.atMs)}`;
    case "pause_until":
      return `paused until ${formatTime(disposition.atMs)}`;
    case "route":
      return `continues with ${disposition.to}`;
    case "restart":
      return "started again";
    case "continue":
      return "the workflow continues without it";
    case "ask":
      return "a person is asked";
    default:
      return "";
  }
}
