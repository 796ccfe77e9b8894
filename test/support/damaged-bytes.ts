/** Every small damage of a file, one after the other, and what became of each. */
import type { TestContext } from "vitest";
import { BYTE_CHANGES, noteTried, strideOf } from "./tried.js";

export interface Damage {
  readonly what: string;
  readonly bytes: Buffer;
}

/** Every byte up to `end` with one bit turned over; where a longer proof is asked for, as every other value. */
export function* changedBytes(original: Uint8Array, end = original.length): Generator<Damage> {
  for (let at = 0; at < end; at += 1) {
    for (const change of BYTE_CHANGES) {
      const bytes = Buffer.from(original);
      bytes[at] = (bytes[at] ?? 0) ^ change;
      yield { what: `byte ${at} changed by ${change}`, bytes };
    }
  }
}

/** Every shorter length. */
export function* cutBytes(original: Uint8Array): Generator<Damage> {
  for (let length = 0; length < original.length; length += 1)
    yield { what: `cut at ${length}`, bytes: Buffer.from(original.subarray(0, length)) };
}

/** A byte put in, taken out or doubled, at every so many-th offset; at every one where a longer proof is asked for. */
export function* splicedBytes(original: Uint8Array, stride = 1): Generator<Damage> {
  for (let at = 0; at <= original.length; at += strideOf(stride)) {
    const [head, tail] = [original.subarray(0, at), original.subarray(at)];
    const own = tail.subarray(0, 1);
    yield { what: `a space put in at ${at}`, bytes: Buffer.concat([head, Buffer.from(" "), tail]) };
    yield { what: `a zero put in at ${at}`, bytes: Buffer.concat([head, Buffer.alloc(1), tail]) };
    if (own.length === 0) return;
    yield { what: `byte ${at} doubled`, bytes: Buffer.concat([head, own, tail]) };
    yield { what: `byte ${at} taken out`, bytes: Buffer.concat([head, tail.subarray(1)]) };
  }
}

/** By outcome the first damage that had it; all are counted as tried. */
export async function collectOutcomes(
  context: TestContext,
  damages: Iterable<Damage>,
  outcomeOf: (bytes: Buffer) => string | Promise<string>,
): Promise<ReadonlyMap<string, string>> {
  const outcomes = new Map<string, string>();
  let tried = 0;
  for (const { what, bytes } of damages) {
    const outcome = await outcomeOf(bytes);
    if (!outcomes.has(outcome)) outcomes.set(outcome, what);
    tried += 1;
  }
  noteTried(context, tried);
  return outcomes;
}

/** The outcomes that may not be, each with its damage. */
export function outcomesBut(
  outcomes: ReadonlyMap<string, string>,
  allowed: readonly string[],
): readonly (readonly [string, string])[] {
  return [...outcomes].filter(([outcome]) => !allowed.includes(outcome));
}
