/** Folds scores and verdicts. The entry of an iteration is replaced with each score; the newest entries stand last. */
import type { StepId } from "../../base/ids.js";
import type { SavedFile } from "../model/value-ref.js";
import type { EventOf } from "../model/events.js";
import { countShort } from "./evolve-groups.js";
import { replaceData, storeOutput } from "./evolve-scopes.js";
import type { NodeDefinition, ScopeDefinition } from "../../definition/model/workflow.js";
import { listReporting } from "../model/group-report.js";
import { childPath, currentStepId, findScopeDefinition, phaseNumberOf, placeFile } from "../model/lookup.js";
import type { BestGroup, ChildEnd } from "../model/child-end.js";
import type { EvaluationEntry, ScopeEntry, ScopeFrontier, StepEntry, StepStatus, TaskState } from "../model/state.js";

export function recordScore(state: TaskState, event: EventOf<"score_recorded">): void {
  const found = findEvaluation(state, event.path, event.iteration);
  const before = found?.entry ?? { path: event.path, iteration: event.iteration, scores: {} };
  const score = Object.freeze({
    score: event.score,
    issues: event.issues,
    ...(event.feedback === undefined ? {} : { feedback: event.feedback }),
    ...(event.evidence === undefined ? {} : { evidence: event.evidence }),
    ...(event.spread === undefined ? {} : { spread: event.spread, judges: event.judges }),
  });
  put(state, found?.at, { ...before, scores: Object.freeze({ ...before.scores, [event.dimension]: score }) });
}

export function completeEvaluation(state: TaskState, event: EventOf<"evaluation_completed">): void {
  const found = findEvaluation(state, event.path, event.iteration);
  const before = found?.entry ?? { path: event.path, iteration: event.iteration, scores: {} };
  put(state, found?.at, { ...before, score: event.score, verdict: event.verdict, best: event.best });
  const scope = state.scopes.get(event.path);
  if (scope?.data.scope !== "phase") return;
  const { data } = scope;
  if (!event.best) {
    replaceData(state, scope, { ...data, withoutGain: data.withoutGain + 1 });
    return;
  }
  const { iteration, score } = event;
  const groups = groupsOf(state, scope);
  const best = Object.freeze({
    iteration,
    score,
    steps: stepsOf(state, scope),
    files: filesOf(state, scope),
    ...(Object.keys(groups).length === 0 ? {} : { groups }),
  });
  replaceData(state, scope, { ...data, withoutGain: 0, best });
}

/**
 * The evaluation is over: the phase stands as it stood after its best iteration, whatever came later. Its outputs are what
 * everybody after it sees, and its failures and gaps are the phase's.
 */
export function keepBest(state: TaskState, path: string): void {
  const scope = state.scopes.get(path);
  const frontier = state.frontier.get(path);
  if (scope?.data.scope !== "phase" || scope.data.best === undefined || frontier === undefined) return;
  const { steps, groups = {} } = scope.data.best;
  for (const child of findScopeDefinition(state, path).children) {
    if (child.node === "scope") keepBestGroup(state, { child, phase: path, frontier }, groups[child.name]);
    else keepBestStep(state, { child, phase: path, frontier }, state.steps.get(steps[child.name] as StepId));
  }
  replaceData(state, scope, { ...scope.data, ...countShort(state, path) });
}

interface MemberPlace<Member> {
  readonly child: Member;
  /** Path of the phase. */
  readonly phase: string;
  readonly frontier: ScopeFrontier;
}

function keepBestStep(
  state: TaskState,
  { child, phase, frontier }: MemberPlace<NodeDefinition>,
  step: StepEntry | undefined,
): void {
  const end = step === undefined ? undefined : endOf(step);
  const path = childPath(phase, child.name);
  frontier.ended.delete(child.name);
  frontier.waiting.delete(child.name);
  state.outputs.delete(path);
  if (end === undefined) frontier.waiting.set(child.name, child.dependsOn.length);
  else frontier.ended.set(child.name, end);
  if (step?.output !== undefined && end !== "failed") storeOutput(state, path, { value: step.output, by: step.id });
}

