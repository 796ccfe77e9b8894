import type { JsonObject, JsonValue } from "../../base/json.js";

/** `value` is what stands before the bar; a throw ends the rendering with its message. */
export type FilterCall = (value: JsonValue | undefined, positional: readonly JsonValue[], named: JsonObject) => unknown;
