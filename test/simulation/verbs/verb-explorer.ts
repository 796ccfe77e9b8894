/**
 * The crash explorer of whole verbs: the real runtime from the command's verb down to the file system port, cut off after
 * every operation or met by a fault at it; then the next process looks, does the same again and goes on. `verb-judge.ts`
 * holds what must be true then.
 */
import type { DiskModel } from "../../support/disk-model.js";
import type { OperationName } from "../../support/model-file-system.js";
import { createDiskImage, type Loss } from "../disk-image.js";
import type { Exploration } from "../explorer.js";
import { type Fault, type FaultPlan, isLegalFault } from "../fault-plan.js";
import { FaultyFileSystem } from "../faulty-file-system.js";
import type { Violation } from "../oracle.js";
import { openPlaceOn, type Scenario, type Wrap } from "./scenario.js";
import { type Blame, describeFailure, digestOfCase, judgeFailure, judgeImage, type Judging } from "./verb-judge.js";
import { live, mergeEvents, prepareTruth, readEvents, type Truth, type VerbLife } from "./verb-life.js";

export interface VerbSettings {
  /** Power-loss images for each crash, beside the killed process. */
  readonly lossesPerCrash: number;
  /** Only every so many operations is a place to crash, or to fail. */
  readonly stride: number;
  /** The part of the life before this share is passed over. */
  readonly from?: number;
  readonly stopsAtViolation: boolean;
}

export interface FaultSettings extends VerbSettings {
  readonly faults: readonly Fault[];
  /** Only such operations fail; all unless told. */
  readonly befalls?: readonly OperationName[];
}

export interface TwofoldSettings extends VerbSettings {
  /** How many places of the first crash, evenly over the verb's life. */
  readonly firstCrashes: number;
}

/** As for the workloads below the verbs. */
export type VerbExploration = Exploration;

/** A crash after every operation of the verb, several images each. */
export async function exploreVerb(scenario: Scenario, settings: VerbSettings, wrap?: Wrap): Promise<VerbExploration> {
  const { truth, life } = await prepareTruth(scenario, wrap);
  const sum = createSum(scenario.name, settings);
  sum.operations += life.disk.operationCount;
  await crashEverywhere({ truth, life }, settings, sum);
  return sum.conclude();
}

/** A fault at every operation of the verb, once and for ever; then the machine stops, and the next one has none. */
export async function exploreVerbFaults(scenario: Scenario, settings: FaultSettings): Promise<VerbExploration> {
  const { truth, life: well } = await prepareTruth(scenario);
  const sum = createSum(scenario.name, settings);
  sum.operations += well.disk.operationCount;
  for (const plan of plansFor(well, settings)) {
    const life = await live(scenario, { start: truth.start, faults: [plan] });
    // Where two processes share the disk, the operation may have come as another number.
    if (life.disk.faultCount === 0) continue;
    const where = describePlan(plan, life);
    for (const text of judgeFailure(life.failure)) sum.blame(5, `${text}; ${where}`);
    const k = life.disk.operationCount;
    for (const loss of lossesOf(k, settings.lossesPerCrash))
      await judgeOnce({ truth, life, blame: sum.blame, where }, { k, loss }, sum);
    if (sum.isOver()) break;
  }
  return sum.conclude();
}

/** Two levels: the verb is cut off, and what the next process does about it is cut off after every operation too. */
export async function exploreVerbTwice(scenario: Scenario, settings: TwofoldSettings): Promise<VerbExploration> {
  const { truth, life } = await prepareTruth(scenario);
  const sum = createSum(scenario.name, settings);
  for (const [at, k] of selectEvenly(pointsOf(life, { stride: 1 }), settings.firstCrashes).entries()) {
    const loss = lossesOf(k, 2)[at % 3] ?? { kind: "kill" };
    const start = life.disk.imageAt(k, loss);
    const second = await liveAgain(truth.scenario, { first: life, k, start });
    const before = `after a first crash at operation ${k}, ${JSON.stringify(loss)}: `;
    sum.operations += second.disk.operationCount;
    if (second.failure !== undefined) {
      sum.blame(5, `${before}${describeFailure(second.failure)}`);
      continue;
    }
    await crashEverywhere({ truth: await truthFrom(truth, start, second), life: second, before }, settings, sum);
    if (sum.isOver()) break;
  }
  return sum.conclude();
}

interface Crashing {
  readonly truth: Truth;
  readonly life: VerbLife;
  /** What happened to the disk before this life, in words. */
  readonly before?: string;
}

async function crashEverywhere({ truth, life, before = "" }: Crashing, settings: VerbSettings, sum: Sum) {
  for (const k of pointsOf(life, settings)) {
    const last = life.disk.operations[k - 1];
    const where = `${before}after operation ${k} (${last?.name ?? "none"} ${last?.path ?? ""})`;
    for (const loss of lossesOf(k, settings.lossesPerCrash)) {
      await judgeOnce({ truth, life, blame: sum.blame, where }, { k, loss }, sum);
      if (sum.isOver()) return;
    }
  }
}

