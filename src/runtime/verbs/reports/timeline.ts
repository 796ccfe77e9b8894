/**
 * When the steps of a task ran: bars per step over time, phases, and marks for checkpoints, decisions and questions.
 *
 * Shape: a pure fold over the events, so that the picture of a task is the same wherever it is drawn. An attempt whose
 * owner died ends at the last record before the next owner came, as `crashed`.
 */
import type { EngineEvent, EventOf } from "../../../engine/model/events.js";
import { readHistory } from "../../../journal/history.js";
import type { TimelineMark, TimelineMarkKind, TimelineSpan, TimelineView } from "../../views/face-views.js";
import { findTask } from "../../tasks/finding.js";
import { openTask, whileOpen } from "../../tasks/reading.js";
import type { Services } from "../../services/services.js";
import { describeDecision, describeEvent } from "../../views/event-text.js";
import { formatTime } from "../../views/views.js";

/** Errors: TASK_NOT_FOUND, those of reading. */
export async function readTimeline(services: Services, reference: string): Promise<TimelineView> {
  const task = await findTask(services, reference, "read");
  return whileOpen(task, async () => {
    const { vault } = await services.audit.watch({ task, verb: "show" }, openTask(services, task));
    await services.audit.note({ task, vault }, { event: "read", verb: "show", details: { timeline: true } });
    const history = await readHistory({ task, vault });
    return { task: task.name, ...foldTimeline(history.records.map((record) => record.decode())) };
  });
}

interface Lane {
  readonly path: string;
  readonly phase: number;
  readonly spans: TimelineSpan[];
}

interface PhaseBar {
  readonly name: string;
  readonly number: number;
  readonly fromMs: number;
  toMs: number;
  confidence?: number;
}

export function foldTimeline(events: readonly EngineEvent[]): Omit<TimelineView, "task"> {
  const fold = new TimelineFold();
  for (const event of events) fold.add(event);
  return fold.view();
}

const MARKS: { readonly [T in EngineEvent["type"]]?: TimelineMarkKind } = {
  checkpoint_recorded: "checkpoint",
  question_opened: "question",
  task_resumed: "resumed",
  rolled_back: "rolled_back",
};

class TimelineFold {
  #workflow = "";
  #lastMs: number | undefined;
  readonly #working: { fromMs: number; toMs: number }[] = [];
  readonly #phases: PhaseBar[] = [];
  readonly #lanes = new Map<string, Lane>();
  readonly #open = new Map<string, { readonly fromMs: number; readonly attempt: number }>();
  readonly #marks: TimelineMark[] = [];

  add(event: EngineEvent): void {
    const mark = MARKS[event.type];
    const at = formatTime(event.atMs);
    if (mark !== undefined) this.#marks.push({ at, kind: mark, text: describeEvent(event) });
    if (event.decision !== undefined)
      this.#marks.push({ at, kind: "decision", text: describeDecision(event.decision) });
    if (event.type === "task_started") this.#workflow = event.definition.name;
    if (event.type === "task_started" || event.type === "task_resumed") this.#begin(event.atMs);
    const working = this.#working.at(-1);
    if (working !== undefined) working.toMs = event.atMs;
    this.#lastMs = event.atMs;
    this.#addStep(event);
    this.#addPhase(event);
  }

  view(): Omit<TimelineView, "task"> {
    const lastMs = this.#lastMs ?? 0;
    for (const step of this.#open.keys()) this.#close(step, lastMs, "open");
    return {
      workflow: this.#workflow,
      from: formatTime(this.#working[0]?.fromMs ?? lastMs),
      to: formatTime(lastMs),
      working: this.#working.map(({ fromMs, toMs }) => ({ from: formatTime(fromMs), to: formatTime(toMs) })),
      phases: this.#phases.map(({ fromMs, toMs, ...rest }) => ({
        ...rest,
        from: formatTime(fromMs),
        to: formatTime(toMs),
      })),
      lanes: [...this.#lanes].map(([step, lane]) => ({ step, ...lane })),
      marks: this.#marks,
    };
  }

  /** A new owner: what was open ended with the one before. */
  #begin(atMs: number): void {
    for (const step of this.#open.keys()) this.#close(step, this.#lastMs ?? atMs, "crashed");
    this.#working.push({ fromMs: atMs, toMs: atMs });
  }

  #addStep(event: EngineEvent): void {
    switch (event.type) {
      case "step_intended":
        this.#intend(event);
        return;
      case "step_completed":
        this.#close(event.step, event.atMs, "completed");
        return;
      case "step_failed":
        this.#close(event.step, event.atMs, "failed");
        return;
      case "step_cancelled":
        this.#close(event.step, event.atMs, "cancelled");
        return;
      case "node_skipped":
        this.#skip(event);
        return;
      default:
    }
  }

  /** A step that is not done stands in the list with a moment of its own. */
  #skip({ path, phase, kind, atMs }: EventOf<"node_skipped">): void {
    if (kind === undefined) return;
    const at = formatTime(atMs);
    this.#lanes.set(`${path} skipped ${at}`, {
      path,
      phase,
      spans: [{ from: at, to: at, attempt: 0, status: "skipped" }],
    });
  }

  #intend(event: EventOf<"step_intended">): void {
    const { step, path, phase, attempt, atMs } = event;
    if (!this.#lanes.has(step)) this.#lanes.set(step, { path, phase, spans: [] });
    this.#open.set(step, { fromMs: atMs, attempt });
  }

  #close(step: string, toMs: number, status: string): void {
    const open = this.#open.get(step);
    if (open === undefined) return;
    this.#open.delete(step);
    const { fromMs, attempt } = open;
    this.#lanes.get(step)?.spans.push({ from: formatTime(fromMs), to: formatTime(toMs), attempt, status });
  }

  #addPhase(event: EngineEvent): void {
    if (event.type === "scope_entered" && event.phase !== undefined) {
      const name = event.path.split("/").at(-1) ?? event.path;
      this.#phases.push({ name, number: event.phase, fromMs: event.atMs, toMs: event.atMs });
      return;
    }
    const current = this.#phases.at(-1);
    if (current === undefined) return;
    if (event.type === "scope_left" && event.phase !== undefined && event.phase === current.number) {
      current.toMs = event.atMs;
      if (event.confidence !== undefined) current.confidence = event.confidence;
    } else if (this.#isInside(current, event)) {
      current.toMs = event.atMs;
    }
  }

  /** While a phase's steps move, the phase goes on. */
  #isInside(current: PhaseBar, event: EngineEvent): boolean {
    return "step" in event && event.step !== undefined && this.#lanes.get(event.step)?.phase === current.number;
  }
}
