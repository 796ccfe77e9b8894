/**
 * The crash explorer of whole verbs: the real runtime from the command's verb down to the file system port, cut off after
 * every operation or met by a fault at it; then the next process looks, does the same again and goes on.
 *
 * Held against (STORAGE section 3.2): (1) what the caller was told is there; (2) what is recorded is what was recorded;
 * (3) a step that acted is known by its intent; (4) the same again ends as if nothing had happened; (5) no error but a
 * typed one that names a place and a next command, and in a world without rot no damage.
 */
import { errorCodeOf, messageOf, SplashdownError } from "../../../src/base/errors.js";
import { canonicalJson, type JsonValue } from "../../../src/base/json.js";
import type { FileSystem } from "../../../src/base/file-system.js";
import type { DiskModel } from "../../support/disk-model.js";
import { MODEL_ROOT } from "../../support/store-places.js";
import type { Loss } from "../disk-image.js";
import { FAULTS, type Fault, type FaultPlan } from "../fault-plan.js";
import { FaultyFileSystem } from "../faulty-file-system.js";
import type { Violation } from "../oracle.js";
import type { Act, ExploredPlace } from "./explored-place.js";
import { contentsOf, eventsOf } from "./picture.js";
import { openPlaceOn, startScenario, type Scenario } from "./scenario.js";

/** A file system with something left out; the unchanged one is `undefined`. */
export type Wrap = (fileSystem: FileSystem) => FileSystem;

export interface VerbSettings {
  /** Power-loss images for each crash, beside the killed process. */
  readonly lossesPerCrash: number;
  /** Only every so many operations is a place to crash, or to fail. */
  readonly stride: number;
  readonly faults: readonly Fault[];
  readonly stopsAtViolation: boolean;
}

export interface VerbExploration {
  readonly scenario: string;
  readonly operations: number;
  readonly images: number;
  readonly violations: readonly Violation[];
}

interface VerbLife {
  readonly disk: FaultyFileSystem;
  readonly told: readonly { readonly at: number; readonly what: string }[];
  readonly acts: readonly Act[];
  readonly failure: unknown;
}

interface Truth {
  readonly scenario: Scenario;
  readonly start: DiskModel;
  readonly picture: string;
  /** By task; what stood before, and all that an undisturbed life recorded. */
  readonly before: ReadonlyMap<string, ReadonlyMap<number, string>>;
  readonly recorded: ReadonlyMap<string, ReadonlyMap<number, string>>;
  readonly contents: ReadonlyMap<string, ReadonlyMap<string, string>>;
}

type Blame = (invariant: Violation["invariant"], text: string) => void;

/** A crash after every operation of the verb, several images each. */
export async function exploreVerb(scenario: Scenario, settings: VerbSettings, wrap?: Wrap): Promise<VerbExploration> {
  const { truth, life } = await prepareTruth(scenario, wrap);
  const sum = createSum(scenario.name, life.disk.operationCount, settings);
  for (let k = 0; k <= life.disk.operationCount; k += settings.stride) {
    for (const loss of lossesOf(k, settings.lossesPerCrash)) {
      await judgeImage({ truth, life, sum }, { k, loss });
      if (sum.isOver()) return sum.conclude();
    }
  }
  return sum.conclude();
}

/** A fault at every operation of the verb, once and for ever; then the machine stops, and the next one has none. */
export async function exploreVerbFaults(scenario: Scenario, settings: VerbSettings): Promise<VerbExploration> {
  const { truth, life } = await prepareTruth(scenario);
  const sum = createSum(scenario.name, life.disk.operationCount, settings);
  for (let at = 1; at <= life.disk.operationCount; at += settings.stride) {
    for (const plan of settings.faults.flatMap((fault) => plansOf(at, fault))) {
      const failing = await live(scenario, { start: truth.start, faults: [plan] });
      if (failing.disk.faultCount === 0) continue;
      for (const text of judgeFailure(failing.failure)) sum.blame(5, `${text}; ${describePlan(plan, failing)}`);
      const k = failing.disk.operationCount;
      for (const loss of lossesOf(k, 1)) await judgeImage({ truth, life: failing, sum, plan }, { k, loss });
      if (sum.isOver()) return sum.conclude();
    }
  }
  return sum.conclude();
}

export const ALL_FAULTS: readonly Fault[] = FAULTS.filter((fault) => fault !== "EINTR");

function plansOf(at: number, fault: Fault): FaultPlan[] {
  return [
    { at, fault, times: "once" },
    { at, fault, times: "forEver" },
  ];
}

