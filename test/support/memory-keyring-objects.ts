/** Immutable objects in memory: as much of a task's store as keyrings need. */
import type { KeyringObjects } from "../../src/vault/keyring-revisions.js";

export class MemoryKeyringObjects implements KeyringObjects {
  readonly objects = new Map<string, Uint8Array>();
  /** Called before each creation; a test lets somebody else be faster here. */
  beforePut: (key: string) => void | Promise<void> = () => undefined;

  async putOnce(key: string, bytes: Uint8Array): Promise<"created" | "exists"> {
    await this.beforePut(key);
    if (this.objects.has(key)) return "exists";
    this.objects.set(key, new Uint8Array(bytes));
    return "created";
  }

  async get(key: string): Promise<Uint8Array | undefined> {
    return this.objects.get(key);
  }

  async list(prefix: string): Promise<{ key: string; sizeBytes: number }[]> {
    const keys = [...this.objects.keys()].filter((key) => key.startsWith(prefix)).sort();
    return keys.map((key) => ({ key, sizeBytes: this.objects.get(key)?.length ?? 0 }));
  }

  async remove(key: string): Promise<void> {
    this.objects.delete(key);
  }
}
