/**
 * The crash explorer: every workload, a crash after each of its operations, several images of the disk for each crash,
 * recovery on every image, and the oracle's word on what it found.
 */
import { digestOfDisk } from "./disk-digest.js";
import type { FaultyFileSystem } from "./faulty-file-system.js";
import type { Loss } from "./disk-image.js";
import { FAULTS, type FaultPlan } from "./fault-plan.js";
import { judgeDisk, judgeSecrecy, type Violation } from "./oracle.js";
import { liveAlone, liveSuperseded, type Life, type Protocol } from "./workloads.js";

export interface ExplorerSettings {
  /** Power-loss images for each crash, beside the killed process. */
  readonly lossesPerCrash: number;
  /** One in so many of the distinct images is also recovered twice and worked on to the end. */
  readonly goOnEvery: number;
  /** Ends a workload at its first violation: for mutants. */
  readonly stopsAtViolation: boolean;
}

export interface Exploration {
  readonly workload: string;
  readonly operations: number;
  readonly images: number;
  /** Of the images: those that differ from each other, or whose callers had been told other things. */
  readonly distinct: number;
  readonly violations: readonly Violation[];
}

type Workload = (protocol: Protocol, settings: ExplorerSettings) => Promise<Exploration>;

/** From this many images on for each crash, every errno is tried. */
const FAULTS_ALL_FROM = 48;

/** Everything that is explored, by name. */
export const WORKLOADS = {
  "one step": (protocol, settings) => exploreAlone("one step", 1, protocol, settings),
  "three steps": (protocol, settings) => exploreAlone("three steps", 3, protocol, settings),
  "recovery of a killed task": exploreRecovery,
  "superseded owner continues": exploreSuperseded,
  "an operation fails, then a crash": exploreFaults,
  "a sync fails, killed, taken over": exploreLostSyncs,
} satisfies Record<string, Workload>;

export type WorkloadName = keyof typeof WORKLOADS;

async function exploreAlone(
  workload: string,
  stepCount: number,
  protocol: Protocol,
  settings: ExplorerSettings,
): Promise<Exploration> {
  const life = await liveAlone({ stepCount, protocol });
  const sum = createSum(workload);
  await exploreLife(life, settings, sum);
  return sum.conclude();
}

/** Two levels: killed somewhere, taken over, and that crashed again at every operation. */
async function exploreRecovery(protocol: Protocol, settings: ExplorerSettings): Promise<Exploration> {
  const sum = createSum("recovery of a killed task");
  const first = await liveAlone({ stepCount: 2, protocol });
  for (const k of killPoints(first.disk)) {
    const start = first.disk.imageAt(k, { kind: "kill" }, 1);
    const life = await liveAlone({ stepCount: 2, protocol, start, before: first.trace.upTo(k) });
    await exploreLife(life, { ...settings, lossesPerCrash: Math.ceil(settings.lossesPerCrash / 3) }, sum);
    if (sum.isOver(settings)) break;
  }
  return sum.conclude();
}

/** Here and there, and each time right after the next write too: it is all there, and nobody has synced it. */
function killPoints({ operations, operationCount }: FaultyFileSystem): readonly number[] {
  const points = [0.3, 0.5, 0.7, 0.9].flatMap((share) => {
    const k = Math.floor(operationCount * share);
    const write = operations.findIndex(({ name }, at) => at >= k && name === "write");
    return write < 0 ? [k] : [k, write + 1];
  });
  return [...new Set(points)];
}

async function exploreSuperseded(protocol: Protocol, settings: ExplorerSettings): Promise<Exploration> {
  const sum = createSum("superseded owner continues");
  for (const [place, at] of [
    ["recorded", 1],
    ["recorded", 2],
    ["intended", 1],
    ["intended", 2],
  ] as const) {
    const life = await liveSuperseded({ stepCount: 2, protocol, place, at });
    await exploreLife(life, { ...settings, lossesPerCrash: Math.ceil(settings.lossesPerCrash / 3) }, sum);
    if (sum.isOver(settings)) break;
  }
  return sum.conclude();
}

/** Each operation fails in each way it may, once or from then on; the owner bears it or ends; then the machine stops. */
async function exploreFaults(protocol: Protocol, settings: ExplorerSettings): Promise<Exploration> {
  const sum = createSum("an operation fails, then a crash");
  const { disk } = await liveAlone({ stepCount: 1, protocol });
  for (let at = 1; at <= disk.operationCount; at += 1) {
    for (const plan of plansAt(at, settings)) {
      const life = await liveAlone({ stepCount: 1, protocol, faults: [plan] });
      if (life.disk.faultCount === 0) continue;
      const end = life.disk.operationCount;
      sum.operations += 1;
      for (const loss of lossesOf(end, Math.ceil(settings.lossesPerCrash / 12))) {
        await judgeImage(life, { k: end, loss, torn: undefined }, settings, sum);
      }
      if (sum.isOver(settings)) return sum.conclude();
    }
  }
  return sum.conclude();
}

