/**
 * Folds a return to an earlier state: of the task itself (a roll-back by a person), or of another one (a fork).
 *
 * The earlier state stands in the event, so folding needs nothing else; whoever folds puts it inline where it is a blob
 * (see `withInlineState`). What returns: where control stands, outputs, visits, channel, phases, evaluations, files. What
 * does not: limits, spend, decisions, guidance, checkpoints and the list of steps, which stay as facts of what happened.
 * What was in flight is not taken up in its midst: it is ready to start again, as the same visit in the next round, so
 * that it gets an identity and a key of its own, and is asked about where it may have acted.
 */
import { assert } from "../../base/errors.js";
import type { StepId } from "../../base/ids.js";
import { isJsonObject, type JsonValue } from "../../base/json.js";
import type { EngineEvent, EventOf } from "../model/events.js";
import type { BlobRef } from "../model/value-ref.js";
import { adoptDefinition } from "./evolve-definition.js";
import { replaceData } from "./evolve-scopes.js";
import { childPath, findPlace, mayHaveBegun, requireTask } from "../model/lookup.js";
import type { GroupCounts, QuestionEntry, ScopeData, ScopeEntry, StepEntry, TaskState } from "../model/state.js";
import { captureState, encodeCaptured } from "../model/state-codec.js";
import { decodeSections } from "../model/state-sections.js";

/** The event with its earlier state inside, ready to be folded; other events as they are. Errors: those of `load`. */
export async function withInlineState(
  event: EngineEvent,
  load: (ref: BlobRef) => Promise<JsonValue>,
): Promise<EngineEvent> {
  const state = stateOf(event);
  if (state === undefined || "inline" in state) return event;
  return { ...event, state: { inline: await load(state.blob) } } as EngineEvent;
}

/** The state an event returns to; `undefined` for all others. */
export function stateOf(event: EngineEvent): EventOf<"task_forked">["state"] | undefined {
  return event.type === "rolled_back" || event.type === "task_forked" ? event.state : undefined;
}

/** The whole state as an event carries it. */
export function encodeWhole(state: TaskState): JsonValue {
  return JSON.parse([...encodeCaptured(captureState(state))].join("")) as JsonValue;
}

/** What a roll-back needs of it: what does not return is left out, but for the steps in flight. */
export function encodeForReturn(state: TaskState): JsonValue {
  const inFlight = new Set([...state.open, ...state.waiting, ...state.blocked]);
  const steps = new Map([...state.steps].filter(([id]) => inFlight.has(id)));
  const left = {
    decisions: [],
    guidance: [],
    checkpoints: [],
    questions: new Map(),
    unsettled: new Set(),
    histories: new Map(),
  };
  return encodeWhole({ ...state, ...left, steps } as TaskState);
}

export function restoreTo(state: TaskState, event: EventOf<"rolled_back">): void {
  const earlier = decodeCarried(event);
  const { definition } = requireTask(state);
  withdrawQuestions(state, event.atMs);
  closeInFlight(state);
  const open = [...state.scopes.values()];
  for (const name of [
    "scopes",
    "frontier",
    "visits",
    "rounds",
    "outputs",
    "stored",
    "channel",
    "phases",
    "deliverables",
  ] as const)
    refill(state[name] as Map<string, unknown>, earlier[name]);
  for (const scope of open) keepSpent(state, scope);
  state.evaluations.splice(0, state.evaluations.length, ...earlier.evaluations);
  const { root: _root, output: _output, ...task } = requireTask(state);
  const { root, definition: earlierDefinition } = requireTask(earlier);
  state.task = Object.freeze({ ...task, definition: earlierDefinition, ...(root === undefined ? {} : { root }) });
  beginRound(state, earlier, event.round);
  if (definition.fingerprint !== earlierDefinition.fingerprint) adoptDefinition(state, definition);
  else state.task = Object.freeze({ ...requireTask(state), definition });
}

/** What a nested workflow has used, and what was added to its limits, does not return. */
function keepSpent(state: TaskState, { path, visit, data: spent }: ScopeEntry): void {
  const scope = state.scopes.get(path);
  if (scope?.visit !== visit || scope.data.scope !== "workflow" || spent.scope !== "workflow") return;
  const { used, extended } = spent;
  replaceData(state, scope, { ...scope.data, used, ...(extended === undefined ? {} : { extended }) });
}

