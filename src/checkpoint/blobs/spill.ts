/**
 * Moves the largest values of a checkpoint that is over its size limit out into sealed files.
 *
 * What is moved is a value kept in the state as JSON: the snapshot then holds a reference, as it does for values that were
 * large from the start. The running state is not touched; after a restart the reference stands for the value.
 * Source: DESIGN section 7 (large values).
 */
import { SplashdownError } from "../../base/errors.js";
import type { JsonValue } from "../../base/json.js";
import type { ValueRef } from "../../engine/model/value-ref.js";
import type { BlobShelf } from "../../engine/model/ports.js";
import type { StepEntry } from "../../engine/model/state.js";
import { encodePayload, labelOf, type OutputEntry, type SnapshotCapture } from "../format/capture.js";
import { findLargest, formatLargest, LARGEST_NAMED, type SizedPath } from "./large-values.js";
import type { TimeSlicer } from "../format/time-slicer.js";

/** Smaller values are not worth a file. */
const SPILLED_BYTES_MIN = 4 * 1024;
/** A reference in place of a value. */
const REFERENCE_BYTES = 250;
/** Room left below the limit, so that the next checkpoint does not spill again for a few bytes. */
const MARGIN = 0.9;

export interface SpillOptions {
  readonly blobs: BlobShelf;
  readonly rawBytesMax: number;
  readonly pace: TimeSlicer;
}

/**
 * The same checkpoint with its largest values outside, durable there.
 *
 * Errors: VALUE_TOO_LARGE with the largest paths when that does not bring it below the limit; the STORE_* codes.
 */
export async function spillLargest(
  taken: SnapshotCapture,
  options: SpillOptions,
): Promise<{ taken: SnapshotCapture; spilled: readonly SizedPath[] }> {
  const excess = (await measure(taken, options.pace)) - options.rawBytesMax * MARGIN;
  const candidates = await findCandidates(taken, options.pace);
  const chosen: Candidate[] = [];
  let freed = 0;
  for (const candidate of candidates) {
    if (freed >= excess) break;
    chosen.push(candidate);
    freed += (candidate.sizeBytes - REFERENCE_BYTES) * candidate.copies;
  }
  if (freed < excess) throw await tooLarge(taken, options);
  const replaced = new Map<ValueRef, ValueRef>();
  for (const { ref, value } of chosen) replaced.set(ref, { blob: await options.pace.wait(options.blobs.put(value)) });
  return { taken: replaceValues(taken, replaced), spilled: chosen.map(({ path, sizeBytes }) => ({ path, sizeBytes })) };
}

async function tooLarge(taken: SnapshotCapture, options: SpillOptions): Promise<SplashdownError> {
  const largest = await findLargest(taken, LARGEST_NAMED, options.pace);
  return new SplashdownError(
    "VALUE_TOO_LARGE",
    `${labelOf(taken.event)} is over the limit of ${options.rawBytesMax} bytes and cannot be made smaller; largest: ${formatLargest(largest)}`,
    { details: { sizeBytesMax: options.rawBytesMax, largest: largest.map(({ path }) => path) } },
  );
}

/** Length of the text, about. */
async function measure(taken: SnapshotCapture, pace: TimeSlicer): Promise<number> {
  let length = 0;
  for (const piece of encodePayload(taken)) {
    length += Buffer.byteLength(piece);
    if (pace.isDue) await pace.rest();
  }
  return length;
}

interface Candidate extends SizedPath {
  readonly ref: ValueRef;
  readonly value: JsonValue;
  /** Places in the text where it stands. */
  readonly copies: number;
}

/** Values worth moving, largest first. */
async function findCandidates(taken: SnapshotCapture, pace: TimeSlicer): Promise<Candidate[]> {
  const found = new Map<ValueRef, Candidate>();
  for (const { path, ref } of eachRef(taken)) {
    if (!("inline" in ref)) continue;
    const known = found.get(ref);
    const sizeBytes = known?.sizeBytes ?? Buffer.byteLength(JSON.stringify(ref.inline));
    if (sizeBytes >= SPILLED_BYTES_MIN)
      found.set(ref, {
        path: known?.path ?? path,
        sizeBytes,
        ref,
        value: ref.inline,
        copies: (known?.copies ?? 0) + 1,
      });
    if (pace.isDue) await pace.rest();
  }
  return [...found.values()].sort((one, other) => other.sizeBytes - one.sizeBytes);
}

function* eachRef(taken: SnapshotCapture): Generator<{ readonly path: string; readonly ref: ValueRef }> {
  for (const { id, work, output, partial, milestone } of taken.steps) {
    const refs = { work, output, partial, milestone: milestone?.state };
    for (const [field, ref] of Object.entries(refs)) if (ref !== undefined) yield { path: `steps.${id}.${field}`, ref };
  }
  const ofSteps = new Set(taken.steps.map((step) => step.output));
  for (const [path, { value }] of taken.outputs) if (!ofSteps.has(value)) yield { path: `outputs.${path}`, ref: value };
  for (const { file, content } of taken.deliverables) yield { path: `deliverables.${file}`, ref: content };
}

function replaceValues(taken: SnapshotCapture, replaced: ReadonlyMap<ValueRef, ValueRef>): SnapshotCapture {
  const swap = <R extends ValueRef | undefined>(ref: R): R =>
    ref === undefined ? ref : ((replaced.get(ref) ?? ref) as R);
  const steps = taken.steps.map((step) => replaceInStep(step, swap));
  const outputs = taken.outputs.map(([path, entry]): readonly [string, OutputEntry] => [
    path,
    { ...entry, value: swap(entry.value) },
  ]);
  const deliverables = taken.deliverables.map((file) => ({ ...file, content: swap(file.content) }));
  const state = { ...taken.state, lists: { ...taken.state.lists, steps, deliverables } };
  return { ...taken, steps, outputs, deliverables, state };
}

function replaceInStep(step: StepEntry, swap: <R extends ValueRef | undefined>(ref: R) => R): StepEntry {
  const { work, output, partial, milestone } = step;
  const isSame =
    swap(work) === work &&
    swap(output) === output &&
    swap(partial) === partial &&
    swap(milestone?.state) === milestone?.state;
  if (isSame) return step;
  return {
    ...step,
    work: swap(work),
    ...(output === undefined ? {} : { output: swap(output) }),
    ...(partial === undefined ? {} : { partial: swap(partial) }),
    ...(milestone === undefined ? {} : { milestone: { ...milestone, state: swap(milestone.state) } }),
  };
}
