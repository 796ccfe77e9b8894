/**
 * What must hold on every image of a disk (STORAGE section 3.2): (1) what the caller was told is there; (2) what is recorded
 * is what was recorded; (3) a step that acted is known by its intent; (4) the same again ends as if nothing had happened;
 * (5) no error but a typed one that names a place and a next command, and in a world without rot no damage.
 */
import { errorCodeOf, messageOf, SplashdownError } from "../../../src/base/errors.js";
import { sha256Hex } from "../../../src/base/digest.js";
import type { JsonValue } from "../../../src/base/json.js";
import { canonicalJson } from "../../../src/base/json-encoding.js";
import type { DiskModel } from "../../support/disk-model.js";
import { MODEL_ROOT } from "../../support/store-places.js";
import { digestOfDisk } from "../disk-digest.js";
import type { Loss } from "../disk-image.js";
import { FaultyFileSystem } from "../faulty-file-system.js";
import type { Violation } from "../oracle.js";
import type { Act, ExploredPlace } from "./explored-place.js";
import { contentsOf, eventsOf } from "./picture.js";
import { EndedOtherwise, openPlaceOn } from "./scenario.js";
import type { Truth, VerbLife } from "./verb-life.js";

export type Blame = (invariant: Violation["invariant"], text: string) => void;

export interface Judging {
  readonly truth: Truth;
  readonly life: VerbLife;
  readonly blame: Blame;
  /** The place of the crash, in words. */
  readonly where: string;
}

export interface Crash {
  /** Operations that had been done. */
  readonly k: number;
  readonly loss: Loss;
  /** The disk as it was left. */
  readonly image: DiskModel;
}

/** Looks at what the crash left, does the same again, and compares the end with that of an undisturbed life. */
export async function judgeImage(
  { truth, life, blame: blameAt, where }: Judging,
  { k, loss, image }: Crash,
): Promise<void> {
  const blame: Blame = (invariant, text) => blameAt(invariant, `${text}; ${where}, ${JSON.stringify(loss)}`);
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
    blame(5, describeFailure(error));
  }
}

/** Everything that the judgement of an image depends on beside its truth: where two agree, one judgement is enough. */
export function digestOfCase(life: VerbLife, { k, image }: Crash): string {
  const upTo = <T extends { readonly at: number }>(all: readonly T[]): unknown[] =>
    all.filter(({ at }) => at <= k).map((one) => ({ ...one, at: 0 }));
  const known = [upTo(life.told), upTo(life.acts), life.failure === undefined, life.disk.faultCount === 0];
  return sha256Hex(`${digestOfDisk(image)} ${JSON.stringify(known)}`);
}

/** Where it came from too, when it is our own mistake. */
export function describeFailure(error: unknown): string {
  const code = error instanceof Error ? (errorCodeOf(error) ?? error.name) : typeof error;
  const isOurs = code === "INTERNAL" || code === "TypeError";
  return `${code}: ${messageOf(error)}${isOurs ? String((error as Error).stack) : ""}`;
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
    const isWanted =
      problem?.code === "TASK_NOT_STARTED" || scenario.unreadableAs?.includes(problem?.code ?? "") === true;
    if (problem !== undefined && !isWanted) blame(5, `${task} cannot be read: ${problem.code} ${problem.message}`);
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
  const missing =
    told.size === 0
      ? undefined
      : await scenario.missing?.(place, { told, isWell, files: [...contentsOf(image, MODEL_ROOT).keys()] });
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
  const comparable = truth.scenario.reseals === true ? withoutSeals : (text: string | undefined) => text;
  for (const [n, text] of truth.before.get(task) ?? []) {
    if (n >= first && comparable(events.get(n)) !== comparable(text))
      blame(1, `record ${n} of ${task} is gone or another one`);
  }
  if (life.failure === undefined && life.disk.faultCount === 0) {
    for (const [n, text] of events) {
      if (comparable(truth.recorded.get(task)?.get(n)) !== comparable(text))
        blame(2, `record ${n} of ${task} is not what was recorded`);
    }
  }
  const intents = [...events.values()].filter((text) => text.includes('"step_intended"')).join("\n");
  if (task !== (life.acts.length > 0 ? taskOf(life, truth) : task)) return;
  for (const { at, step, key } of life.acts) {
    if (at <= k && !intents.includes(key)) blame(3, `${step} acted, and nothing is known of it`);
  }
}

/** A record without what sealing gives to files: names, sizes, digests. */
function withoutSeals(text: string | undefined): string | undefined {
  const plain = text?.replaceAll(/"blob":\{[^{}]*\}/g, '"blob":{}');
  if (plain?.includes('"type":"snapshot_written"') !== true) return plain;
  return plain.replaceAll(/"(file|sha256)":"[^"]*"/g, '"$1":""').replaceAll(/"(sizeBytes|rawBytes)":\d+/g, '"$1":0');
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
export function judgeFailure(failure: unknown): string[] {
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
    ...(hasWayOn ? [] : [`it is ${status}, and nothing says how to continue`]),
  ];
}

function describeDifference(expected: string, found: string): string {
  let at = 0;
  while (at < expected.length && expected[at] === found[at]) at += 1;
  const from = Math.max(0, at - 60);
  return `…${found.slice(from, at + 120)}… instead of …${expected.slice(from, at + 120)}…`;
}
