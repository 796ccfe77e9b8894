/** Names of segment files: `<epoch, 8 digits>-<index, 4 digits>.jsonl`. Parsed by hand: the look reads them at every step. */
import type { SegmentId } from "./contract.js";

export const EPOCH_MAX = 99_999_999;
export const SEGMENT_INDEX_MAX = 9_999;

const EPOCH_DIGITS = 8;
const INDEX_DIGITS = 4;
const SUFFIX = ".jsonl";
const NAME_LENGTH = EPOCH_DIGITS + 1 + INDEX_DIGITS + SUFFIX.length;
const CODE_ZERO = 48;

/** Whether a store could have given it out; what somebody planted under other numbers is no segment. */
export function isSegmentId({ epoch, index }: SegmentId): boolean {
  return isEpoch(epoch) && isWithin(index, 0, SEGMENT_INDEX_MAX);
}

export const isEpoch = (value: number): boolean => isWithin(value, 1, EPOCH_MAX);

const isWithin = (value: number, min: number, max: number): boolean =>
  Number.isInteger(value) && value >= min && value <= max;

export function formatSegmentName(id: SegmentId): string {
  return `${String(id.epoch).padStart(EPOCH_DIGITS, "0")}-${String(id.index).padStart(INDEX_DIGITS, "0")}${SUFFIX}`;
}

/** The segment a file holds; `undefined` for every other name. Epochs count from 1. */
export function parseSegmentName(name: string): SegmentId | undefined {
  const epoch = parseSegmentEpoch(name);
  if (epoch === undefined) return undefined;
  const index = parseDigits(name, EPOCH_DIGITS + 1, INDEX_DIGITS);
  return index === undefined ? undefined : { epoch, index };
}

/** Only the epoch of a segment's name. */
export function parseSegmentEpoch(name: string): number | undefined {
  if (name.length !== NAME_LENGTH || name[EPOCH_DIGITS] !== "-" || !name.endsWith(SUFFIX)) return undefined;
  const epoch = parseDigits(name, 0, EPOCH_DIGITS);
  return epoch === undefined || epoch === 0 ? undefined : epoch;
}

function parseDigits(text: string, start: number, count: number): number | undefined {
  let value = 0;
  for (let at = start; at < start + count; at += 1) {
    const digit = text.charCodeAt(at) - CODE_ZERO;
    if (!(digit >= 0 && digit <= 9)) return undefined;
    value = value * 10 + digit;
  }
  return value;
}