async function prepareTruth(scenario: Scenario, wrap?: Wrap): Promise<{ truth: Truth; life: VerbLife }> {
  const start = await startScenario(scenario);
  const before = await readEvents(scenario, start);
  const contents = new Map(
    (scenario.untouched ?? []).map((task) => [task, contentsOf(start, `${MODEL_ROOT}/${task}`)] as const),
  );
  const life = await live(scenario, { start, ...(wrap === undefined ? {} : { wrap }) });
  if (life.failure !== undefined) throw life.failure;
  const end = life.disk.imageAt(life.disk.operationCount, { kind: "kill" });
  const recorded = mergeEvents(before, await readEvents(scenario, end));
  const disk = new FaultyFileSystem({ disk: end });
  const place = await openPlaceOn(disk, scenario, "on to the end");
  await scenario.finish?.(place);
  const picture = canonicalJson(await scenario.picture(place));
  return { truth: { scenario, start, picture, before, recorded, contents }, life };
}

async function live(
  scenario: Scenario,
  { start, wrap, faults }: { start: DiskModel; wrap?: Wrap; faults?: readonly FaultPlan[] },
): Promise<VerbLife> {
  const disk = new FaultyFileSystem({ disk: start, ...(faults === undefined ? {} : { faults }) });
  const told: { at: number; what: string }[] = [];
  const place = await openPlaceOn(disk, scenario, "acting");
  const wrapped = wrap === undefined ? place : await openPlaceOn(wrapDisk(disk, wrap), scenario, "acting");
  let failure: unknown;
  try {
    await scenario.act(wrapped, (what) => told.push({ at: disk.operationCount, what }));
  } catch (error) {
    failure = error;
  }
  await wrapped.verbs.close();
  return { disk, told, acts: wrapped.acts, failure };
}

/** The wrapped file system still counts as the disk it is over. */
function wrapDisk(disk: FaultyFileSystem, wrap: Wrap): FaultyFileSystem {
  const wrapped = wrap(disk) as FaultyFileSystem;
  Object.defineProperty(wrapped, "operationCount", { get: () => disk.operationCount });
  return wrapped;
}

async function readEvents(scenario: Scenario, image: DiskModel): Promise<Map<string, Map<number, string>>> {
  const place = await openPlaceOn(new FaultyFileSystem({ disk: image }), scenario, "reading");
  const found = new Map<string, Map<number, string>>();
  for (const { task, problem } of await place.verbs.list())
    if (problem === undefined) found.set(task, await eventsOf(place, task));
  return found;
}

/** What was removed on purpose was recorded all the same. */
function mergeEvents(
  before: ReadonlyMap<string, ReadonlyMap<number, string>>,
  after: ReadonlyMap<string, ReadonlyMap<number, string>>,
): Map<string, Map<number, string>> {
  const merged = new Map<string, Map<number, string>>();
  for (const events of [before, after])
    for (const [task, texts] of events) merged.set(task, new Map([...(merged.get(task) ?? []), ...texts]));
  return merged;
}

interface Sum {
  images: number;
  readonly blame: Blame;
  isOver(): boolean;
  conclude(): VerbExploration;
}

function createSum(scenario: string, operations: number, settings: VerbSettings): Sum {
  const violations: Violation[] = [];
  return {
    images: 0,
    blame: (invariant, text) => violations.push({ invariant, text }),
    isOver: () => settings.stopsAtViolation && violations.length > 0,
    conclude() {
      return { scenario, operations, images: this.images, violations };
    },
  };
}

function lossesOf(k: number, powerCount: number): Loss[] {
  const losses: Loss[] = [{ kind: "kill" }];
  for (let at = 0; at < powerCount; at += 1) losses.push({ kind: "power", seed: at < 2 ? [0, 1][(k + at) % 2] ?? 0 : at + 4 + k * 1009 });
  return losses;
}

interface Judging {
  readonly truth: Truth;
  readonly life: VerbLife;
  readonly sum: Sum;
  readonly plan?: FaultPlan;
}

async function judgeImage({ truth, life, sum, plan }: Judging, { k, loss }: { k: number; loss: Loss }): Promise<void> {
  sum.images += 1;
  const last = life.disk.operations[k - 1];
  const where = plan === undefined ? `after operation ${k} (${last?.name ?? "none"} ${last?.path ?? ""})` : describePlan(plan, life);
  const blame: Blame = (invariant, text) => sum.blame(invariant, `${text}; ${where}, ${JSON.stringify(loss)}`);
  const image = life.disk.imageAt(k, loss);
  const disk = new FaultyFileSystem({ disk: image });
  try {
    const place = await openPlaceOn(disk, truth.scenario, "heir");
    await look(place, { truth, life, k, image, blame });
    await truth.scenario.redo(place);
    const found: JsonValue = await truth.scenario.picture(place);
    const text = canonicalJson(found);
    if (text !== truth.picture) blame(4, `it ends otherwise: ${describeDifference(truth.picture, text)}`);
    judgeKeys([...life.acts.filter(({ at }) => at <= k), ...place.acts], blame);
    const audit = await place.verbs.audit.verify();
    if (!audit.intact) blame(4, `the audit trail is broken: ${JSON.stringify(audit.checks).slice(0, 300)}`);
    await place.verbs.close();
  } catch (error) {
    const code = error instanceof Error ? (errorCodeOf(error) ?? error.name) : typeof error;
    blame(5, `${code}: ${messageOf(error)}${process.env.STACK || code === "INTERNAL" || code === "TypeError" ? String((error as Error).stack) : ""}`);
  }
}

