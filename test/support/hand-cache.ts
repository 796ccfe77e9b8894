/** A cache in memory that can be told how to answer. */
import type { CachePort } from "../../src/store/cache/cache-port.js";

/** `other`: something else it holds. `silent`: never. */
export type CacheMood = "true" | "other" | "flipped" | "short" | "absent" | "failing" | "silent";

export class HandCache implements CachePort {
  readonly held = new Map<string, Uint8Array>();
  /** Calls of `get` and `set`. */
  calls = 0;
  /** Taken in turn by `get`; `set` heeds `failing` and `silent` alone. */
  moods: readonly CacheMood[];
  #asked = 0;

  constructor(moods: readonly CacheMood[] = ["true"]) {
    this.moods = moods;
  }

  async get(name: string): Promise<Uint8Array | undefined> {
    this.calls += 1;
    const mood = this.moods[(this.#asked += 1) % this.moods.length] ?? "true";
    await this.#suffer(mood);
    const bytes = this.held.get(name);
    switch (mood) {
      case "other":
        return Buffer.from("something else");
      case "flipped":
        return bytes?.map((byte, at) => (at === bytes.length >> 1 ? byte ^ 1 : byte));
      case "short":
        return bytes?.subarray(0, -1);
      case "absent":
        return undefined;
      default:
        return bytes;
    }
  }

  async set(name: string, bytes: Uint8Array): Promise<void> {
    this.calls += 1;
    await this.#suffer(this.moods[0] ?? "true");
    this.held.set(name, Uint8Array.from(bytes));
  }

  async close(): Promise<void> {
    // What it holds stays for the next opener.
  }

  async #suffer(mood: CacheMood): Promise<void> {
    if (mood === "failing") throw new Error("connection refused");
    if (mood === "silent") await new Promise(() => undefined);
  }
}