export function forkTask(state: TaskState, event: EventOf<"task_forked">): void {
  const earlier = decodeCarried(event);
  assert(state.task === undefined, "a fork is the first event of its task");
  for (const [name, value] of Object.entries(earlier) as [keyof TaskState, unknown][]) {
    const mine = state[name];
    if (mine instanceof Map) refill(mine, value as Map<string, unknown>);
    else if (mine instanceof Set) for (const item of value as Set<never>) (mine as Set<unknown>).add(item);
  }
  state.decisions.push(...earlier.decisions);
  state.guidance.push(...earlier.guidance);
  state.evaluations.push(...earlier.evaluations);
  state.totals = earlier.totals;
  state.atMs = earlier.atMs;
  state.epoch = 1;
  // The other task's checkpoints are positions in its journal, not in this one.
  state.triggered.clear();
  // They are the other task's, which may live.
  state.servers.clear();
  const {
    historyFrom: _from,
    request: _request,
    resumeAtMs: _at,
    pausedAtMs: _paused,
    output: _output,
    ...task
  } = requireTask(earlier);
  state.task = Object.freeze({
    ...task,
    id: event.taskId,
    name: event.name,
    startedAtMs: event.atMs,
    status: "paused",
    reason: `forked from checkpoint ${event.origin.seq} of ${event.origin.name}; it has not run yet`,
    exitStatus: 20,
    resumable: true,
    forkedFrom: Object.freeze({ ...event.origin }),
  });
  withdrawQuestions(state, event.atMs);
  closeInFlight(state);
  leaveSessions(state);
  // Without anything in flight no identity comes twice, and equal runs stay equal in `diff`.
  const inFlight = earlier.open.size + earlier.waiting.size + earlier.blocked.size;
  beginRound(state, earlier, earlier.round + (inFlight > 0 ? 1 : 0));
}

/** An agent keeps one session, whoever goes on in it: it stays with the task that it was begun in. */
function leaveSessions(state: TaskState): void {
  for (const [id, step] of state.steps) {
    if (step.kind !== "cli" || step.milestone === undefined) continue;
    const { milestone: _session, ...rest } = step;
    state.steps.set(id, Object.freeze(rest));
  }
}

function decodeCarried(event: EventOf<"rolled_back"> | EventOf<"task_forked">): TaskState {
  const { state } = event;
  assert(state !== undefined && "inline" in state && isJsonObject(state.inline), "a carried state is folded inline");
  return decodeSections(state.inline);
}

function refill<V>(map: Map<string, V>, from: ReadonlyMap<string, V>): void {
  map.clear();
  for (const [key, value] of from) map.set(key, value);
}

/** What was asked belongs to the way that was left: all of it, or what `isOf` says. */
export function withdrawQuestions(
  state: TaskState,
  atMs: number,
  isOf: (question: QuestionEntry) => boolean = () => true,
): void {
  for (const id of state.unsettled) {
    const question = state.questions.get(id);
    if (question === undefined || !isOf(question)) continue;
    const settled = { status: "consumed", answer: question.answer ?? "withdrawn" } as const;
    state.questions.set(id, Object.freeze({ answeredBy: "engine", answeredAtMs: atMs, ...question, ...settled }));
    state.unsettled.delete(id);
  }
}

/** Steps of the way that was left: what may have acted is unknown from now on, and asked about where it would start again. */
function closeInFlight(state: TaskState): void {
  for (const id of [...state.open, ...state.waiting, ...state.blocked]) {
    const step = state.steps.get(id);
    if (step === undefined || step.status === "failed" || step.status === "completed") continue;
    const { questionId: _question, retryAtMs: _at, dueAtMs: _due, ...rest } = step;
    state.steps.set(id, Object.freeze({ ...rest, status: mayHaveActed(step) ? "unknown" : "cancelled" }));
  }
  for (const set of [state.open, state.waiting, state.blocked]) set.clear();
}