interface Looking {
  readonly truth: Truth;
  readonly life: VerbLife;
  readonly k: number;
  readonly image: DiskModel;
  readonly blame: Blame;
}

/** What can be seen before anything is done again. */
async function look(place: ExploredPlace, { truth, life, k, image, blame }: Looking): Promise<void> {
  const { scenario } = truth;
  const standing = new Map((await place.verbs.list()).map((entry) => [entry.task, entry]));
  for (const [task, { problem }] of standing) {
    if (problem !== undefined && problem.code !== "TASK_NOT_STARTED")
      blame(5, `${task} cannot be read: ${problem.code} ${problem.message}`);
    if (problem === undefined) await lookAt(place, task, { truth, life, k, image, blame });
  }
  for (const task of truth.before.keys()) {
    if (!standing.has(task) && scenario.mayVanish?.includes(task) !== true) blame(1, `task ${task} is gone`);
  }
  for (const [task, contents] of truth.contents) {
    const now = contentsOf(image, `${MODEL_ROOT}/${task}`);
    if (canonicalJson([...now]) !== canonicalJson([...contents])) blame(4, `${task} was changed, which is only read`);
  }
  const told = new Set(life.told.filter(({ at }) => at <= k).map(({ what }) => what));
  const missing = told.size === 0 ? undefined : await scenario.missing?.(place, told);
  if (missing !== undefined) blame(1, missing);
}

async function lookAt(place: ExploredPlace, task: string, { truth, life, k, blame }: Looking): Promise<void> {
  const shown = await place.repeat(() => place.verbs.show(task), "TASK_NOT_STARTED");
  if (shown === undefined) return;
  const { damage } = shown;
  if (damage.length > 0) blame(5, `${task} is damaged: ${damage.join("; ")}`);
  const events = await eventsOf(place, task);
  const first = Math.min(...events.keys());
  for (const [n, text] of truth.before.get(task) ?? []) {
    if (n >= first && events.get(n) !== text) blame(1, `record ${n} of ${task} is gone or another one`);
  }
  if (life.failure === undefined && life.disk.faultCount === 0) {
    for (const [n, text] of events) {
      if (truth.recorded.get(task)?.get(n) !== text) blame(2, `record ${n} of ${task} is not what was recorded`);
    }
  }
  const intents = [...events.values()].filter((text) => text.includes('"step_intended"')).join("\n");
  if (task !== (life.acts.length > 0 ? taskOf(life, truth) : task)) return;
  for (const { at, step, key } of life.acts) {
    if (at <= k && !intents.includes(key)) blame(3, `${step} acted, and nothing is known of it`);
  }
}

/** The only task that steps of the life ran in. */
function taskOf(life: VerbLife, { recorded }: Truth): string | undefined {
  const key = life.acts[0]?.key ?? "";
  for (const [task, events] of recorded) if ([...events.values()].some((text) => text.includes(key))) return task;
  return undefined;
}

/** A second attempt of a step has the key of the first. */
function judgeKeys(acts: readonly Act[], blame: Blame): void {
  const stepOf = new Map<string, string>();
  for (const { step, key } of acts) {
    const known = stepOf.get(key) ?? step;
    stepOf.set(key, known);
    if (known !== step) blame(3, `${step} and ${known} acted under one key`);
  }
}

/** What a failing verb must say: a code, the place, what to do. */
function judgeFailure(failure: unknown): string[] {
  if (failure === undefined) return [];
  if (!(failure instanceof SplashdownError)) return [`untyped: ${String(failure)}`];
  if (failure.code === "INTERNAL") return [`INTERNAL: ${failure.message}`];
  const said = `${failure.message} ${JSON.stringify(failure.details)}`;
  return [
    ...(/\/|task/.test(said) ? [] : [`${failure.code} names no place: ${failure.message}`]),
    ...(failure.hint === "" ? [`${failure.code} names no next command`] : []),
  ];
}

function describePlan({ at, fault, times }: FaultPlan, life: VerbLife): string {
  const befallen = life.disk.operations[at - 1];
  return `${fault} ${times} from operation ${at} on (${befallen?.name ?? ""} ${befallen?.path ?? ""})`;
}

function describeDifference(expected: string, found: string): string {
  let at = 0;
  while (at < expected.length && expected[at] === found[at]) at += 1;
  const from = Math.max(0, at - 60);
  return `…${found.slice(from, at + 120)}… instead of …${expected.slice(from, at + 120)}…`;
}
