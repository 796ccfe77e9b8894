/**
 * Which values make a checkpoint large, by path, so that a person is told what to move out.
 *
 * Source: DESIGN section 7 (`checkpoint_large` names the largest paths).
 */
import type { JsonValue } from "../../base/json.js";
import type { ValueRef } from "../../engine/model/value-ref.js";
import type { SnapshotCapture } from "../format/capture.js";
import type { TimeSlicer } from "../format/time-slicer.js";

export interface SizedPath {
  /** `steps.<identity>.output`, `channel.<key>`, `inputs`, `decisions`. */
  readonly path: string;
  /** Bytes of its JSON text, about: characters are counted. */
  readonly sizeBytes: number;
}

/** Paths named at most. */
export const LARGEST_NAMED = 5;

/** The largest values that stand in the checkpoint itself, largest first. Values kept outside count as nothing. */
export async function findLargest(taken: SnapshotCapture, count: number, pace: TimeSlicer): Promise<SizedPath[]> {
  let largest: SizedPath[] = [];
  for (const { path, value } of eachValue(taken)) {
    const sizeBytes = JSON.stringify(value).length;
    if (largest.length < count || sizeBytes > (largest.at(-1)?.sizeBytes ?? 0)) {
      largest = [...largest, { path, sizeBytes }].sort((one, other) => other.sizeBytes - one.sizeBytes).slice(0, count);
    }
    if (pace.isDue) await pace.rest();
  }
  return largest;
}

function* eachValue(taken: SnapshotCapture): Generator<{ readonly path: string; readonly value: JsonValue | object }> {
  yield { path: "inputs", value: taken.task.inputs };
  yield { path: "definition", value: taken.task.definition };
  for (const step of taken.steps) {
    const refs = { work: step.work, output: step.output, partial: step.partial, milestone: step.milestone?.state };
    for (const [field, ref] of Object.entries(refs)) yield* inlineOf(`steps.${step.id}.${field}`, ref);
  }
  for (const [key, value] of taken.channel) yield { path: `channel.${key}`, value };
  for (const decision of taken.decisions) yield { path: `decisions.${decision.id}`, value: decision };
}

function* inlineOf(
  path: string,
  ref: ValueRef | undefined,
): Generator<{ readonly path: string; readonly value: JsonValue }> {
  if (ref !== undefined && "inline" in ref) yield { path, value: ref.inline };
}

/** For a message: `steps.a@1.1.output (310 KB), …`. */
export function formatLargest(largest: readonly SizedPath[]): string {
  return largest.map(({ path, sizeBytes }) => `${path} (${Math.ceil(sizeBytes / 1024)} KB)`).join(", ");
}
