import { tmpdir } from "node:os";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll } from "vitest";
import { MemorySpace, MemoryStore } from "../../../src/store/memory/memory-store.js";
import { createSocketPresence } from "../../../src/store/presence/socket-presence.js";
import { DiskModel } from "../../support/disk-model.js";
import { HandCache } from "../../support/hand-cache.js";
import { ModelFileSystem } from "../../support/model-file-system.js";
import { realClock } from "../../support/real-clock.js";
import { createSeededRandom } from "../../support/seeded-random.js";
import { openBehind } from "../../support/sql-places.js";
import { createModelStore, createRealStore } from "../../support/store-places.js";
import { describeStores, type StorePlaces } from "../../support/store-suite-run.js";

const folders: string[] = [];

const PLACES: StorePlaces = {
  memory: async () => {
    const space = new MemorySpace();
    return async () => new MemoryStore({ space, deliverablesRoot: "/outputs" });
  },
  // It says the truth, lies and forgets in turn.
  "memory behind a cache": async () => {
    const space = new MemorySpace();
    const cache = new HandCache(["true", "other", "flipped", "absent"]);
    return async () => openBehind(new MemoryStore({ space, deliverablesRoot: "/outputs" }), async () => cache);
  },
  "directory on a disk model": async (instance) => {
    const fileSystem = new ModelFileSystem(new DiskModel());
    let opened = 0;
    const root = instance === "prefixed" ? "/deep/below/outputs" : "/outputs";
    return async () => createModelStore(fileSystem, { root, parts: { random: createSeededRandom((opened += 1)) } });
  },
  "directory on this machine": async (instance) => {
    const folder = await mkdtemp(join(tmpdir(), "splashdown-store-"));
    folders.push(folder);
    const root =
      instance === "prefixed" ? join(folder, "deep", "below".repeat(20), "outputs") : join(folder, "outputs");
    const presence = createSocketPresence({ clock: realClock, platform: process.platform });
    return async () => createRealStore(root, { presence });
  },
};

afterAll(async () => {
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
});

describeStores(PLACES);
