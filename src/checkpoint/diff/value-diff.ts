/**
 * Where two JSON values differ: leaf by leaf, long text by line, what cannot be shown by size and digest.
 *
 * Owns: how one difference is described as data. What is compared with what is state-diff.ts. The line algorithm is the
 * `diff` package, loaded on first use; it is given only what common beginnings and ends leave over.
 */
import { sha256Hex } from "../../base/digest.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.js";

/** One line of a text difference; `skip` stands for equal lines left out. */
export type TextLine =
  | { readonly op: "same" | "removed" | "added"; readonly text: string }
  | { readonly op: "skip"; readonly count: number };

/** Stands for a value that is not shown. A stored value never has this form: `$t` is kept for tags. */
export interface ValueMark {
  readonly $t: "mark";
  /** Bytes of the JSON text. */
  readonly size: number;
  readonly digest?: string;
}

export type ValueDifference = { readonly field: string } & (
  | { readonly kind: "added"; readonly to: JsonValue | ValueMark }
  | { readonly kind: "removed"; readonly from: JsonValue | ValueMark }
  | { readonly kind: "changed"; readonly from: JsonValue | ValueMark; readonly to: JsonValue | ValueMark }
  | { readonly kind: "text"; readonly lines: readonly TextLine[]; readonly from: ValueMark; readonly to: ValueMark }
  /** Further differences of the same value that were left out. */
  | { readonly kind: "more"; readonly count: number }
);

/** Differences shown of one value. */
const DIFFERENCES_MAX = 50;
/** Texts up to this length are shown whole. */
const SHORT_TEXT_CHARS_MAX = 200;
/** Values up to this length of JSON are shown whole when they come or go. */
const SHORT_VALUE_CHARS_MAX = 2000;
const CONTEXT_LINES = 2;
const SHOWN_LINES_MAX = 200;
const SHOWN_LINE_CHARS_MAX = 400;
/** Edits after which the line algorithm gives up and the whole middle counts as replaced. */
const EDITS_MAX = 1000;
const ALGORITHM_MS_MAX = 800;

export function markOf(value: JsonValue): ValueMark {
  const text = JSON.stringify(value);
  return { $t: "mark", size: Buffer.byteLength(text), digest: sha256Hex(text) };
}

/** A value as it is shown: whole when short, else by size and digest. */
export function showValue(value: JsonValue): JsonValue | ValueMark {
  return JSON.stringify(value).length <= SHORT_VALUE_CHARS_MAX ? value : markOf(value);
}

/**
 * All places where two values differ, in the order of the first one's keys.
 *
 * Shape: empty when equal; at most DIFFERENCES_MAX and then one `more`. The order of keys does not count.
 */
export async function diffValues(
  field: string,
  from: JsonValue | undefined,
  to: JsonValue | undefined,
): Promise<ValueDifference[]> {
  const found: ValueDifference[] = [];
  let left = 0;
  for (const leaf of walk({ field, from, to })) {
    if (found.length < DIFFERENCES_MAX) found.push(await describe(leaf));
    else left += 1;
  }
  return left === 0 ? found : [...found, { field, kind: "more", count: left }];
}

interface Leaf {
  readonly field: string;
  readonly from: JsonValue | undefined;
  readonly to: JsonValue | undefined;
}

function* walk({ field, from, to }: Leaf): Generator<Leaf> {
  if (Object.is(from, to)) return;
  if (Array.isArray(from) && Array.isArray(to)) {
    const [one, other] = [from as readonly JsonValue[], to as readonly JsonValue[]];
    for (let at = 0; at < Math.max(one.length, other.length); at += 1)
      yield* walk({ field: `${field}[${at}]`, from: one[at], to: other[at] });
    return;
  }
  if (isJsonObject(from) && isJsonObject(to) && !isBytes(from) && !isBytes(to)) {
    for (const key of new Set([...Object.keys(from), ...Object.keys(to)])) {
      yield* walk({ field: field === "" ? key : `${field}.${key}`, from: ownOf(from, key), to: ownOf(to, key) });
    }
    return;
  }
  if (!isSameBytes(from, to)) yield { field, from, to };
}

function ownOf(value: JsonObject, key: string): JsonValue | undefined {
  return Object.hasOwn(value, key) ? value[key] : undefined;
}

function isBytes(value: JsonValue | undefined): value is JsonObject {
  return isJsonObject(value) && value["$t"] === "bytes";
}

function isSameBytes(from: JsonValue | undefined, to: JsonValue | undefined): boolean {
  return isBytes(from) && isBytes(to) && from["v"] === to["v"];
}

