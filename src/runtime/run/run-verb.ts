/**
 * `run`: a new task, or the one crashed task of the same definition and inputs, taken up and said loudly.
 *
 * An existing name is never reused in silence: living → OWNER_ALIVE; crashed → taken up; waiting, paused or failed →
 * named with the command; finished → its result. Source: DESIGN section 10, FAULTS 34.
 */
import { SplashdownError } from "../../base/errors.js";
import type { JsonObject } from "../../base/json.js";
import type { EffectiveSettings } from "../../definition/settings/settings.js";
import type { LoadedWorkflow } from "../../definition/files/loaded-workflow.js";
import type { TaskState } from "../../engine/state/state.js";
import { requireOwnerGone } from "../../recovery/liveness.js";
import type { TaskStore } from "../../store/contract.js";
import { conductNew, conductOn, type ConductOptions } from "./conduct.js";
import type { RunView } from "../task-views.js";
import type { RunOptions } from "../verb-views.js";
import { requireNotTrashed } from "../finding.js";
import { answerOpenQuestions, parseUnknownFlags, requireKnownSteps } from "../people/given-answers.js";
import { describeDifference, findInterrupted, isToTakeUp, type Candidate } from "./interrupted.js";
import { isUnborn } from "../keys/key-access.js";
import { breakpointsOf } from "./breakpoints.js";
import { deriveStatus, readState, whileOpen } from "../reading.js";
import { presetsOf, requireKnownGates } from "../people/presets.js";
import { viewRun } from "./run-view.js";
import { computeTaskName } from "./task-name.js";
import type { Services } from "../services.js";
import { prepareWorkflow } from "../workflow-loading.js";

interface Prepared extends ConductOptions {
  readonly workflow: LoadedWorkflow;
  readonly settings: EffectiveSettings;
  readonly inputs: JsonObject;
  readonly options: RunOptions;
}

export async function runWorkflow(services: Services, options: RunOptions): Promise<RunView> {
  const { workflow, settings, inputs } = await prepareWorkflow(services, options);
  // Refused before anything is made.
  breakpointsOf({ workflow, breakAt: options.breakAt });
  const prepared: Prepared = {
    workflow,
    settings,
    inputs,
    options,
    unknown: parseUnknownFlags(options.unknown),
    presets: presetsOf(options),
    wait: options.wait,
    signal: options.signal,
    breakAt: options.breakAt,
    ...(options.onUnknown === undefined ? {} : { onUnknown: options.onUnknown }),
  };
  requireKnownGates(workflow.definition, prepared.presets);
  if (options.task !== undefined) return runNamed(services, options.task, prepared);
  const crashed = options.fresh === true ? [] : await findInterrupted(services, prepared);
  const [only, second] = crashed;
  if (second !== undefined) throw ambiguous(crashed, prepared);
  if (only !== undefined) return takeUp(services, only, prepared);
  return startNew(services, prepared);
}

async function runNamed(services: Services, name: string, prepared: Prepared): Promise<RunView> {
  const before = await services.store.task(name);
  const task = before === undefined ? await createPlace(services, name) : undefined;
  if (task !== undefined) return whileOpen(task, () => conductNew(services, { ...prepared, task }));
  const existing = before ?? (await services.store.task(name));
  if (existing === undefined) {
    await requireNotTrashed(services, name);
    throw new SplashdownError("TASK_NAME_INVALID", `the name ${name} is taken by something that is no task`, {
      details: { task: name },
    });
  }
  return whileOpen(existing, async () => {
    if (await isUnborn(existing)) return conductNew(services, { ...prepared, task: existing });
    const owner = await existing.ownerState();
    if (prepared.options.fresh === true) throw nameTaken(name);
    const { folded, ...opened } = await readState(services, existing);
    if (folded.state.task === undefined) return takeUp(services, { ...opened, state: folded.state }, prepared);
    requireSame(folded.state, prepared);
    const status = deriveStatus(folded.state, owner.state);
    if (status === "running") await requireOwnerGone({ task: existing, clock: services.clock, takeOver: true });
    if (
      status === "running" ||
      status === "unclear" ||
      (await isToTakeUp(opened, folded.state, services.clock.nowMs()))
    ) {
      return takeUp(services, { ...opened, state: folded.state }, prepared);
    }
    return viewRun(services, {
      opened,
      state: folded.state,
      how: "finished_before",
      notices: describeStanding(name, folded.state),
    });
  });
}

