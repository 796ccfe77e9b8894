/**
 * Reads the sections of an encoded state back into containers.
 *
 * Every entry must have the fields that folding relies on; a state that does not is refused whole, with the section named.
 */
import { SplashdownError } from "../../base/errors.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.js";
import { createState, type ScopeFrontier, type TaskState } from "./state.js";
import type { ServerProcess } from "./events.js";
import { processKeyOf } from "./identity.js";
import type { StepHistory } from "./step-history.js";

type FieldKind = "string" | "number" | "boolean" | "object" | "list";
type Fields = Readonly<Record<string, FieldKind>>;
/** Names and kinds side by side: made once, looked at for every entry. */
type Checks = readonly (readonly [string, FieldKind])[];

const STEP: Fields = {
  id: "string",
  path: "string",
  name: "string",
  kind: "string",
  round: "number",
  visit: "number",
  phase: "number",
  status: "string",
  attempt: "number",
  failures: "number",
  restarts: "number",
  work: "object",
  inputHash: "string",
  idempotencyKey: "string",
  effects: "string",
  onUnknown: "string",
  confidenceHistory: "list",
  crashes: "number",
};
const TASK: Fields = {
  id: "string",
  name: "string",
  definition: "object",
  folder: "string",
  inputs: "object",
  settings: "object",
  startedAtMs: "number",
  status: "string",
  resumable: "boolean",
  extended: "object",
};
const TOTALS: Fields = {
  steps: "number",
  iterations: "number",
  ownIterations: "number",
  calls: "number",
  tokensIn: "number",
  tokensOut: "number",
  costMicroUsd: "number",
  unpricedCalls: "number",
  uncountedCalls: "number",
  elapsedMs: "number",
  memoryPeakBytes: "number",
};

/** Errors: CHECKPOINT_CORRUPT. */
export function decodeSections(value: JsonObject): TaskState {
  const state = createState();
  state.position = requireNumber(value, "position");
  state.atMs = requireNumber(value, "atMs");
  state.epoch = requireNumber(value, "epoch");
  state.round = requireNumber(value, "round");
  if (value["task"] !== null) state.task = entryOf(value["task"], "task", TASK) as unknown as TaskState["task"];
  state.totals = entryOf(value["totals"], "totals", TOTALS) as unknown as TaskState["totals"];
  fillEntries(state.steps, value, { section: "steps", key: "id", fields: STEP });
  fillEntries(state.scopes, value, {
    section: "scopes",
    key: "path",
    fields: { path: "string", visit: "number", data: "object" },
  });
  fillEntries(state.questions, value, {
    section: "questions",
    key: "id",
    fields: { id: "string", kind: "string", status: "string", options: "list" },
  });
  fillEntries(state.phases, value, {
    section: "phases",
    key: "path",
    fields: { path: "string", number: "number", iteration: "number", feedback: "list" },
  });
  fillEntries(state.deliverables, value, {
    section: "deliverables",
    key: "file",
    fields: { file: "string", sha256: "string", content: "object" },
  });
  for (const section of ["open", "waiting", "blocked", "unsettled"] as const) fillSet(state[section], value, section);
  fillList(state.decisions, value, { section: "decisions", fields: { id: "string", agent: "string", type: "string" } });
  if (value["guidance"] !== undefined)
    fillList(state.guidance, value, { section: "guidance", fields: { text: "string", by: "string", atMs: "number" } });
  for (const server of value["servers"] === undefined ? [] : listOf(value, "servers")) fillServer(state, server);
  fillList(state.evaluations, value, {
    section: "evaluations",
    fields: { path: "string", iteration: "number", scores: "object" },
  });
  fillList(state.checkpoints, value, {
    section: "checkpoints",
    fields: { checkpointId: "string", seq: "number", phase: "number", position: "number" },
  });
  fillMap(state.visits, mapOf(value, "visits"), (item) => (typeof item === "number" ? item : fail("visits")));
  if (value["rounds"] !== undefined)
    fillMap(state.rounds, mapOf(value, "rounds"), (item) => (typeof item === "number" ? item : fail("rounds")));
  fillMap(state.triggered, mapOf(value, "triggered"), (item) => (typeof item === "number" ? item : fail("triggered")));
  fillMap(state.channel, mapOf(value, "channel"), (item) => item);
  const ofOutput = checksOf({ value: "object", by: "string" });
  fillMap(state.outputs, mapOf(value, "outputs"), (item) => checkedEntry(item, "outputs", ofOutput) as never);
  fillMap(state.stored, mapOf(value, "stored"), (item) =>
    Array.isArray(item) ? item.map((path) => (typeof path === "string" ? path : fail("stored"))) : fail("stored"),
  );
  fillMap(state.histories, mapOf(value, "histories"), decodeHistory);
  fillMap(state.frontier, mapOf(value, "frontier"), decodeFrontier);
  return state;
}

