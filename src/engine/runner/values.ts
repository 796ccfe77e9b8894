/**
 * Values in and out of events: small ones inside, large ones as sealed blobs.
 *
 * The blob is durable before the record that names it. Loaded blobs are kept while they fit, newest first, so that a
 * large value is read once and not once per template.
 */
import type { JsonValue } from "../../base/json.js";
import { LIMITS } from "../../base/limits.js";
import type { EngineEvent, EventOf } from "../model/events.js";
import type { BlobRef, ValueRef } from "../model/value-ref.js";
import type { BlobShelf } from "../model/ports.js";
import { isSmall } from "./value-size.js";

export class LargeValues {
  readonly #shelf: BlobShelf;
  /** Oldest first. */
  readonly #loaded = new Map<string, { readonly value: JsonValue; readonly sizeBytes: number }>();
  #loadedBytes = 0;

  constructor(shelf: BlobShelf) {
    this.#shelf = shelf;
  }

  /** The value of a loaded blob; `undefined` when it must be loaded first. */
  peek(ref: BlobRef): JsonValue | undefined {
    return this.#loaded.get(ref.key)?.value;
  }

  /** Errors: BLOB_CORRUPT. */
  async load(ref: BlobRef): Promise<JsonValue> {
    const known = this.peek(ref);
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
      case "progress_reported":
        return isSmallRef(event.partial) ? event : { ...event, partial: await this.#move(event.partial) };
      case "scope_entered":
        return this.#externaliseEntry(event);
      case "scope_left":
      case "task_closed":
        return isSmallRef(event.output) ? event : { ...event, output: await this.#move(event.output) };
      case "rolled_back":
        return this.#externaliseReturn(event);
      default:
        return event;
    }
  }

  async #externaliseReturn(event: EventOf<"rolled_back">): Promise<EngineEvent> {
    const { state } = event;
    return state === undefined || isSmallRef(state) ? event : { ...event, state: await this.#move(state) };
  }

  async #externaliseEntry(event: EventOf<"scope_entered">): Promise<EngineEvent> {
    const { items, keys, inputs } = event;
    if ([items, keys, inputs].every((ref) => isSmallRef(ref))) return event;
    return {
      ...event,
      ...(items === undefined ? {} : { items: await this.#move(items) }),
      ...(keys === undefined ? {} : { keys: await this.#move(keys) }),
      ...(inputs === undefined ? {} : { inputs: await this.#move(inputs) }),
    };
  }

  async #externaliseCompletion(event: EventOf<"step_completed">): Promise<EngineEvent> {
    const { saved } = event;
    if (isSmallRef(event.output) && (saved === undefined || saved.every((file) => isSmallRef(file.content))))
      return event;
    const output = await this.#move(event.output);
    if (saved === undefined) return { ...event, output };
    const moved = await Promise.all(saved.map(async (file) => ({ ...file, content: await this.#move(file.content) })));
    return { ...event, output, saved: moved };
  }

  async #move(ref: ValueRef): Promise<ValueRef> {
    return "inline" in ref ? this.store(ref.inline) : ref;
  }

  #keep(ref: BlobRef, value: JsonValue): void {
    this.#drop(ref.key);
    this.#loaded.set(ref.key, { value, sizeBytes: ref.sizeBytes });
    this.#loadedBytes += ref.sizeBytes;
    for (const key of this.#loaded.keys()) {
      if (this.#loadedBytes <= LIMITS.blobCacheBytesMax) return;
      this.#drop(key);
    }
  }

  #drop(key: string): void {
    this.#loadedBytes -= this.#loaded.get(key)?.sizeBytes ?? 0;
    this.#loaded.delete(key);
  }
}

function isSmallRef(ref: ValueRef | undefined): ref is undefined | { readonly blob: BlobRef } {
  return ref === undefined || "blob" in ref || isSmall(ref.inline);
}
