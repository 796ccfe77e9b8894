/**
 * What a nested file says of the whole task: where it is kept, how long, what recovery does.
 *
 * A task has one store and one history, so the outermost file decides. A nested file that says otherwise is a fault, as its
 * author meant it (where data lies, what is kept); one that says the same is not. Prices are facts about models: they are
 * joined. Free facts and the rhythm of snapshots of Conductor's runtime are passed over with a word.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.js";
import type { FaultList, FaultPath } from "../faults/fault.js";
import type { LoadedWorkflow } from "../model/loaded-workflow.js";

/** Settings of Conductor's `runtime.checkpoint`: they change when a snapshot is written, and nothing else. */
const RHYTHM = new Set(["checkpoint_config.interval_seconds", "checkpoint_config.max_checkpoints"]);
const PRICES = "pricing";

export interface NestedPlace {
  /** Of the step that names the file. */
  readonly at: FaultPath;
  readonly faults: FaultList;
  /** Of the file that names it. */
  readonly settings: JsonObject;
}

/** Tells what a nested file says of the task and this one does not. */
export function checkNestedSettings({ definition }: LoadedWorkflow, { at, faults, settings }: NestedPlace): void {
  const path = [...at, "workflow"];
  const { name, metadata } = definition;
  for (const [key, value] of leavesOf(definition.settings)) {
    if (key.startsWith(`${PRICES}.`) || isSame(valueOf(settings, key), value)) continue;
    const said = `${name} says ${key}: ${JSON.stringify(value)}, which is about the whole task`;
    if (RHYTHM.has(key)) faults.warn({ path, message: `${said}: the outermost file decides` });
    else
      faults.add({
        code: "conflict",
        path,
        message: `${said}, and this file does not`,
        suggestion: "say it in this file, too, or leave it out there",
      });
  }
  if (Object.keys(metadata).length > 0)
    faults.warn({ path, message: `the metadata of ${name} are not kept here: those of the outermost file are` });
}

/** The settings of a file with the prices of those below it. Errors: none; two prices of one model are a fault. */
export function joinPrices(
  settings: JsonObject,
  nested: ReadonlyMap<string, LoadedWorkflow>,
  faults: FaultList,
): JsonObject {
  const joined: Record<string, JsonValue | undefined> = { ...pricesOf(settings) };
  const origin = new Map(Object.keys(joined).map((model) => [model, "this file"]));
  for (const [file, { definition }] of nested)
    for (const [model, price] of Object.entries(pricesOf(definition.settings))) {
      const [known, from] = [joined[model], origin.get(model)];
      if (known === undefined) {
        joined[model] = price;
        origin.set(model, file);
      } else if (!isSame(known, price))
        faults.add({
          code: "conflict",
          path: ["workflow"],
          message: `${from} and ${file} give the model ${model} different prices`,
          suggestion: "keep one: a model has one price in a task",
        });
    }
  return origin.size === 0 ? settings : { ...settings, [PRICES]: joined };
}

function pricesOf(settings: JsonObject): JsonObject {
  const prices = settings[PRICES];
  return isJsonObject(prices) ? prices : {};
}

/** Each setting by its dotted key. */
function leavesOf(settings: JsonObject): [string, JsonValue][] {
  return Object.entries(settings).flatMap(([key, value]): [string, JsonValue][] =>
    isJsonObject(value) && Object.keys(value).length > 0
      ? leavesOf(value).map(([inner, leaf]) => [`${key}.${inner}`, leaf])
      : [[key, value ?? null]],
  );
}

const valueOf = (settings: JsonObject, key: string): JsonValue | undefined => new Map(leavesOf(settings)).get(key);

const isSame = (one: JsonValue | undefined, other: JsonValue | undefined): boolean =>
  JSON.stringify(one) === JSON.stringify(other);