function fillServer(state: TaskState, item: JsonValue): void {
  const entry = entryOf(item, "servers", { server: "string", process: "object" }) as unknown as ServerProcess;
  state.servers.set(processKeyOf(entry.process), entry);
}

function decodeHistory(item: JsonValue): StepHistory {
  const { turns, tools, substeps } = entryOf(item, "histories", { turns: "list", tools: "list", substeps: "list" });
  return {
    turns: (turns as JsonValue[]).map((turn) => freeze(turn) as never),
    tools: new Map(pairsOf(tools, "histories").map(([key, tool]) => [key, freeze(tool) as never])),
    substeps: new Map(pairsOf(substeps, "histories").map(([key, substep]) => [key, freeze(substep) as never])),
  };
}

function decodeFrontier(item: JsonValue): ScopeFrontier {
  const { ready, waiting, ended, causes } = entryOf(item, "frontier", {
    ready: "list",
    waiting: "list",
    ended: "object",
  });
  const { keys, values } = entryOf(ended, "frontier", { keys: "list", values: "list" });
  const ends = values as readonly JsonValue[];
  return {
    ready: [...(ready as string[])],
    waiting: new Map(pairsOf(waiting, "frontier").map(([name, unmet]) => [name, unmet as number])),
    ended: new Map((keys as string[]).map((name, at) => [name, ends[at] as never])),
    causes: new Map(pairsOf(causes ?? [], "frontier").map(([name, cause]) => [name, freeze(cause) as never])),
  };
}

interface SectionOf {
  readonly section: string;
  readonly fields: Fields;
}

function fillEntries<K extends string, V>(
  map: Map<K, V>,
  value: JsonObject,
  from: SectionOf & { readonly key: string },
): void {
  const checks = checksOf(from.fields);
  for (const item of listOf(value, from.section)) {
    const entry = checkedEntry(item, from.section, checks);
    map.set(entry[from.key] as K, entry as unknown as V);
  }
}

function fillList(list: object[], value: JsonObject, from: SectionOf): void {
  const checks = checksOf(from.fields);
  for (const item of listOf(value, from.section)) list.push(checkedEntry(item, from.section, checks));
}

function fillSet(set: Set<string>, value: JsonObject, section: string): void {
  for (const item of listOf(value, section)) set.add(typeof item === "string" ? item : fail(section));
}

function fillMap<K extends string, V>(map: Map<K, V>, list: Pairs, decode: (item: JsonValue) => V): void {
  for (const [key, item] of list) map.set(key as K, decode(item));
}

type Pairs = readonly (readonly [string, JsonValue])[];

function mapOf(value: JsonObject, section: string): Pairs {
  return pairsOf(listOf(value, section), section);
}

function pairsOf(list: JsonValue | undefined, section: string): readonly (readonly [string, JsonValue])[] {
  if (!Array.isArray(list)) return fail(section);
  return (list as readonly JsonValue[]).map((pair) => {
    if (!Array.isArray(pair) || pair.length !== 2 || typeof pair[0] !== "string") return fail(section);
    return [pair[0], pair[1] as JsonValue] as const;
  });
}

function listOf(value: JsonObject, section: string): readonly JsonValue[] {
  const list = value[section];
  return Array.isArray(list) ? (list as readonly JsonValue[]) : fail(section);
}

function checksOf(fields: Fields): Checks {
  return Object.entries(fields);
}

function entryOf(item: JsonValue | undefined, section: string, fields: Fields): JsonObject {
  return checkedEntry(item, section, checksOf(fields));
}

function checkedEntry(item: JsonValue | undefined, section: string, checks: Checks): JsonObject {
  if (!isJsonObject(item)) return fail(section);
  for (const [name, kind] of checks) {
    if (!isOfKind(item[name], kind)) return fail(`${section}.${name}`);
  }
  return freeze(item) as JsonObject;
}

function isOfKind(value: JsonValue | undefined, kind: FieldKind): boolean {
  if (kind === "list") return Array.isArray(value);
  if (kind === "object") return isJsonObject(value);
  return typeof value === kind;
}

function freeze(value: JsonValue): JsonValue {
  return typeof value === "object" && value !== null ? Object.freeze(value) : value;
}

function requireNumber(value: JsonObject, name: string): number {
  const found = value[name];
  return typeof found === "number" ? found : fail(name);
}

function fail(section: string): never {
  throw new SplashdownError("CHECKPOINT_CORRUPT", `the state's section ${section} is not what it must be`);
}
