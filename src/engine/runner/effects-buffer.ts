/**
 * The wishes of one attempt, or of one sub-step in it, until they are recorded.
 *
 * Reads give what the wishes so far would make of the channel, those of the attempt before those of its sub-step.
 */
import { SplashdownError } from "../../base/errors.js";
import type { JsonObject, JsonValue } from "../../base/json.js";
import type { AddedStep } from "../../definition/compile/added-step.js";
import { LIMITS } from "../../base/limits.js";
import { applyChange, type ChannelChange, type DeferredEffects } from "../model/deferred-effects.js";
import { measureValue } from "./value-size.js";

function listed<K extends string, T>(name: K, items: readonly T[]): Partial<Record<K, readonly T[]>> {
  return items.length === 0 ? {} : ({ [name]: items } as Record<K, readonly T[]>);
}

export class EffectsBuffer {
  readonly #folded: ReadonlyMap<string, JsonValue>;
  readonly #outer: EffectsBuffer | undefined;
  /** Both are made with the first wish: most attempts have none, and many are under way at once. */
  #changes: Map<string, { readonly of: ChannelChange[]; sizeBytes: number }> | undefined;
  #substeps: Set<string> | undefined;
  #sizeBytes = 0;
  #checkpoint: JsonObject | undefined;
  #again = false;
  /** By name: one that was wished for twice is one. */
  #added: Map<string, AddedStep> | undefined;

  constructor(folded: ReadonlyMap<string, JsonValue>, outer?: EffectsBuffer) {
    this.#folded = folded;
    this.#outer = outer;
  }

  read(key: string): JsonValue | undefined {
    let value = this.#outer === undefined ? this.#folded.get(key) : this.#outer.read(key);
    for (const change of this.#changes?.get(key)?.of ?? []) value = applyChange(value, change);
    return value;
  }

  /** A value that is set takes the place of all that was made of its key before. Errors: VALUE_TOO_LARGE. */
  change(change: ChannelChange): void {
    const sizeBytes = measureValue(change.value) + measureValue(change.key);
    const changes = (this.#changes ??= new Map());
    const before = changes.get(change.key);
    const replacedBytes = change.op === "set" ? (before?.sizeBytes ?? 0) : 0;
    this.#requireRoom(sizeBytes - replacedBytes);
    this.#sizeBytes += sizeBytes - replacedBytes;
    if (before === undefined || change.op === "set") {
      changes.set(change.key, { of: [change], sizeBytes });
      return;
    }
    before.of.push(change);
    before.sizeBytes += sizeBytes;
  }

  requestCheckpoint(metadata: JsonObject): void {
    this.#checkpoint = { ...this.#checkpoint, ...metadata };
  }

  requestNextIteration(): void {
    this.#again = true;
  }

  /** Errors: VALUE_TOO_LARGE. */
  addStep(step: AddedStep): void {
    if (this.#added?.has(step.name) === true) return;
    const sizeBytes = measureValue(step as unknown as JsonValue);
    this.#requireRoom(sizeBytes);
    this.#sizeBytes += sizeBytes;
    (this.#added ??= new Map()).set(step.name, step);
  }

  /** What an earlier attempt recorded counts in this one too. */
  merge({ channel = [], checkpoint, again, add = [], substeps = [] }: DeferredEffects): void {
    for (const change of channel) this.change(change);
    if (checkpoint !== undefined) this.requestCheckpoint(checkpoint);
    if (again === true) this.requestNextIteration();
    for (const step of add) this.addStep(step);
    for (const name of substeps) (this.#substeps ??= new Set()).add(name);
  }

  /** The wishes of a finished sub-step, once. */
  takeSubstep(name: string, wishes: DeferredEffects | undefined): void {
    if (wishes === undefined || this.#substeps?.has(name) === true) return;
    (this.#substeps ??= new Set()).add(name);
    this.merge(wishes);
  }

  /** All of them, to be recorded; `undefined` when there are none. */
  list(): DeferredEffects | undefined {
    const channel = [...(this.#changes?.values() ?? [])].flatMap((changes) => changes.of);
    const substeps = [...(this.#substeps ?? [])];
    const wishes = {
      ...listed("channel", channel),
      ...(this.#checkpoint === undefined ? {} : { checkpoint: this.#checkpoint }),
      ...(this.#again ? { again: true as const } : {}),
      ...listed("add", [...(this.#added?.values() ?? [])]),
      ...listed("substeps", substeps),
    };
    return Object.keys(wishes).length === 0 ? undefined : wishes;
  }

  get #allBytes(): number {
    return this.#sizeBytes + (this.#outer === undefined ? 0 : this.#outer.#allBytes);
  }

  #requireRoom(moreBytes: number): void {
    const bytesMax = LIMITS.channelChangesBytesMax;
    if (this.#allBytes + moreBytes <= bytesMax) return;
    throw new SplashdownError(
      "VALUE_TOO_LARGE",
      `one step changes more than ${bytesMax} bytes of the channel and of added steps`,
      {
        details: { bytesMax },
      },
    );
  }
}
