/** Stores for tests: over a disk model, and over the real file system in a folder that is removed afterwards. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FileSystem } from "../../src/base/file-system.js";
import { createNodeFileSystem } from "../../src/base/node-file-system.js";
import { DirectoryStore } from "../../src/store/directory/directory-store.js";
import type { PresencePort } from "../../src/store/contract/presence-port.js";
import type { StoreParts } from "../../src/store/contract/store-parts.js";
import { FakeClock } from "./fake-clock.js";
import { realClock } from "./real-clock.js";
import { createSeededRandom } from "./seeded-random.js";

/** Root of the stores that tests make on a disk model. */
export const MODEL_ROOT = "/outputs";
export const MODEL_USER_ID = 1000;

/** Presence in a simulation, where every owner that could be knocked at has died: recorded owners are `gone`. */
export const DEAD_OWNERS: PresencePort = {
  listen: async () => ({ close: async () => undefined }),
  ping: async () => ({ kind: "refused" }),
};

/** What stores over a simulated file system are built from; the reserve is small so that images stay cheap. */
export function createModelParts(
  fileSystem: FileSystem,
  parts: Partial<StoreParts> = {},
  root = MODEL_ROOT,
): StoreParts {
  return {
    fileSystem,
    clock: new FakeClock(),
    random: createSeededRandom(`store ${root}`),
    platform: "linux",
    userId: MODEL_USER_ID,
    reserveBytes: 4096,
    ...parts,
  };
}

/** A directory store over a simulated file system. */
export function createModelStore(
  fileSystem: FileSystem,
  options: { root?: string; parts?: Partial<StoreParts> } = {},
): DirectoryStore {
  const root = options.root ?? MODEL_ROOT;
  return new DirectoryStore({
    root,
    address: `file:${root}`,
    parts: createModelParts(fileSystem, options.parts, root),
  });
}

/** A directory store on this machine. */
export function createRealStore(root: string, parts: Partial<StoreParts> = {}): DirectoryStore {
  return new DirectoryStore({
    root,
    address: `file:${root}`,
    parts: {
      fileSystem: createNodeFileSystem(),
      clock: realClock,
      random: createSeededRandom(`real ${root} ${Math.random()}`),
      platform: process.platform,
      userId: process.getuid?.(),
      ...parts,
    },
  });
}

/** Gives a new folder to the work and removes it afterwards. */
export async function withFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "splashdown-"));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
