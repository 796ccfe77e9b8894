import { tmpdir } from "node:os";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { Store, TaskStore } from "../../../src/store/contract.js";
import { MemorySpace, MemoryStore } from "../../../src/store/memory-store.js";
import { createSocketPresence } from "../../../src/store/socket-presence.js";
import type { StoreContext } from "../../conformance/store-case.js";
import { STORE_GROUPS, STORE_METHODS, STORE_SUITE, TASK_METHODS } from "../../conformance/store-suite.js";
import { DiskModel } from "../../support/disk-model.js";
import { ModelFileSystem } from "../../support/model-file-system.js";
import { realClock } from "../../support/real-clock.js";
import { createSeededRandom } from "../../support/seeded-random.js";
import { createModelStore, createRealStore } from "../../support/store-places.js";

/** Opens the same data once more at each call. */
type Opener = () => Promise<Store>;
type Instance = "fresh" | "reopened" | "prefixed";

const INSTANCES: readonly Instance[] = ["fresh", "reopened", "prefixed"];
const folders: string[] = [];

const PLACES: Readonly<Record<string, (instance: Instance) => Promise<Opener>>> = {
  memory: async () => {
    const space = new MemorySpace();
    return async () => new MemoryStore({ space, deliverablesRoot: "/outputs" });
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

const called = new Set<string>();
const ran = new Map<string, number>();

/** Notes which methods of the contract are called. */
function counted<T extends object>(target: T, area: string): T {
  return new Proxy(target, {
    get: (_target, name) => {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== "function") return member;
      return (...args: unknown[]): unknown => {
        called.add(`${area}.${String(name)}`);
        const result: unknown = member.apply(target, args);
        return area === "store" && (name === "task" || name === "createTask")
          ? (result as Promise<TaskStore | undefined>).then((task) => task && counted(task, "task"))
          : result;
      };
    },
  });
}

async function createContext(place: string, instance: Instance): Promise<StoreContext & { closeAll(): Promise<void> }> {
  const open = await PLACES[place]?.(instance);
  if (open === undefined) throw new Error(`no place ${place}`);
  const opened: Store[] = [];
  const openAgain = async () => {
    const store = counted(await open(), "store");
    opened.push(store);
    return store;
  };
  if (instance !== "fresh") {
    const before = await open();
    const task = await before.createTask("other");
    await task?.putOnce("note", Buffer.from("before"));
    await task?.claim();
    await before.close();
  }
  const closeAll = async () => {
    for (const store of opened) await store.close();
  };
  return { store: await openAgain(), openAgain, closeAll };
}

afterAll(async () => {
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
});

for (const place of Object.keys(PLACES)) {
  for (const instance of INSTANCES) {
    for (const group of STORE_GROUPS) {
      describe(`store: ${place}, ${instance}, ${group}`, () => {
        it.each(STORE_SUITE[group])("$name", async (storeCase) => {
          const context = await createContext(place, instance);
          try {
            await expect(storeCase.run(context)).resolves.toBeUndefined();
          } finally {
            await context.closeAll();
          }
          const key = `${place}/${instance}/${group}`;
          ran.set(key, (ran.get(key) ?? 0) + 1);
        });
      });
    }
  }
}

describe("the store suite", () => {
  it("has run every case of every group on every instance of every store", () => {
    const expected = Object.keys(PLACES).flatMap((place) =>
      INSTANCES.flatMap((instance) =>
        STORE_GROUPS.map((group) => [`${place}/${instance}/${group}`, STORE_SUITE[group].length] as const),
      ),
    );
    expect(Object.keys(STORE_SUITE).sort()).toEqual([...STORE_GROUPS].sort());
    expect(Math.min(...STORE_GROUPS.map((group) => STORE_SUITE[group].length))).toBeGreaterThan(0);
    expect(ran).toEqual(new Map(expected));
  });

  it("has called every method of the contract", () => {
    const expected = [...STORE_METHODS.map((name) => `store.${name}`), ...TASK_METHODS.map((name) => `task.${name}`)];
    expect([...called].sort()).toEqual(expected.sort());
  });
});
