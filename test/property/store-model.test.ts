/** The directory store does what the memory store does, whatever is asked of it in whatever order. */
import * as fc from "fast-check";
import { describe, it } from "vitest";
import assert from "node:assert/strict";
import { errorCodeOf } from "../../src/base/errors.js";
import type { SegmentWriter, Store, TaskStore } from "../../src/store/contract/contract.js";
import { MemorySpace, MemoryStore } from "../../src/store/memory/memory-store.js";
import { ModelFileSystem } from "../support/model-file-system.js";
import { createSeededRandom } from "../support/seeded-random.js";
import { createModelStore } from "../support/store-places.js";

const KEYS = [
  "a/b",
  "a-b",
  "ab/c",
  "ab/d/e",
  "keyring-1.json",
  "blobs/aa/x.bin",
  "blobs/ab/x.bin",
  ".bad",
  "journal/x",
];
const PREFIXES = ["", "a", "a/", "ab/d/", "blobs/", "blobs/a", "keyring-", "zz", "../"];
const TASKS = ["one", "two", "Bad/name"];

type Step =
  | {
      readonly act: "create" | "open" | "reopen" | "claim" | "segments" | "closeSegment" | "tasks";
      readonly task: string;
    }
  | { readonly act: "put"; readonly task: string; readonly key: string; readonly text: string }
  | {
      readonly act: "get";
      readonly task: string;
      readonly key: string;
      readonly offset: number;
      readonly length: number;
    }
  | { readonly act: "remove"; readonly task: string; readonly key: string }
  | { readonly act: "list"; readonly task: string; readonly prefix: string }
  | { readonly act: "openSegment" | "confirm" | "removeSegment"; readonly task: string; readonly epoch: number }
  | { readonly act: "append"; readonly task: string; readonly lines: readonly string[] };

const task = fc.constantFrom(...TASKS);
const key = fc.constantFrom(...KEYS);
const epoch = fc.integer({ min: 1, max: 4 });

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ act: fc.constantFrom("create", "open", "reopen", "claim", "segments", "closeSegment", "tasks"), task }),
  fc.record({ act: fc.constant("put"), task, key, text: fc.string({ maxLength: 20 }) }),
  fc.record({ act: fc.constant("get"), task, key, offset: fc.nat(25), length: fc.nat(25) }),
  fc.record({ act: fc.constant("remove"), task, key }),
  fc.record({ act: fc.constant("list"), task, prefix: fc.constantFrom(...PREFIXES) }),
  fc.record({ act: fc.constantFrom("openSegment", "confirm", "removeSegment"), task, epoch }),
  fc.record({ act: fc.constant("append"), task, lines: fc.array(fc.string({ maxLength: 12 }), { maxLength: 4 }) }),
) as fc.Arbitrary<Step>;

/** One store with the handles a user of it would hold. */
class User {
  readonly #open: () => Store;
  #store: Store;
  readonly #tasks = new Map<string, TaskStore>();
  readonly #segments = new Map<string, SegmentWriter>();

  constructor(open: () => Store) {
    this.#open = open;
    this.#store = open();
  }

  /** What the step answers, or the code it fails with, as comparable data. */
  async do(next: Step): Promise<unknown> {
    try {
      return await this.#perform(next);
    } catch (error) {
      const code = errorCodeOf(error);
      if (code === undefined) throw error;
      return { code };
    }
  }

  async #perform(next: Step): Promise<unknown> {
    if (next.act === "tasks") return this.#store.tasks();
    if (next.act === "create") return this.#hold(next.task, await this.#store.createTask(next.task));
    if (next.act === "open") return this.#hold(next.task, await this.#store.task(next.task));
    if (next.act === "reopen") return this.#reopen();
    const held = this.#tasks.get(next.task);
    return held === undefined ? "no task" : this.#performOn(held, next);
  }

  async #performOn(held: TaskStore, next: Step): Promise<unknown> {
    switch (next.act) {
      case "put":
        return held.putOnce(next.key, Buffer.from(next.text));
      case "get":
        return [textOf(await held.get(next.key)), textOf(await held.get(next.key, next))];
      case "remove":
        return held.remove(next.key);
      case "list":
        return held.list(next.prefix);
      default:
        return this.#performOnLog(held, next);
    }
  }

  async #performOnLog(held: TaskStore, next: Step): Promise<unknown> {
    switch (next.act) {
      case "claim":
        return held.claim();
      case "segments":
        return this.#readAll(held);
      case "openSegment": {
        const segment = await held.openSegment(next.epoch, Buffer.from(`header ${next.epoch}`));
        this.#segments.set(next.task, segment);
        return segment.id;
      }
      case "confirm":
        return held.confirm(next.epoch);
      case "removeSegment":
        return held.removeSegment({ epoch: next.epoch, index: 0 });
      case "append":
        return this.#segments.get(next.task)?.append(next.lines.map((line) => Buffer.from(line)));
      case "closeSegment":
        return this.#segments.get(next.task)?.close();
      default:
        return undefined;
    }
  }

  async #readAll(held: TaskStore): Promise<unknown> {
    const read = [];
    for (const segment of await held.segments()) read.push([segment, textOf(await held.read(segment))]);
    return read;
  }

  #hold(name: string, found: TaskStore | undefined): boolean {
    if (found !== undefined) this.#tasks.set(name, found);
    return found !== undefined;
  }

  async #reopen(): Promise<void> {
    for (const segment of this.#segments.values()) await segment.close();
    for (const held of this.#tasks.values()) await held.close();
    await this.#store.close();
    this.#tasks.clear();
    this.#segments.clear();
    this.#store = this.#open();
  }
}

function textOf(bytes: Uint8Array | undefined): string | undefined {
  return bytes === undefined ? undefined : Buffer.from(bytes).toString();
}

describe("DirectoryStore", () => {
  it("answers every sequence of calls as the memory store does", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 60 }), async (steps) => {
        const fileSystem = new ModelFileSystem();
        const space = new MemorySpace();
        let opened = 0;
        const directory = new User(() =>
          createModelStore(fileSystem, { parts: { random: createSeededRandom((opened += 1)) } }),
        );
        const memory = new User(() => new MemoryStore({ space, deliverablesRoot: "/outputs" }));
        for (const next of [
          { act: "create", task: "one" } as const,
          { act: "claim", task: "one" } as const,
          ...steps,
        ]) {
          assert.deepEqual(await directory.do(next), await memory.do(next), JSON.stringify(next));
        }
      }),
      { numRuns: 400 },
    );
  });
});