/** What looks like a case that was judged, and whose caller knows the same, is that case. */
async function judgeOnce(judging: Judging, { k, loss }: { readonly k: number; readonly loss: Loss }, sum: Sum) {
  const crash = { k, loss, image: judging.life.disk.imageAt(k, loss) };
  sum.images += 1;
  const known = sum.judged.get(judging.truth) ?? new Set();
  sum.judged.set(judging.truth, known);
  const digest = digestOfCase(judging.life, crash);
  if (known.has(digest)) return;
  known.add(digest);
  sum.distinct += 1;
  await judgeImage(judging, crash);
}

/** The way on after a crash, on a disk that remembers it; what was told and done before the crash stays so. */
async function liveAgain(
  scenario: Scenario,
  { first, k, start }: { readonly first: VerbLife; readonly k: number; readonly start: DiskModel },
): Promise<VerbLife> {
  const disk = new FaultyFileSystem({ disk: start });
  const place = await openPlaceOn(scenario, { disk, seed: "continuing" });
  const upTo = <T extends { readonly at: number }>(all: readonly T[]): T[] =>
    all.filter(({ at }) => at <= k).map((one) => ({ ...one, at: 0 }));
  let failure: unknown;
  try {
    await scenario.redo(place);
  } catch (error) {
    failure = error;
  }
  await place.verbs.close();
  return { disk, told: upTo(first.told), acts: [...upTo(first.acts), ...place.acts], failure };
}

/** What is true of the second life: what the first left durable stays, and it recorded what it recorded. */
async function truthFrom(truth: Truth, start: DiskModel, second: VerbLife): Promise<Truth> {
  const { scenario } = truth;
  const before = await readEvents(scenario, createDiskImage(start, { kind: "power", seed: 0 }));
  const end = second.disk.imageAt(second.disk.operationCount, { kind: "kill" });
  const recorded = [await readEvents(scenario, start), await readEvents(scenario, end)].reduce(
    mergeEvents,
    truth.recorded,
  );
  return { ...truth, start, before, recorded };
}

function selectEvenly(points: readonly number[], count: number): number[] {
  const step = Math.max(1, points.length / count);
  const chosen = Array.from(
    { length: Math.min(count, points.length) },
    (_, at) => points[Math.floor((at + 0.5) * step)],
  );
  return chosen.filter((point) => point !== undefined);
}

/** What changes nothing leaves the disk as it was: a crash after it is the crash before it. */
const LOOKS: ReadonlySet<OperationName> = new Set(["read", "stat", "close", "readdir", "lstat", "volumeOf"]);

/** The operations after which the disk, or what anybody knows, is another one. */
function pointsOf(
  { disk, told, acts }: VerbLife,
  { from = 0, stride }: Pick<VerbSettings, "from" | "stride">,
): number[] {
  const news = new Set([...told, ...acts].map(({ at }) => at));
  const points = [0];
  for (const [index, { name, intent }] of disk.operations.entries()) {
    const isLook = LOOKS.has(name) || (name === "open" && intent === "read");
    if (!isLook || news.has(index + 1)) points.push(index + 1);
  }
  const first = Math.floor(disk.operationCount * from);
  return points.filter((k) => k >= first).filter((_k, at) => at % stride === 0);
}

/** A fault for ever from an operation that it cannot befall is the one from the next that it can. */
function* plansFor({ disk }: VerbLife, { faults, stride, befalls }: FaultSettings): Generator<FaultPlan> {
  for (let at = 1; at <= disk.operationCount; at += stride) {
    const operation = disk.operations[at - 1];
    if (operation === undefined || befalls?.includes(operation.name) === false) continue;
    for (const fault of faults) {
      const isPossible = fault !== "shortWrite" || (operation.sizeBytes ?? 0) > 1;
      if (!isPossible || !isLegalFault(fault, operation)) continue;
      yield { at, fault, times: "once" };
      yield { at, fault, times: "forEver" };
    }
  }
}

interface Sum {
  operations: number;
  images: number;
  distinct: number;
  readonly judged: Map<Truth, Set<string>>;
  readonly blame: Blame;
  isOver(): boolean;
  conclude(): VerbExploration;
}

function createSum(workload: string, settings: VerbSettings): Sum {
  const violations: Violation[] = [];
  return {
    operations: 0,
    images: 0,
    distinct: 0,
    judged: new Map(),
    blame: (invariant, text) => violations.push({ invariant, text }),
    isOver: () => settings.stopsAtViolation && violations.length > 0,
    conclude() {
      const { operations, images, distinct } = this;
      return { workload, operations, images, distinct, violations };
    },
  };
}

function lossesOf(k: number, powerCount: number): Loss[] {
  const losses: Loss[] = [{ kind: "kill" }];
  for (let at = 0; at < powerCount; at += 1)
    losses.push({ kind: "power", seed: at < 2 ? ([0, 1][(k + at) % 2] ?? 0) : at + 4 + k * 1009 });
  return losses;
}

function describePlan({ at, fault, times }: FaultPlan, life: VerbLife): string {
  const befallen = life.disk.operations[at - 1];
  return `${fault} ${times} from operation ${at} on (${befallen?.name ?? ""} ${befallen?.path ?? ""})`;
}