function nameTaken(name: string): SplashdownError {
  return new SplashdownError(
    "USAGE_INVALID",
    `there is a task ${name} already; start afresh under another name, or leave --task out`,
    { details: { task: name, verb: "run" } },
  );
}

function describeStanding(name: string, state: TaskState): string[] {
  const status = state.task?.status ?? "running";
  if (status === "done" || status === "partial")
    return [`task ${name} has ended; nothing ran. Start afresh with another --task`];
  return [`task ${name} is ${status}; nothing ran`];
}

function requireSame(state: TaskState, prepared: Prepared): void {
  const difference = describeDifference(state.task, prepared);
  if (difference === undefined) return;
  const name = state.task?.name ?? "";
  throw new SplashdownError(
    "WORKFLOW_MISMATCH",
    `task ${name} was started with ${difference}; go on with: splashdown resume ${name}, or choose another --task`,
    {
      details: { task: name, file: prepared.workflow.file ?? "FILE", difference },
    },
  );
}

function ambiguous(candidates: readonly Candidate[], prepared: Prepared): SplashdownError {
  const names = candidates.map(({ task }) => task.name);
  return new SplashdownError(
    "TASK_AMBIGUOUS",
    `${names.length} interrupted tasks of this workflow and these inputs fit: ${names.join(", ")}; go on with one: splashdown resume NAME, or start afresh with --new`,
    { details: { tasks: names, file: prepared.workflow.file ?? "FILE" } },
  );
}

async function takeUp(services: Services, candidate: Candidate, prepared: Prepared): Promise<RunView> {
  const { state, ...opened } = candidate;
  const { task } = opened;
  services.log.info(`task ${task.name} was interrupted; it goes on where it stopped (start afresh with --new)`);
  const { options } = prepared;
  return whileOpen(task, async () => {
    requireKnownSteps(state, prepared.unknown);
    await answerOpenQuestions(
      services,
      { opened, state },
      {
        unknown: options.unknown,
        presets: prepared.presets,
      },
    );
    return conductOn(services, {
      ...prepared,
      opened,
      settings: state.task === undefined ? prepared.settings : sealedSettings(state, prepared.settings),
      by: "run",
      isToGoOn: (now) => isToTakeUp(opened, now, services.clock.nowMs()),
      byPerson: false,
      takeOver: false,
      acceptLoss: false,
      acceptedDefinition: false,
    });
  });
}

/** What was in force at the start of the task, as sealed there; keys it does not know yet are today's. */
export function sealedSettings(state: TaskState, today: EffectiveSettings): EffectiveSettings {
  const sealed = state.task?.settings as Partial<EffectiveSettings> | undefined;
  return sealed === undefined ? today : { ...today, ...sealed };
}

async function startNew(services: Services, prepared: Prepared): Promise<RunView> {
  const base = computeTaskName(prepared.workflow.definition.name, services.clock.nowMs());
  for (let attempt = 1; ; attempt += 1) {
    const task = await createPlace(services, attempt === 1 ? base : `${base}_${attempt}`);
    if (task !== undefined) return whileOpen(task, () => conductNew(services, { ...prepared, task }));
  }
}

/** The key first: a task's place is made only when it can be sealed. */
async function createPlace(services: Services, name: string): Promise<TaskStore | undefined> {
  await services.keys.ensureKey();
  return services.store.createTask(name);
}
