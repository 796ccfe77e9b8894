/**
 * One step in full, from the records of the journal: what it was given, each attempt, turns, calls, what came of it.
 *
 * Values stand as they were recorded, and secrets were taken out before that. Where the beginning of the history was
 * removed, or the step ran in the task that this one was forked from, the state tells what is left to tell.
 */
import { SplashdownError } from "../../../base/errors.js";
import { findNearest } from "../../../definition/faults/nearest.js";
import { currentStepId } from "../../../engine/model/lookup.js";
import type { StepEntry, TaskState } from "../../../engine/model/state.js";
import { findTask } from "../../tasks/finding.js";
import { readState, resolveValue, whileOpen, type OpenedTask } from "../../tasks/reading.js";
import type { Services } from "../../services/services.js";
import type { StepDetailView } from "../../views/step-views.js";
import { formatTime, viewFailure, viewUsage } from "../../views/views.js";
import { StepStory } from "./step-story.js";

/** `step`: an identity, a path, the end of a path, or a name. Errors: TASK_NOT_FOUND, STEP_NOT_FOUND, USAGE_INVALID, those of reading. */
export async function readStep(services: Services, reference: string, step: string): Promise<StepDetailView> {
  const task = await findTask(services, reference, "read");
  return whileOpen(task, async () => {
    const { folded, ...opened } = await services.audit.watch({ task, verb: "show" }, readState(services, task));
    const entry = requireStep(folded.state, step, task.name);
    await services.audit.note(opened, { event: "read", verb: "show", details: { step: entry.id } });
    const story = new StepStory(entry.id, (ref) => resolveValue(opened, ref));
    let lastMs = 0;
    for (const record of folded.history.records) {
      const event = record.decode();
      if (event.type === "task_resumed") story.endOpen(lastMs);
      lastMs = event.atMs;
      await story.add(event);
    }
    const { prunedBefore: from } = folded.history;
    return {
      task: task.name,
      ...(await viewEntry(opened, folded.state, entry)),
      ...story.view(),
      ...(from > 1 ? { history_from: from } : {}),
    };
  });
}

/** Its latest visit, where a place is named. Errors: STEP_NOT_FOUND; USAGE_INVALID where several places fit. */
function requireStep(state: TaskState, step: string, task: string): StepEntry {
  const steps = [...state.steps.values()];
  const named = steps.find(({ id }) => id === step);
  if (named !== undefined) return named;
  const exact = steps.filter(({ path }) => path === step);
  const fitting = exact.length > 0 ? exact : steps.filter(({ path }) => path.endsWith(`/${step}`));
  const paths = [...new Set(fitting.map(({ path }) => path))];
  const [path] = paths;
  if (path === undefined) throw stepNotFound(steps, step, task);
  if (paths.length > 1) {
    const shown = paths.slice(0, PATHS_SHOWN).join(", ");
    const more = paths.length > PATHS_SHOWN ? `, and ${paths.length - PATHS_SHOWN} more` : "";
    throw new SplashdownError("USAGE_INVALID", `several steps of task ${task} are called ${step}: ${shown}${more}`, {
      details: { task, step, verb: "show" },
    });
  }
  const current = currentStepId(state, path);
  return fitting.find(({ id }) => id === current) ?? (fitting.at(-1) as StepEntry);
}

const PATHS_SHOWN = 10;

function stepNotFound(steps: readonly StepEntry[], step: string, task: string): SplashdownError {
  const names = steps.flatMap(({ path, name }) => [name, path]);
  const nearest = findNearest(step, names);
  const meant = nearest === undefined ? "it may not have begun yet" : `did you mean ${nearest}?`;
  return new SplashdownError("STEP_NOT_FOUND", `no step ${step} has begun in task ${task}; ${meant}`, {
    details: { task, step },
  });
}

async function viewEntry(opened: OpenedTask, state: TaskState, entry: StepEntry) {
  const { endedAtMs, intendedAtMs, reason, confidence, output, usage } = entry;
  return {
    step: entry.id,
    path: entry.path,
    kind: entry.kind,
    status: entry.status,
    phase: entry.phase,
    effects: entry.effects,
    idempotency_key: entry.idempotencyKey,
    started_at: formatTime(intendedAtMs),
    ...(endedAtMs === undefined
      ? {}
      : { ended_at: formatTime(endedAtMs), duration: Math.max(0, endedAtMs - intendedAtMs) / 1000 }),
    ...(reason === undefined ? {} : { reason }),
    ...(confidence?.value === undefined ? {} : { confidence: confidence.value }),
    work: await resolveValue(opened, entry.work),
    ...(output === undefined ? {} : { output: await resolveValue(opened, output) }),
    ...(usage === undefined ? {} : { usage: viewUsage(usage) }),
    ...(entry.error === undefined ? {} : { error: viewFailure(entry.id, entry.error) }),
    visits: [...state.steps.values()]
      .filter(({ path, id }) => path === entry.path && id !== entry.id)
      .map(({ id }) => id),
  };
}
