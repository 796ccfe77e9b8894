/**
 * Values in and out of events: small ones inside, large ones as sealed blobs.
 *
 * The blob is durable before the record that names it. Loaded blobs are kept while they fit, newest first, so that a
 * large value is read once and not once per template.
 */
import type { JsonValue } from "../../base/json.js";
import { LIMITS } from "../../base/limits.js";
import type { BlobRef, EngineEvent, ValueRef } from "../events.js";
import type { BlobShelf } from "../ports.js";

const CACHED_BLOBS_MAX = 64;

export class LargeValues {
  readonly #shelf: BlobShelf;
  readonly #loaded = new Map<string, JsonValue>();

  constructor(shelf: BlobShelf) {
    this.#shelf = shelf;
  }

  /** The value of a loaded blob; `undefined` when it must be loaded first. */
  readonly peek = (ref: BlobRef): JsonValue | undefined => this.#loaded.get(ref.key);

  async load(ref: BlobRef): Promise<JsonValue> {
    const known = this.#loaded.get(ref.key);
    if (known !== undefined) return known;
    const value = await this.#shelf.get(ref);
    this.#keep(ref, value);
    return value;
  }

  async resolve(ref: ValueRef): Promise<JsonValue> {
    return "inline" in ref ? ref.inline : this.load(ref.blob);
  }

  /** The reference to store: the value itself when small, else a blob that is durable on return. */
  async store(value: JsonValue): Promise<ValueRef> {
    if (isSmall(value)) return { inline: value };
    const blob = await this.#shelf.put(value);
    this.#keep(blob, value);
    return { blob };
  }

  /** The event with its large values moved to blobs; the same object when there are none. */
  async externalise(event: EngineEvent): Promise<EngineEvent> {
    switch (event.type) {
      case "step_intended":
        return isSmallRef(event.work) ? event : { ...event, work: await this.#move(event.work) };
      case "step_completed":
        return this.#externaliseCompletion(event);
      case "scope_left":
      case "task_closed":
        return event.output === undefined || isSmallRef(event.output)
          ? event
          : { ...event, output: await this.#move(event.output) };
      default:
        return event;
    }
  }

  async #externaliseCompletion(event: Extract<EngineEvent, { type: "step_completed" }>): Promise<EngineEvent> {
    const savedIsSmall = event.saved?.every((file) => isSmallRef(file.content)) ?? true;
    if (isSmallRef(event.output) && savedIsSmall) return event;
    const output = await this.#move(event.output);
    if (event.saved === undefined) return { ...event, output };
    const saved = await Promise.all(
      event.saved.map(async (file) => ({ ...file, content: await this.#move(file.content) })),
    );
    return { ...event, output, saved };
  }

  async #move(ref: ValueRef): Promise<ValueRef> {
    return "inline" in ref ? this.store(ref.inline) : ref;
  }

  #keep(ref: BlobRef, value: JsonValue): void {
    this.#loaded.delete(ref.key);
    this.#loaded.set(ref.key, value);
    if (this.#loaded.size <= CACHED_BLOBS_MAX) return;
    const oldest = this.#loaded.keys().next();
    if (!oldest.done) this.#loaded.delete(oldest.value);
  }
}

function isSmallRef(ref: ValueRef): boolean {
  return "blob" in ref || isSmall(ref.inline);
}

/** True when the JSON text stays under the blob threshold; stops counting as soon as it does not. */
export function isSmall(value: JsonValue): boolean {
  return remainingAfter(value, LIMITS.blobThresholdBytes) > 0;
}

/** Budget left after the JSON text of the value, roughly: exact for what matters, which is long strings and many nodes. */
function remainingAfter(value: JsonValue | undefined, budget: number): number {
  if (typeof value === "string") return budget - value.length - 2;
  if (typeof value !== "object" || value === null) return budget - 8;
  let left = budget - 2;
  if (Array.isArray(value)) {
    for (const item of value) {
      left = remainingAfter(item as JsonValue, left - 1);
      if (left <= 0) return left;
    }
    return left;
  }
  for (const [key, item] of Object.entries(value)) {
    left = remainingAfter(item as JsonValue | undefined, left - key.length - 4);
    if (left <= 0) return left;
  }
  return left;
}
