/**
 * The store's own crash explorer: a crash after every operation of a small life of a task, every image opened again.
 * The protocols above the store are explored on their own.
 */
import { describe, expect, it } from "vitest";
import { errorCodeOf, messageOf } from "../../../src/base/errors.js";
import type { FileSystem } from "../../../src/base/file-system.js";
import type { Store } from "../../../src/store/contract/contract.js";
import { FAULTS, type FaultPlan } from "../../simulation/fault-plan.js";
import { FaultyFileSystem } from "../../simulation/faulty-file-system.js";
import type { DiskModel } from "../../support/disk-model.js";
import { RushingClock } from "../../support/rushing-clock.js";
import { createSeededRandom } from "../../support/seeded-random.js";
import { createModelStore } from "../../support/store-places.js";

const SEEDS = 12;

/** What was acknowledged, and how many operations had been done by then. */
interface Acknowledgement {
  readonly at: number;
  readonly what: string;
}

function openOn(fileSystem: FileSystem, seed: number): Store {
  return createModelStore(fileSystem, { parts: { clock: new RushingClock(), random: createSeededRandom(seed) } });
}

/** Whether the first thing that is made durable is an object or an epoch: each must bring its own folders with it. */
interface LifeMode {
  readonly putsFirst: boolean;
}

/** The life of a task: created, claimed, written to, an object put, read by a second owner that claims and writes. */
async function live(store: Store, acknowledge: (what: string) => void, mode: LifeMode): Promise<void> {
  const task = (await store.task("task")) ?? (await store.createTask("task"));
  if (task === undefined) throw new Error("no task");
  if (mode.putsFirst) {
    await task.putOnce("keyring-1.json", Buffer.from("yes"));
    acknowledge("object keyring-1.json");
  }
  const epoch = await task.claim();
  acknowledge(`claim ${epoch}`);
  for (const segment of await task.segments()) {
    const text = Buffer.from(await task.read(segment)).toString();
    // What a claimer has read it builds upon, so it must not vanish afterwards.
    for (const line of text.split("\n").slice(0, -1)) acknowledge(`line ${segment.epoch}-${segment.index} ${line}`);
  }
  let segment = await task.openSegment(epoch, Buffer.from(`header-${epoch}-0`));
  acknowledge(`line ${epoch}-0 header-${epoch}-0`);
  await segment.append([Buffer.from(`a${epoch}`), Buffer.from("b".repeat(100))]);
  acknowledge(`line ${epoch}-0 a${epoch}`);
  await segment.close();
  segment = await task.openSegment(epoch, Buffer.from(`header-${epoch}-1`));
  acknowledge(`line ${epoch}-1 header-${epoch}-1`);
  await task.putOnce(`blobs/ab/${epoch}.bin`, Buffer.from("blob"));
  acknowledge(`object blobs/ab/${epoch}.bin`);
  const outcome = await task.putOnce("control/answer-1", Buffer.from("yes"));
  acknowledge("object control/answer-1");
  if (outcome === "exists") expect(Buffer.from((await task.get("control/answer-1")) ?? []).toString()).toBe("yes");
  // Its folders may be left over from a life that ended before their names were durable.
  await task.putOnce(`audit/aa/${epoch}.json`, Buffer.from("yes"));
  acknowledge(`object audit/aa/${epoch}.json`);
  await task.sweep();
  await task.remove(`blobs/ab/${epoch}.bin`);
  acknowledge(`removed blobs/ab/${epoch}.bin`);
  await segment.close();
}

/** The facts that a disk shows to whoever opens it. */
async function observe(disk: DiskModel): Promise<Set<string>> {
  const store = openOn(new FaultyFileSystem({ disk }), 99);
  const seen = new Set<string>();
  const task = await store.task("task");
  if (task === undefined) return seen;
  seen.add("task");
  for (const segment of await task.segments()) {
    for (let epoch = 1; epoch <= segment.epoch; epoch += 1) seen.add(`claim ${epoch}`);
    const text = Buffer.from(await task.read(segment)).toString();
    for (const line of text.split("\n").slice(0, -1)) seen.add(`line ${segment.epoch}-${segment.index} ${line}`);
  }
  for (const { key } of await task.list("")) {
    const text = Buffer.from((await task.get(key)) ?? []).toString();
    expect(text, `object ${key} is whole or not there`).toBe(key.startsWith("blobs") ? "blob" : "yes");
    seen.add(`object ${key}`);
  }
  return seen;
}

function missing(acknowledged: readonly Acknowledgement[], k: number, seen: ReadonlySet<string>): string[] {
  const due = acknowledged.filter((entry) => entry.at <= k).map((entry) => entry.what);
  const begun = acknowledged.map((entry) => entry.what);
  return due.filter((what) => {
    if (what.startsWith("removed ")) return seen.has(`object ${what.slice("removed ".length)}`);
    // An object whose removal may have begun need not be there.
    if (what.startsWith("object blobs") && begun.includes(`removed ${what.slice("object ".length)}`)) return false;
    return !seen.has(what);
  });
}

