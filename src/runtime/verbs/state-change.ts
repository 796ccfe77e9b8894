/**
 * `fork --set PATH=JSON`: one value of a state, changed before a fork begins with it.
 *
 * Paths: `inputs.NAME…`, `channel.KEY…`, `outputs.STEP…`, where STEP is a step's path as `show` prints it, or its last
 * part where only one fits. Further parts lead into objects by name and into lists by number.
 */
import { SplashdownError } from "../../base/errors.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.js";
import type { BlobRef } from "../../engine/model/value-ref.js";
import type { TaskState } from "../../engine/model/state.js";
import type { StepId } from "../../base/ids.js";

export interface StateChange {
  readonly path: string;
  readonly value: JsonValue;
}

/** Changes the state in place. Errors: USAGE_INVALID for a path that leads nowhere, with what is there. */
export async function changeState(
  state: TaskState,
  change: StateChange,
  load: (ref: BlobRef) => Promise<JsonValue>,
): Promise<void> {
  const [head, ...rest] = change.path.split(".");
  const inner = rest.join(".");
  if (inner === "") throw usage(change, "it names no value; begin with inputs., channel. or outputs.");
  if (head === "inputs") return changeInputs(state, change, rest);
  if (head === "channel") return changeChannel(state, change, inner);
  if (head === "outputs") return changeOutput(state, { ...change, inner }, load);
  throw usage(change, "it begins with none of inputs, channel, outputs");
}

function changeInputs(state: TaskState, change: StateChange, parts: readonly string[]): void {
  if (state.task === undefined) throw usage(change, "the task has not begun there");
  const inputs = replaceAt(state.task.inputs, parts, change) as JsonObject;
  state.task = Object.freeze({ ...state.task, inputs });
}

function changeChannel(state: TaskState, change: StateChange, inner: string): void {
  const { name, parts } = splitName(inner, [...state.channel.keys()]);
  state.channel.set(name, replaceAt(state.channel.get(name) ?? null, parts, change));
}

async function changeOutput(
  state: TaskState,
  change: StateChange & { readonly inner: string },
  load: (ref: BlobRef) => Promise<JsonValue>,
): Promise<void> {
  const { name, parts } = splitName(change.inner, namesOf(state));
  const fitting = [...state.outputs.keys()].filter((path) => path === name || path.endsWith(`/${name}`));
  const exact = fitting.find((path) => path === name) ?? (fitting.length === 1 ? fitting[0] : undefined);
  const output = exact === undefined ? undefined : state.outputs.get(exact);
  if (exact === undefined || output === undefined) {
    const known = fitting.length > 1 ? fitting : [...state.outputs.keys()];
    throw usage(change, `${fitting.length > 1 ? "several outputs fit" : "the outputs there are"}: ${known.join(", ")}`);
  }
  const before = "inline" in output.value ? output.value.inline : await load(output.value.blob);
  const value = Object.freeze({ inline: replaceAt(before, parts, change) });
  state.outputs.set(exact, Object.freeze({ ...output, value }));
  const step = state.steps.get(output.by as StepId);
  if (step !== undefined) state.steps.set(step.id, Object.freeze({ ...step, output: value }));
}

/** Paths of outputs, and their ends. */
function namesOf(state: TaskState): string[] {
  return [...state.outputs.keys()].flatMap((path) => {
    const parts = path.split("/");
    return parts.map((_part, at) => parts.slice(at).join("/"));
  });
}

/** Names may hold dots: the longest one that is there counts, else the first part. */
function splitName(text: string, names: readonly string[]): { name: string; parts: string[] } {
  const fitting = names.filter((name) => text === name || text.startsWith(`${name}.`));
  const longest = fitting.reduce((best, name) => (name.length > best.length ? name : best), "");
  const name = longest === "" ? (text.split(".")[0] ?? text) : longest;
  const rest = text.slice(name.length + 1);
  return { name, parts: rest === "" ? [] : rest.split(".") };
}

function replaceAt(value: JsonValue, parts: readonly string[], change: StateChange): JsonValue {
  const [part, ...rest] = parts;
  if (part === undefined) return change.value;
  if (part === "__proto__") throw usage(change, "no value has that name");
  if (Array.isArray(value)) {
    const items = value as readonly JsonValue[];
    const at = Number(part);
    if (!Number.isSafeInteger(at) || at < 0 || at > items.length)
      throw usage(change, `${part} is no place in a list of ${items.length}`);
    return Object.assign([...items], { [at]: replaceAt(items[at] ?? null, rest, change) });
  }
  if (isJsonObject(value)) {
    if (rest.length > 0 && !(part in value))
      throw usage(change, `there is no ${part}, but ${Object.keys(value).join(", ")}`);
    return { ...value, [part]: replaceAt(value[part] ?? null, rest, change) };
  }
  throw usage(change, `${part} leads into a value that is no object and no list`);
}

function usage({ path }: StateChange, why: string): SplashdownError {
  return new SplashdownError("USAGE_INVALID", `--set ${path}: ${why}`, { details: { path } });
}