function plansAt(at: number, settings: ExplorerSettings): FaultPlan[] {
  const faults = settings.lossesPerCrash < FAULTS_ALL_FROM ? (["EIO", "ENOSPC"] as const) : FAULTS;
  return faults.flatMap((fault) => [
    { at, fault, times: "once" as const },
    { at, fault, times: "forEver" as const },
  ]);
}

/**
 * A sync fails, the process is killed before it could repeat what was lost, another takes over what the kernel still
 * shows, the power goes. What the heir built upon is in its own segment (J13): nothing of it is missing.
 */
async function exploreLostSyncs(protocol: Protocol, settings: ExplorerSettings): Promise<Exploration> {
  const sum = createSum("a sync fails, killed, taken over");
  const { disk } = await liveAlone({ stepCount: 1, protocol });
  const syncs = disk.operations.flatMap(({ name }, index) =>
    name === "datasync" || name === "sync" ? [index + 1] : [],
  );
  for (const at of syncs) {
    const life = await liveAlone({ stepCount: 1, protocol, faults: [{ at, fault: "EIO", times: "once" }] });
    for (let k = at; k <= Math.min(life.disk.operationCount, at + 6); k += 1) {
      const start = life.disk.imageAt(k, { kind: "kill" });
      const before = life.trace.upTo(k);
      const heir = await liveAlone({ stepCount: 1, protocol, start, before });
      sum.operations += 1;
      const end = heir.disk.operationCount;
      for (const loss of lossesOf(end, settings.lossesPerCrash))
        await judgeImage(heir, { k: end, loss, torn: undefined }, settings, sum);
      if (sum.isOver(settings)) return sum.conclude();
    }
  }
  return sum.conclude();
}

interface Sum {
  operations: number;
  images: number;
  distinct: number;
  readonly judged: WeakMap<Life, Set<string>>;
  readonly violations: Violation[];
  isOver(settings: ExplorerSettings): boolean;
  conclude(): Exploration;
}

function createSum(workload: string): Sum {
  return {
    operations: 0,
    images: 0,
    distinct: 0,
    judged: new WeakMap(),
    violations: [],
    isOver(settings) {
      return settings.stopsAtViolation && this.violations.length > 0;
    },
    conclude() {
      const { operations, images, distinct, violations } = this;
      return { workload, operations, images, distinct, violations };
    },
  };
}

async function exploreLife(life: Life, settings: ExplorerSettings, sum: Sum): Promise<void> {
  const count = life.disk.operationCount;
  sum.operations += count;
  for (let k = 0; k <= count; k += 1) {
    const isWriteNext = life.disk.operations[k]?.name === "write";
    for (const [at, loss] of lossesOf(k, settings.lossesPerCrash).entries()) {
      // Every other image of a crash within a write has a part of that write.
      const torn = isWriteNext && at % 2 === 1 ? k * 31 + at : undefined;
      await judgeImage(life, { k, loss, torn }, settings, sum);
      if (sum.isOver(settings)) return;
    }
  }
  sum.violations.push(...judgeSecrecy(life.disk.disk));
}

function lossesOf(k: number, powerCount: number): Loss[] {
  const losses: Loss[] = [{ kind: "kill" }];
  // The corners first, then drawn ones that differ from crash to crash.
  for (let at = 0; at < powerCount; at += 1) losses.push({ kind: "power", seed: at < 4 ? at : at + k * 1009 });
  return losses;
}

interface Crash {
  readonly k: number;
  readonly loss: Loss;
  readonly torn: number | undefined;
}

async function judgeImage(life: Life, { k, loss, torn }: Crash, settings: ExplorerSettings, sum: Sum): Promise<void> {
  sum.images += 1;
  const image = life.disk.imageAt(k, loss, torn);
  const { trace, stepCount } = life;
  const known = sum.judged.get(life) ?? new Set();
  sum.judged.set(life, known);
  // What looks like a case that was judged, with nothing known that was not known there, is that case.
  const digest = `${digestOfDisk(image)} ${trace.countUpTo(k)}`;
  if (known.has(digest)) return;
  known.add(digest);
  sum.distinct += 1;
  const goesOn = sum.distinct % settings.goOnEvery === 0;
  const found = await judgeDisk(image, { trace, k, stepCount, goesOn });
  const place = `after operation ${k} (${life.disk.operations[k - 1]?.name ?? "none"} ${life.disk.operations[k - 1]?.path ?? ""}), ${JSON.stringify(loss)}${torn === undefined ? "" : ", torn"}`;
  sum.violations.push(...found.map(({ invariant, text }) => ({ invariant, text: `${text}; ${place}` })));
}