async function run(
  fileSystem: FaultyFileSystem,
  seed: number,
  mode: LifeMode = { putsFirst: true },
): Promise<{ acknowledged: Acknowledgement[]; error: unknown }> {
  const acknowledged: Acknowledgement[] = [];
  const acknowledge = (what: string) => acknowledged.push({ at: fileSystem.operationCount, what });
  const error: unknown = await live(openOn(fileSystem, seed), acknowledge, mode).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return { acknowledged, error };
}

/** Counts violations over all images of one life, killed or cut at every operation. */
async function explore(
  makeFileSystem: (disk?: DiskModel) => FaultyFileSystem,
): Promise<{ images: number; lost: string[] }> {
  const fileSystem = makeFileSystem();
  const { acknowledged, error } = await run(fileSystem, 1);
  expect(error).toBe(undefined);
  const lost: string[] = [];
  let images = 0;
  for (let k = 0; k <= fileSystem.operationCount; k += 1) {
    for (let seed = -1; seed < SEEDS; seed += 1) {
      const loss = seed < 0 ? ({ kind: "kill" } as const) : ({ kind: "power", seed } as const);
      images += 1;
      const gone = missing(acknowledged, k, await observe(fileSystem.imageAt(k, loss, seed < 0 ? k : undefined)));
      lost.push(...gone.map((what) => `after ${k}, ${loss.kind} ${seed}: ${what}`));
    }
    const killed = fileSystem.imageAt(k, { kind: "kill" });
    for (const putsFirst of [true, false]) {
      lost.push(...(await exploreSecondLife(killed, makeFileSystem, { putsFirst })));
    }
  }
  return { images, lost };
}

/** The process was killed, another one goes on from what it sees, then the power is cut. */
async function exploreSecondLife(
  disk: DiskModel,
  makeFileSystem: (disk?: DiskModel) => FaultyFileSystem,
  mode: LifeMode,
): Promise<string[]> {
  const fileSystem = makeFileSystem(disk);
  const { acknowledged, error } = await run(fileSystem, 2, mode);
  expect(error).toBe(undefined);
  const lost: string[] = [];
  for (const k of new Set(acknowledged.map((entry) => entry.at))) {
    for (const seed of [0, 2]) {
      const gone = missing(acknowledged, k, await observe(fileSystem.imageAt(k, { kind: "power", seed })));
      lost.push(...gone.map((what) => `second life after ${k}, power ${seed}: ${what}`));
    }
  }
  return lost;
}

function withoutSync(name: "sync" | "datasync" | "syncFolder") {
  return (disk?: DiskModel) => {
    const fileSystem = new FaultyFileSystem(disk === undefined ? {} : { disk });
    const open = fileSystem.open.bind(fileSystem);
    if (name === "syncFolder") fileSystem.syncFolder = async () => undefined;
    else fileSystem.open = async (path, intent) => ({ ...(await open(path, intent)), [name]: async () => undefined });
    return fileSystem;
  };
}

describe("DirectoryStore under crashes", () => {
  it("S2, S3: loses nothing it acknowledged and shows no half object, at every operation and every loss", async () => {
    const { images, lost } = await explore((disk) => new FaultyFileSystem(disk === undefined ? {} : { disk }));
    expect(lost).toEqual([]);
    expect(images).toBeGreaterThan(1000);
  });

  it.each(["sync", "datasync", "syncFolder"] as const)("is caught by this test when it leaves out %s", async (name) => {
    let caught: unknown;
    const result = await explore(withoutSync(name)).catch((error: unknown) => {
      caught = error;
      return undefined;
    });
    expect((result?.lost.length ?? 0) > 0 || caught !== undefined).toBe(true);
  });

  it("answers every injected fault with a coded error, keeps what it acknowledged, and can go on afterwards", async () => {
    const probe = new FaultyFileSystem();
    await run(probe, 1);
    const violations: string[] = [];
    let count = 0;
    for (let at = 1; at <= probe.operationCount; at += 1) {
      for (const fault of FAULTS) {
        for (const times of ["once", "forEver"] as const) {
          violations.push(...(await exploreFault({ at, fault, times })));
          count += 1;
        }
      }
    }
    expect(violations).toEqual([]);
    expect(count).toBeGreaterThan(500);
  });
});

async function exploreFault(plan: FaultPlan): Promise<string[]> {
  const violations: string[] = [];
  const fileSystem = new FaultyFileSystem({ faults: [plan] });
  const { acknowledged, error } = await run(fileSystem, 1);
  if (error !== undefined && !/^(STORE|SEGMENT)_/.test(errorCodeOf(error) ?? "")) violations.push(messageOf(error));
  const k = fileSystem.operationCount;
  for (const seed of [0, 5]) {
    const disk = fileSystem.imageAt(k, { kind: "power", seed });
    violations.push(...missing(acknowledged, k, await observe(disk)));
    const next = await run(new FaultyFileSystem({ disk }), 3);
    if (next.error !== undefined) violations.push(messageOf(next.error));
  }
  return violations.map((violation) => `${JSON.stringify(plan)}: ${violation}`);
}