async function describe({ field, from, to }: Leaf): Promise<ValueDifference> {
  if (from === undefined) return { field, kind: "added", to: showAny(to ?? null) };
  if (to === undefined) return { field, kind: "removed", from: showAny(from) };
  if (typeof from === "string" && typeof to === "string" && (isLong(from) || isLong(to))) {
    return { field, kind: "text", lines: await diffText(from, to), from: markOf(from), to: markOf(to) };
  }
  return { field, kind: "changed", from: showAny(from), to: showAny(to) };
}

/** Bytes are never shown. */
function showAny(value: JsonValue): JsonValue | ValueMark {
  return isBytes(value) ? markOf(value) : showValue(value);
}

function isLong(text: string): boolean {
  return text.length > SHORT_TEXT_CHARS_MAX || text.includes("\n");
}

/** The lines that differ with a little around them. Shape: never empty for different texts; long lines are cut to the place. */
export async function diffText(from: string, to: string): Promise<TextLine[]> {
  const [one, other] = [from.split("\n"), to.split("\n")];
  const { start, end } = trimCommon(one, other);
  const middle = await diffMiddle(one.slice(start, one.length - end), other.slice(start, other.length - end));
  const before = one.slice(Math.max(0, start - CONTEXT_LINES), start).map(same);
  const after = one.slice(one.length - end, one.length - end + CONTEXT_LINES).map(same);
  const lines = [...skip(start - before.length), ...before, ...foldSame(middle), ...after, ...skip(end - after.length)];
  const shown = lines.slice(0, SHOWN_LINES_MAX);
  return lines.length > shown.length ? [...shown, { op: "skip", count: lines.length - shown.length }] : shown;
}

function trimCommon(
  one: readonly string[],
  other: readonly string[],
): { readonly start: number; readonly end: number } {
  const shorter = Math.min(one.length, other.length);
  let start = 0;
  while (start < shorter && one[start] === other[start]) start += 1;
  let end = 0;
  while (end < shorter - start && one[one.length - 1 - end] === other[other.length - 1 - end]) end += 1;
  return { start, end };
}

async function diffMiddle(one: readonly string[], other: readonly string[]): Promise<TextLine[]> {
  const [left] = one;
  const [right] = other;
  if (one.length === 1 && other.length === 1 && left !== undefined && right !== undefined)
    return cutToPlace(left, right);
  const replaced = [...one.map(removed), ...other.map(added)];
  if (one.length === 0 || other.length === 0) return replaced;
  const { diffArrays } = await import("diff");
  const changes = diffArrays([...one], [...other], { maxEditLength: EDITS_MAX, timeout: ALGORITHM_MS_MAX });
  if (changes === undefined) return replaced;
  return changes.flatMap((change) => change.value.map(change.added ? added : change.removed ? removed : same));
}

const PLACE_CHARS = 80;

/** Two lines that differ: where long, only the place where they begin to. */
function cutToPlace(left: string, right: string): TextLine[] {
  let at = 0;
  while (at < left.length && left.charCodeAt(at) === right.charCodeAt(at)) at += 1;
  let end = 0;
  const most = Math.min(left.length, right.length) - at;
  while (end < most && left.charCodeAt(left.length - 1 - end) === right.charCodeAt(right.length - 1 - end)) end += 1;
  const cut = (line: string): string => {
    const from = Math.max(0, at - PLACE_CHARS);
    const to = Math.min(line.length, line.length - end + PLACE_CHARS);
    return `${from > 0 ? "…" : ""}${line.slice(from, to)}${to < line.length ? "…" : ""}`;
  };
  return [removed(cut(left)), added(cut(right))];
}

const clip = (text: string): string =>
  text.length > SHOWN_LINE_CHARS_MAX ? `${text.slice(0, SHOWN_LINE_CHARS_MAX)}…` : text;
const same = (text: string): TextLine => ({ op: "same", text: clip(text) });
const removed = (text: string): TextLine => ({ op: "removed", text: clip(text) });
const added = (text: string): TextLine => ({ op: "added", text: clip(text) });
const skip = (count: number): TextLine[] => (count > 0 ? [{ op: "skip", count }] : []);

/** Long runs of equal lines between two changes become a count. */
function foldSame(lines: readonly TextLine[]): TextLine[] {
  const folded: TextLine[] = [];
  let run: TextLine[] = [];
  for (const line of lines) {
    if (line.op === "same") {
      run.push(line);
      continue;
    }
    folded.push(...foldRun(run), line);
    run = [];
  }
  return [...folded, ...foldRun(run)];
}

function foldRun(run: readonly TextLine[]): TextLine[] {
  if (run.length <= 2 * CONTEXT_LINES + 1) return [...run];
  return [...run.slice(0, CONTEXT_LINES), ...skip(run.length - 2 * CONTEXT_LINES), ...run.slice(-CONTEXT_LINES)];
}
