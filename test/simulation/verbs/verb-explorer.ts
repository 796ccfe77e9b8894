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
import type { DiskModel } from "../../support/disk-model.js";
import type { OperationName } from "../../support/model-file-system.js";
import { MODEL_ROOT } from "../../support/store-places.js";
import type { Loss } from "../disk-image.js";
import { FAULTS, type Fault, type FaultPlan } from "../fault-plan.js";
import { FaultyFileSystem } from "../faulty-file-system.js";
import type { Exploration } from "../explorer.js";
import type { Violation } from "../oracle.js";
import type { Act, ExploredPlace } from "./explored-place.js";
import { contentsOf, eventsOf } from "./picture.js";
import { EndedOtherwise, openPlaceOn, startScenario, type Scenario, type Wrap } from "./scenario.js";

export interface VerbSettings {
  /** Power-loss images for each crash, beside the killed process. */
  readonly lossesPerCrash: number;
  /** Only every so many operations is a place to crash, or to fail. */
  readonly stride: number;
  /** The part of the life before this share is passed over. */
  readonly from?: number;
  readonly faults: readonly Fault[];
  readonly stopsAtViolation: boolean;
}

/** As for the workloads below the verbs. */
export type VerbExploration = Exploration;

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
  for (const k of pointsOf(life, settings)) {
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

/** What changes nothing leaves the disk as it was: a crash after it is the crash before it. */
const LOOKS: ReadonlySet<OperationName> = new Set(["read", "stat", "close", "readdir", "lstat", "volumeOf"]);

/** The operations after which the disk, or what anybody knows, is another one. */
function pointsOf({ disk, told, acts }: VerbLife, { from = 0, stride }: VerbSettings): number[] {
  const news = new Set([...told, ...acts].map(({ at }) => at));
  const points = [0];
  for (const [index, { name, intent }] of disk.operations.entries()) {
    const isLook = LOOKS.has(name) || (name === "open" && intent === "read");
    if (!isLook || news.has(index + 1)) points.push(index + 1);
  }
  const first = Math.floor(disk.operationCount * from);
  return points.filter((k) => k >= first).filter((_k, at) => at % stride === 0);
}

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
  const place = await openPlaceOn(scenario, { disk, seed: "on to the end" });
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
  const place = await openPlaceOn(scenario, { disk, seed: "acting", wrap });
  let failure: unknown;
  try {
    await scenario.act(place, (what) => told.push({ at: disk.operationCount, what }));
  } catch (error) {
    failure = error;
  }
  await place.verbs.close();
  return { disk, told, acts: place.acts, failure };
}

async function readEvents(scenario: Scenario, image: DiskModel): Promise<Map<string, Map<number, string>>> {
  const place = await openPlaceOn(scenario, { disk: new FaultyFileSystem({ disk: image }), seed: "reading" });
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
      return { workload: scenario, operations, images: this.images, violations };
    },
  };
}

function lossesOf(k: number, powerCount: number): Loss[] {
  const losses: Loss[] = [{ kind: "kill" }];
  for (let at = 0; at < powerCount; at += 1)
    losses.push({ kind: "power", seed: at < 2 ? ([0, 1][(k + at) % 2] ?? 0) : at + 4 + k * 1009 });
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
  const where =
    plan === undefined
      ? `after operation ${k} (${last?.name ?? "none"} ${last?.path ?? ""})`
      : describePlan(plan, life);
  const blame: Blame = (invariant, text) => sum.blame(invariant, `${text}; ${where}, ${JSON.stringify(loss)}`);
  const image = life.disk.imageAt(k, loss);
  const disk = new FaultyFileSystem({ disk: image });
  try {
    const place = await openPlaceOn(truth.scenario, { disk, seed: "heir" });
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
    blame(
      5,
      `${code}: ${messageOf(error)}${code === "INTERNAL" || code === "TypeError" ? String((error as Error).stack) : ""}`,
    );
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
  // A trail that cannot be written is said and stops nothing (A4), so it is looked for only where the disk was well.
  const isWell = life.disk.faultCount === 0;
  const missing = told.size === 0 ? undefined : await scenario.missing?.(place, { told, isWell });
  if (missing !== undefined) blame(1, missing);
}

async function lookAt(place: ExploredPlace, task: string, { truth, life, k, image, blame }: Looking): Promise<void> {
  const shown = await place.repeat(() => place.verbs.show(task), "TASK_NOT_STARTED");
  if (shown === undefined) return;
  const { damage, status, deliverables } = shown;
  const contents = contentsOf(image, `${MODEL_ROOT}/${task}`);
  for (const { file, sha256 } of status === "done" ? deliverables : []) {
    if (contents.get(`${MODEL_ROOT}/${task}/${file}`) !== sha256) blame(1, `${task} is done, and ${file} is not there`);
  }
  judgeRotten({ truth, task, contents, blame });
  if (damage.length > 0 && truth.scenario.hasRot !== true) blame(5, `${task} is damaged: ${damage.join("; ")}`);
  const events = await eventsOf(place, task);
  judgeFiles(events, contents, blame);
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

/** A snapshot file that was written is there, set aside, or named by the record of its removal. */
function judgeFiles(events: ReadonlyMap<number, string>, contents: ReadonlyMap<string, string>, blame: Blame): void {
  const names = [...contents.keys()].map((path) => path.slice(path.lastIndexOf("/") + 1));
  const removals = [...events.values()].filter((text) => text.includes('"type":"pruned"')).join("\n");
  for (const text of events.values()) {
    const file = text.includes('"type":"snapshot_written"') ? /"file":"([^"]+)"/.exec(text)?.[1] : undefined;
    if (file !== undefined && !names.includes(file) && !removals.includes(file))
      blame(1, `${file} is gone, and nothing recorded says so`);
  }
}

/** What was found rotten is kept as it is, under its name or in quarantine. */
function judgeRotten(found: {
  readonly truth: Truth;
  readonly task: string;
  readonly contents: ReadonlyMap<string, string>;
  readonly blame: Blame;
}): void {
  const { truth, task, contents, blame } = found;
  if (truth.scenario.hasRot !== true) return;
  const kept = new Set(contents.values());
  for (const [path, digest] of contentsOf(truth.start, `${MODEL_ROOT}/${task}/checkpoints`))
    if (path.includes("/checkpoint_") && !kept.has(digest)) blame(1, `what ${path} held is nowhere`);
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
  if (failure instanceof EndedOtherwise) return judgeEnd(failure.view);
  if (!(failure instanceof SplashdownError)) return [`untyped: ${messageOf(failure)}`];
  if (failure.code === "INTERNAL") return [`INTERNAL: ${failure.message}`];
  const said = `${failure.message} ${JSON.stringify(failure.details)}`;
  return [
    ...(/\/|task/.test(said) ? [] : [`${failure.code} names no place: ${failure.message}`]),
    ...(failure.hint === "" ? [`${failure.code} names no next command`] : []),
  ];
}

/** A task that stopped in order says why, and what goes on. */
function judgeEnd({ status, reason, next, questions }: EndedOtherwise["view"]): string[] {
  const isNamed = status !== "failed" || /[A-Z]+_[A-Z]+/.test(reason);
  const hasWayOn = status === "done" || next !== undefined || questions.length > 0;
  return [
    ...(isNamed ? [] : [`it failed without a code: ${reason}`]),
    ...(hasWayOn ? [] : [`it is ${status}, and nothing says how to go on`]),
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