function mayHaveActed(step: StepEntry): boolean {
  const { effects, status } = step;
  if (effects !== "external") return false;
  return status === "unknown" || status === "parked" || (status === "open" && mayHaveBegun(step));
}

/** The next round begins: what is valid keeps the round it was made in, and what was in flight is ready again. */
function beginRound(state: TaskState, earlier: TaskState, round: number): void {
  if (round !== earlier.round)
    for (const path of state.visits.keys()) state.rounds.set(path, earlier.rounds.get(path) ?? earlier.round);
  state.round = round;
  const inFlight = new Set<string>();
  for (const id of [...earlier.open, ...earlier.waiting, ...earlier.blocked]) addPath(inFlight, earlier, id);
  for (const scope of Array.from(state.scopes.values())) restartScope(state, scope, inFlight);
}

function addPath(paths: Set<string>, earlier: TaskState, id: StepId): void {
  const path = earlier.steps.get(id)?.path;
  if (path !== undefined) paths.add(path);
}

function restartScope(state: TaskState, scope: ScopeEntry, inFlight: ReadonlySet<string>): void {
  const { data, path } = scope;
  if (data.scope === "machine") restartMachine(state, scope, data);
  else if (data.scope === "phases") restartPhases(state, scope, data);
  else if (data.scope === "workflow") restartWorkflow(state, scope, data);
  else {
    const mine = [...inFlight].filter((child) => findPlace(state, child)?.parent === path);
    restartGroup(
      state,
      { scope, data },
      mine.map((child) => child.slice(path.length + 1)),
    );
  }
}

type DataOf<S extends ScopeData["scope"]> = Extract<ScopeData, { readonly scope: S }>;

/** A machine that found no route stays where it is: its routes are tried again. */
function restartMachine(state: TaskState, scope: ScopeEntry, data: DataOf<"machine">): void {
  const { current, failed: _failed, cause: _cause, ...rest } = data;
  if (current === undefined || data.stuck !== undefined || state.scopes.has(childPath(scope.path, current))) return;
  unvisit(state, childPath(scope.path, current));
  replaceData(state, scope, { ...rest, next: current });
}

function restartPhases(state: TaskState, scope: ScopeEntry, data: DataOf<"phases">): void {
  const { current, failed: _failed, ...rest } = data;
  const isOpen = current !== undefined && state.scopes.has(childPath(scope.path, current));
  replaceData(state, scope, isOpen ? { ...rest, current } : rest);
}

function restartWorkflow(state: TaskState, scope: ScopeEntry, { cause: _cause, ...data }: DataOf<"workflow">): void {
  const node = findPlace(state, scope.path)?.node;
  if (data.root !== "failed" || node?.node !== "scope") return;
  for (const root of node.children) unvisit(state, childPath(scope.path, root.name));
  replaceData(state, scope, { ...data, root: "ready" });
}

interface Group {
  readonly scope: ScopeEntry;
  readonly data: Extract<ScopeData, GroupCounts>;
}

function restartGroup(state: TaskState, { scope, data }: Group, inFlight: readonly string[]): void {
  const frontier = state.frontier.get(scope.path);
  if (frontier === undefined) return;
  const failed = [...frontier.ended].flatMap(([name, end]) => (end === "failed" ? [name] : []));
  for (const name of new Set([...inFlight, ...failed])) {
    frontier.ended.delete(name);
    frontier.causes.delete(name);
    if (!frontier.ready.includes(name)) frontier.ready.push(name);
    unvisit(state, childPath(scope.path, name));
  }
  const running = [...state.scopes.values()].filter(({ parent }) => parent === scope.path).length;
  replaceData(state, scope, { ...withoutWait(data), running, blocked: 0, failed: 0, failing: false });
}

/** A question about the confidence was withdrawn: it is chosen anew. */
function withoutWait(data: Group["data"]): Group["data"] {
  if (data.scope !== "phase" || data.settled !== "waiting") return data;
  const { settled: _settled, ...rest } = data;
  return rest;
}

/** The same visit comes again. */
function unvisit(state: TaskState, path: string): void {
  const visit = state.visits.get(path) ?? 0;
  if (visit > 1) state.visits.set(path, visit - 1);
  else state.visits.delete(path);
  if (visit <= 1) state.rounds.delete(path);
}
