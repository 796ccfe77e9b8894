/** Runs the suite of the store contract over stores, each on a fresh, a reopened and a prefixed instance of it. */
import { describe, expect, it } from "vitest";
import type { Store, TaskStore } from "../../src/store/contract/contract.js";
import type { StoreContext } from "../conformance/store-case.js";
import { STORE_GROUPS, STORE_METHODS, STORE_SUITE, TASK_METHODS } from "../conformance/store-suite.js";

/** Opens the same data once more at each call. */
export type Opener = () => Promise<Store>;
export type Instance = "fresh" | "reopened" | "prefixed";
/** By name: new data at each call, as an opener of it. */
export type StorePlaces = Readonly<Record<string, (instance: Instance) => Promise<Opener>>>;

const INSTANCES: readonly Instance[] = ["fresh", "reopened", "prefixed"];

type OpenContext = StoreContext & { closeAll(): Promise<void> };

interface Setting {
  readonly instance: Instance;
  /** Methods of the contract that were called. */
  readonly called: Set<string>;
}

/** Notes which methods of the contract are called. */
function counted<T extends object>(target: T, area: string, called: Set<string>): T {
  return new Proxy(target, {
    get: (_target, name) => {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== "function") return member;
      return (...args: unknown[]): unknown => {
        called.add(`${area}.${String(name)}`);
        const result: unknown = member.apply(target, args);
        return area === "store" && (name === "task" || name === "createTask")
          ? (result as Promise<TaskStore | undefined>).then((task) => task && counted(task, "task", called))
          : result;
      };
    },
  });
}

async function createContext(open: Opener, { instance, called }: Setting): Promise<OpenContext> {
  const opened: Store[] = [];
  const openAgain = async () => {
    const store = counted(await open(), "store", called);
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

/** Registers every case of every group on every instance, and a test that none was left out. */
export function describeStores(places: StorePlaces): void {
  const called = new Set<string>();
  const ran = new Map<string, number>();
  for (const place of Object.keys(places)) {
    for (const instance of INSTANCES) {
      for (const group of STORE_GROUPS) {
        describe(`store: ${place}, ${instance}, ${group}`, () => {
          // Whole titles: "$name" would be cut.
          it.each(STORE_SUITE[group].map((each) => [each.name, each] as const))("%s", async (_name, storeCase) => {
            const open = await places[place]?.(instance);
            if (open === undefined) throw new Error(`no place ${place}`);
            const context = await createContext(open, { instance, called });
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
      const expected = Object.keys(places).flatMap((place) =>
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
}
