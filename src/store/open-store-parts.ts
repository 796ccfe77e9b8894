import type { MemorySpace } from "./memory-store.js";
import type { StoreParts } from "./store-parts.js";

export interface OpenStoreParts extends StoreParts {
  /** What relative paths in an address start from; absolute. */
  readonly workingFolder: string;
  /** Data of `memory:` stores; a fresh one unless given. */
  readonly memory?: MemorySpace | undefined;
}
