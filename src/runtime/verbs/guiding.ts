/**
 * `guide`: a person says something to a task under way, for what begins after it.
 *
 * It is left as every request is, sealed and exclusively created. A living owner takes it; where nobody runs the task it
 * stays, and whoever goes on takes it before anything begins. What was taken is the engine's (engine/rules/questions/guidance.ts).
 */
import { writeCommand } from "../../base/command-text.js";
import { SplashdownError } from "../../base/errors.js";
import { LIMITS } from "../../base/limits.js";
import { showControls } from "../../base/plain-text.js";
import { findNearest } from "../../definition/faults/nearest.js";
import { definitionPathOf, nameOfPath } from "../../engine/model/identity.js";
import { indexDefinition, requireTask } from "../../engine/model/lookup.js";
import type { TaskState } from "../../engine/model/state.js";
import type { GuideOptions, GuideView } from "../views/verb-views.js";
import { findTask } from "../tasks/finding.js";
import { readState, whileOpen } from "../tasks/reading.js";
import type { Services } from "../services/services.js";
import { formatTime } from "../views/views.js";
import { chooseGoingOn } from "../views/program-functions.js";
import { leaveRequest, type ControlDeps } from "../mailbox/control.js";
import { awaitTaken } from "./messages.js";

/** Errors: TASK_NOT_FOUND, TASK_NOT_RUNNING when it has ended for good, USAGE_INVALID for a text or a step that cannot be. */
export async function guideTask(services: Services, options: GuideOptions): Promise<GuideView> {
  const text = requireText(options.text);
  const found = await findTask(services, options.task, "act");
  return whileOpen(found, async (task) => {
    const { folded, ...opened } = await services.audit.watch({ task, verb: "guide" }, readState(services, task));
    const { state } = folded;
    requireUnended(task.name, state);
    const path = options.step === undefined ? undefined : requirePlace(state, options.step);
    const by = options.by ?? services.environment.user;
    const at = formatTime(services.clock.nowMs());
    const control: ControlDeps = { ...services, ...opened };
    const place = path === undefined ? {} : { path };
    const { about, id } = await leaveRequest(control, { kind: "guidance", text, by, at, ...place });
    const details = { guidance: id, by, ...place };
    await services.audit.note(opened, { event: "guided", verb: "guide", details });
    const { state: owner } = await task.ownerState();
    const isTaken = owner === "alive" && (await awaitTaken(services, task, about)) === "taken";
    return {
      task: task.name,
      guidance: id,
      text,
      by,
      at,
      ...(path === undefined ? {} : { step: path }),
      taken: isTaken,
      ...(isTaken ? {} : { command: chooseGoingOn(state.task, writeCommand("resume", [task.name])) }),
    };
  });
}

function requireText(given: string): string {
  const text = showControls(given).trim();
  if (text === "") throw new SplashdownError("USAGE_INVALID", "guidance needs a text");
  const { guidanceCharsMax: most } = LIMITS;
  if (text.length <= most) return text;
  const told = `guidance of ${text.length} characters is over the limit of ${most}: it goes into every prompt that follows; say less, or put it in a file and name that`;
  throw new SplashdownError("USAGE_INVALID", told, { details: { charsMax: most } });
}

function requireUnended(task: string, state: TaskState): void {
  if (state.task === undefined) {
    const text = `task ${task} cannot be given guidance: nothing has begun in it`;
    throw new SplashdownError("TASK_NOT_RUNNING", text, { details: { task } });
  }
  const { status, resumable } = state.task;
  if (status !== "running" && !resumable) {
    const text = `task ${task} cannot be given guidance: it is ${status}, and nothing begins in it any more; a fork of it can`;
    throw new SplashdownError("TASK_NOT_RUNNING", text, { details: { task } });
  }
  if (state.guidance.length < LIMITS.guidanceEntriesMax) return;
  const text = `task ${task} was given guidance ${state.guidance.length} times already, which is the limit`;
  throw new SplashdownError("USAGE_INVALID", text, { details: { task, entriesMax: LIMITS.guidanceEntriesMax } });
}

/** The path of a step or scope, by its path or its name. Errors: USAGE_INVALID. */
function requirePlace(state: TaskState, named: string): string {
  const paths = [...indexDefinition(requireTask(state).definition).places.keys()];
  if (paths.includes(definitionPathOf(named))) return named;
  const fitting = paths.filter((path) => nameOfPath(path) === named);
  const [only, second] = fitting;
  if (only !== undefined && second === undefined) return only;
  if (only !== undefined)
    throw new SplashdownError("USAGE_INVALID", `--step ${named}: several steps have that name: ${fitting.join(", ")}`);
  const nearest = findNearest(named, [...paths, ...paths.map(nameOfPath)]);
  const advice = nearest === undefined ? "" : `; did you mean ${nearest}?`;
  throw new SplashdownError("USAGE_INVALID", `--step ${named}: the workflow has no such step${advice}`);
}
