/**
 * Where commands for people stand in views, so that a face adds the flags that its user gave to them and to nothing else.
 *
 * Never what a task gave or was given: the words of others stay as they are.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "./json.js";

/** Fields of views that say what to do, in whole or in part. */
const TELLING: ReadonlySet<string> = new Set(["next", "command", "hint", "why", "notices", "residence"]);
/** And the text of a check. */
const isTelling = (view: JsonObject, key: string): boolean =>
  TELLING.has(key) || (key === "text" && typeof view["ok"] === "boolean");
/** Below them stands what a task gave or was given, and what its workflow says. */
const OTHERS_WORDS: ReadonlySet<string> = new Set(["output", "inputs", "event", "items", "metadata", "decisions"]);

/** The view with `repeat` applied to every text that may hold a command. */
export function completeCommands(view: JsonValue, repeat: (text: string) => string): JsonValue {
  return complete(view, false, repeat);
}

function complete(value: JsonValue, tells: boolean, repeat: (text: string) => string): JsonValue {
  if (typeof value === "string") return tells ? repeat(value) : value;
  if (Array.isArray(value)) return value.map((item: JsonValue) => complete(item, tells, repeat));
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).map(([key, item]) => [
    key,
    item === undefined || OTHERS_WORDS.has(key) ? item : complete(item, isTelling(value, key), repeat),
  ]);
  return Object.fromEntries(entries) as JsonValue;
}