function keepBestGroup(
  state: TaskState,
  { child, phase, frontier }: MemberPlace<ScopeDefinition>,
  best: BestGroup | undefined,
): void {
  const { name } = child;
  const path = childPath(phase, name);
  frontier.ended.delete(name);
  frontier.waiting.delete(name);
  frontier.causes.delete(name);
  for (const at of listBelow(state.outputs.keys(), path)) state.outputs.delete(at);
  if (best === undefined) {
    frontier.waiting.set(name, child.dependsOn.length);
    return;
  }
  frontier.ended.set(name, best.end);
  if (best.cause !== undefined) frontier.causes.set(name, best.cause);
  for (const { path: at, ...output } of best.outputs) storeOutput(state, at, output);
}

/** A path itself, and what is in it. */
function listBelow(paths: Iterable<string>, path: string): string[] {
  return [...paths].filter((at) => at === path || at.startsWith(`${path}/`));
}

function groupsOf(state: TaskState, scope: ScopeEntry): Readonly<Record<string, BestGroup>> {
  const frontier = state.frontier.get(scope.path);
  const groups = findScopeDefinition(state, scope.path).children.flatMap(({ node, name }) => {
    const end = node === "scope" ? frontier?.ended.get(name) : undefined;
    if (end === undefined) return [];
    const path = childPath(scope.path, name);
    const cause = frontier?.causes.get(name);
    const outputs = [...state.outputs].flatMap(([at, output]) =>
      at === path || at.startsWith(`${path}/`) ? [Object.freeze({ path: at, ...output })] : [],
    );
    const reporting = listReporting(state, path).map(({ id }) => id);
    return [[name, Object.freeze({ end, reporting, outputs, ...(cause === undefined ? {} : { cause }) })] as const];
  });
  return Object.freeze(Object.fromEntries(groups));
}

function endOf(step: StepEntry): ChildEnd | undefined {
  if (step.status === "skipped" && step.reason !== undefined) return "omitted";
  return step.declined === true ? "declined" : ENDS[step.status];
}

const ENDS: { readonly [S in StepStatus]?: ChildEnd } = { completed: "done", skipped: "skipped", failed: "failed" };

/** The steps of the iteration at hand, by child name: what it did not reach is not among them. */
function stepsOf(state: TaskState, scope: ScopeEntry): Readonly<Record<string, string>> {
  const ended = state.frontier.get(scope.path)?.ended;
  const children = findScopeDefinition(state, scope.path).children.filter(
    ({ node, name }) => node === "step" && ended?.has(name) === true,
  );
  return Object.freeze(
    Object.fromEntries(children.map(({ name }) => [name, currentStepId(state, childPath(scope.path, name))])),
  );
}

/** The files its specialists have written, as they are now. */
function filesOf(state: TaskState, scope: ScopeEntry): readonly SavedFile[] {
  const node = findScopeDefinition(state, scope.path);
  if (node.scope !== "phase") return [];
  const number = phaseNumberOf(state, scope.path);
  const files = node.children.flatMap(listFiles).map((file) => placeFile(file, number));
  return Object.freeze(files.flatMap((file) => state.deliverables.get(file) ?? []));
}

function listFiles(node: NodeDefinition): readonly string[] {
  return node.node === "step" ? Object.keys(node.saveAs) : node.children.flatMap(listFiles);
}

/** The evaluation of an iteration of a phase; looked for from the end, where it stands. */
export function findEvaluation(
  state: TaskState,
  path: string,
  iteration: number,
): { at: number; entry: EvaluationEntry } | undefined {
  for (let at = state.evaluations.length - 1; at >= 0; at -= 1) {
    const entry = state.evaluations[at];
    if (entry === undefined || entry.path !== path) return undefined;
    if (entry.iteration === iteration) return { at, entry };
    if (entry.iteration < iteration) return undefined;
  }
  return undefined;
}

function put(state: TaskState, at: number | undefined, entry: EvaluationEntry): void {
  if (at === undefined) state.evaluations.push(Object.freeze(entry));
  else state.evaluations[at] = Object.freeze(entry);
}
