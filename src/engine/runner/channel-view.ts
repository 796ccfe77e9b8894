/**
 * The channel as one attempt sees it: its own changes at once, those of others as soon as they are folded.
 *
 * A change is folded a moment after it is posted; until then its result stands here, so that what was set is what is read.
 */
import type { JsonValue } from "../../base/json.js";
import type { EngineInput } from "../input.js";
import type { StepSink } from "../ports.js";

export type ChannelChange = Pick<Extract<EngineInput, { kind: "channel" }>, "op" | "key" | "value">;

export interface ChannelViewDeps {
  readonly folded: ReadonlyMap<string, JsonValue>;
  /** The value as it will be recorded. Throws when it cannot be, or when the attempt is over. */
  readonly accept: (value: JsonValue) => JsonValue;
  /** Resolves when the change is folded; never rejects. */
  readonly post: (change: ChannelChange) => Promise<void>;
}

export function createChannelView({ folded, accept, post }: ChannelViewDeps): StepSink["channel"] {
  const own = new Map<string, { readonly value: JsonValue }>();
  const get = (key: string): JsonValue | undefined => (own.get(key) ?? { value: folded.get(key) }).value;
  const change = (wish: ChannelChange): void => {
    const accepted = { ...wish, value: accept(wish.value) };
    const after = { value: applyChange(get(wish.key), accepted) };
    own.set(wish.key, after);
    void post(accepted).then(() => own.get(wish.key) === after && own.delete(wish.key));
  };
  return {
    get,
    set: (key, value) => change({ op: "set", key, value }),
    append: (key, value) => change({ op: "append", key, value }),
    add: (key, value) => change({ op: "add", key, value }),
  };
}

/** As `evolve` folds it. */
function applyChange(before: JsonValue | undefined, { op, value }: ChannelChange): JsonValue {
  if (op === "set") return value;
  if (op === "append") return [...(Array.isArray(before) ? (before as readonly JsonValue[]) : []), value];
  return (typeof before === "number" ? before : 0) + (typeof value === "number" ? value : 0);
}
