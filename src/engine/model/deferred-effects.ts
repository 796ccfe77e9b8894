/**
 * What a step wishes for on its way: changes of the channel, a checkpoint, another iteration, more steps.
 *
 * E9: a wish counts when its step completes and as one with the completion, so that an attempt that dies or fails leaves
 * nothing behind that the next one would do again. What the next attempt does not do again keeps its wishes until then:
 * a milestone those made before it, a sub-step those made inside it.
 */
import { unreachable } from "../../base/errors.js";
import type { JsonObject, JsonValue } from "../../base/json.js";
import type { AddedStep } from "../../definition/compile/added-step.js";

/** A change of the task's shared key-value state; `append` begins a list and `add` a sum where there is none. */
export interface ChannelChange {
  readonly op: "set" | "append" | "add";
  readonly key: string;
  readonly value: JsonValue;
}

export interface DeferredEffects {
  /** In the order they were made, as far as they are about the same key. */
  readonly channel?: readonly ChannelChange[];
  /** Metadata of a checkpoint when the step has completed. */
  readonly checkpoint?: JsonObject;
  /** The step runs again with the next visit. */
  readonly again?: true;
  /** Steps to add to the group around it. */
  readonly add?: readonly AddedStep[];
  /** Sub-steps whose own wishes are among these. */
  readonly substeps?: readonly string[];
}

/** The value of a key after a change. */
export function applyChange(before: JsonValue | undefined, { op, value }: ChannelChange): JsonValue {
  switch (op) {
    case "set":
      return value;
    case "append":
      return Object.freeze([...(Array.isArray(before) ? (before as readonly JsonValue[]) : []), value]);
    case "add":
      return (typeof before === "number" ? before : 0) + (typeof value === "number" ? value : 0);
    default:
      return unreachable(op);
  }
}

export function changeChannel(channel: Map<string, JsonValue>, changes: readonly ChannelChange[] = []): void {
  for (const change of changes) channel.set(change.key, applyChange(channel.get(change.key), change));
}
