/** `debug replay`: tells a task's story again, up to a checkpoint or a step; with `live` forks there and runs the fork. */
import { SplashdownError } from "../../base/errors.js";
import type { EngineEvent } from "../../engine/model/events.js";
import { readHistory } from "../../journal/history.js";
import type { ReplayOptions, ReplayView } from "../views/past-views.js";
import type { RunView } from "../views/task-views.js";
import { findCheckpoint, type FoundCheckpoint } from "../tasks/finding.js";
import { forkTask } from "./fork-verb.js";
import { noteRead } from "./inspection.js";
import { replayEvents } from "./replay.js";
import { requireFunctionsHere } from "../session/required-functions.js";
import { resumeTask } from "./resume-verb.js";
import type { Services } from "../services/services.js";
import { reloadWorkflow } from "../tasks/workflow-loading.js";

/** Errors: those of finding a checkpoint, of replaying, of `fork` and `resume`; USAGE_INVALID for a step that never ended. */
export async function replayCheckpoint(
  services: Services,
  reference: string,
  options: ReplayOptions = {},
): Promise<ReplayView> {
  const found = await findCheckpoint(services, reference, { verb: "debug replay" });
  try {
    if (options.live === true) return await runAgain(services, found, options);
    await noteRead(services, found, "debug replay");
    const { task, vault, snapshots, checkpoint } = found;
    const end = options.until === undefined ? undefined : await findEnd(found, options.until);
    const to = end?.n ?? checkpoint.position;
    const replay = await replayEvents(services, { task, vault, snapshots, until: to });
    return {
      task: task.name,
      checkpoint_id: checkpoint.checkpointId,
      from: replay.story[0]?.n ?? 1,
      to,
      ...(end === undefined ? {} : { until: end.step }),
      ...replay,
    };
  } finally {
    await found.task.close();
  }
}

/** Where a step ended: the last time up to the checkpoint, else the first time after it. */
async function findEnd(
  { task, vault, checkpoint }: FoundCheckpoint,
  step: string,
): Promise<{ n: number; step: string }> {
  const ends: { n: number; step: string }[] = [];
  const { records } = await readHistory({ task, vault });
  for (const record of records) {
    if (record.kind !== "completion" && record.kind !== "failure") continue;
    const id = endedStep(record.decode());
    if (id !== undefined && isNamed(id, step)) ends.push({ n: record.n, step: id });
  }
  const end = ends.findLast(({ n }) => n <= checkpoint.position) ?? ends[0];
  if (end !== undefined) return end;
  throw new SplashdownError("USAGE_INVALID", `no step ${step} has ended in task ${task.name}`, {
    details: { task: task.name, step },
  });
}

function endedStep(event: EngineEvent): string | undefined {
  return event.type === "step_completed" || event.type === "step_failed" ? event.step : undefined;
}

/** By identity, path or name. */
function isNamed(id: string, step: string): boolean {
  const path = id.slice(0, id.lastIndexOf("@"));
  return id === step || path === step || path.endsWith(`/${step}`);
}

async function runAgain(services: Services, found: FoundCheckpoint, options: ReplayOptions): Promise<ReplayView> {
  const { task, checkpoint, state } = found;
  if (state.task !== undefined) {
    const { workflow } = await reloadWorkflow(services, state.task);
    await requireFunctionsHere(services, { name: task.name, origin: state.task }, workflow);
  }
  const fork = await forkTask(services, task.name, { from: String(checkpoint.seq) });
  const { until, signal, answers, skipGates } = options;
  const result = (await resumeTask(services, {
    task: fork.task,
    ...(until === undefined ? {} : { breakAt: [until] }),
    ...(answers === undefined ? {} : { answers }),
    ...(skipGates === undefined ? {} : { skipGates }),
    ...(signal === undefined ? {} : { signal }),
  })) as RunView;
  const { checkpointId, position } = checkpoint;
  return {
    task: task.name,
    checkpoint_id: checkpointId,
    from: position,
    to: position,
    story: [],
    differences: [],
    live: { fork, result },
  };
}
