/** How a task that runs in this process stands, from its state in memory. Pure. */
import type { StepId } from "../../base/ids.js";
import { nameOfPath } from "../../engine/model/identity.js";
import type { QuestionEntry, ScopeEntry, StepEntry, TaskState } from "../../engine/model/state.js";
import type {
  RunningLoopView,
  RunningPhaseView,
  RunningRetryView,
  RunningStepView,
  RunningView,
} from "../views/face-views.js";
import { formatTime, viewMetrics } from "../views/views.js";

/**
 * Shape: without the steps that may not begin yet. Units: O(phases + what is open), whatever the task has done.
 */
export function viewRunning(
  state: TaskState,
  nowMs: number,
  isHeldBack: (step: StepId) => boolean = () => false,
): RunningView {
  const { task, totals } = state;
  const metrics = viewMetrics(state);
  const checkpoint = state.checkpoints.at(-1);
  const open = [...state.unsettled].flatMap((id) => state.questions.get(id) ?? []).filter(isOpen);
  const asked = new Map(open.map(({ step, text }) => [step, text]));
  return {
    task: task?.name ?? "",
    workflow: task?.definition.name ?? "",
    metrics: { ...metrics, elapsed_time: (totals.elapsedMs + Math.max(0, nowMs - state.atMs)) / 1000 },
    phases: viewRunningPhases(state),
    phases_to_come: listPhasesToCome(state),
    retries: [...state.waiting].flatMap((id) => viewRetry(state.steps.get(id))),
    loops: [...state.scopes.values()].flatMap((scope) => viewLoop(scope, state)),
    steps: [...new Set([...state.open, ...asked.keys()])].flatMap((id) => {
      const step = id === undefined ? undefined : state.steps.get(id);
      return step === undefined || isHeldBack(step.id) ? [] : [viewRunningStep(step, asked.get(step.id))];
    }),
    steps_done: totals.steps,
    blocked: state.blocked.size,
    ...(checkpoint === undefined
      ? {}
      : { checkpoint: { seq: checkpoint.seq, trigger: checkpoint.trigger, at: formatTime(checkpoint.atMs) } }),
    open_questions: open.length,
  };
}

function viewRunningPhases({ phases, evaluations }: TaskState): RunningPhaseView[] {
  const scores = new Map(evaluations.map(({ path, score }) => [path, score]));
  return [...phases.values()].map(({ path, name, number, status, iteration, confidence }) => {
    const score = scores.get(path);
    return {
      name,
      number,
      status,
      iteration,
      ...(confidence === undefined ? {} : { confidence }),
      ...(score === undefined ? {} : { score }),
    };
  });
}

/** The names of the phases that have not started; none for a goal, whose phases are planned later. */
function listPhasesToCome({ task, phases }: TaskState): string[] {
  const root = task?.definition.root;
  if (root?.scope !== "phases") return [];
  return root.children.flatMap(({ path, name }) => (phases.has(path) ? [] : [name]));
}

function viewRetry(step: StepEntry | undefined): RunningRetryView[] {
  if (step?.status !== "waiting_retry" || step.retryAtMs === undefined) return [];
  const { id, name, phase, attempt, retryAtMs, error } = step;
  const at = formatTime(retryAtMs);
  const why = error === undefined ? {} : { error: error.message };
  return [{ step: id, name, phase, attempt: attempt + 1, at, ...why }];
}

function viewLoop({ path, data }: ScopeEntry, { phases }: TaskState): RunningLoopView[] {
  if (data.scope !== "for_each") return [];
  const { count, next, running, blocked, failed } = data;
  const phase = [...phases.values()].findLast((each) => path.startsWith(`${each.path}/`))?.number ?? 0;
  return [
    {
      path,
      name: nameOfPath(path),
      phase,
      count,
      done: Math.max(0, next - running - blocked),
      failed,
      under_way: running,
    },
  ];
}

const isOpen = ({ status }: QuestionEntry): boolean => status === "open";

function viewRunningStep(step: StepEntry, asks: string | undefined): RunningStepView {
  const confidence = step.confidenceHistory.at(-1);
  return {
    step: step.id,
    name: step.name,
    phase: step.phase,
    attempt: step.attempt,
    started_at: formatTime(step.intendedAtMs),
    ...step.progress,
    ...(confidence === undefined ? {} : { confidence }),
    ...(asks === undefined ? {} : { asks }),
  };
}
