/**
 * The one JSON value in the text of an answer: alone, in a fenced block, or with prose around it.
 *
 * Source: FAULTS 20: fences and prose around one value are tolerated; a guess among several is not made.
 */
import { isErrorCode, messageOf } from "../../base/errors.js";
import type { JsonValue } from "../../base/json.js";
import { outputInvalid } from "./failure.js";
import { parsePlainValue } from "../../base/plain-value.js";

const FENCE = "```";
/** The rest of a line that opens a block. */
const OPENING = /[a-zA-Z0-9]*[ \t]*\r?\n/y;
const CLOSING = /\r?\n[ \t]*```/g;

/**
 * `undefined` when there is none that can be stored, or more than one in blocks of their own.
 *
 * Errors: STEP_OUTPUT_INVALID for a whole JSON text with a number that would change or a key that stands twice.
 */
export function findJson(text: string): JsonValue | undefined {
  const whole = parse(text, { isWhole: true });
  if (whole !== undefined) return whole;
  const fenced = listFenced(text).flatMap((inner) => parse(inner) ?? []);
  if (fenced.length > 0) return fenced.length === 1 ? fenced[0] : undefined;
  return findInProse(text);
}

/** What stands in fenced blocks. Each place is read once: where no block closes behind one that opens, none does later. */
function listFenced(text: string): string[] {
  const found: string[] = [];
  for (let at = text.indexOf(FENCE); at !== -1;) {
    OPENING.lastIndex = at + FENCE.length;
    let next = at + 1;
    if (OPENING.test(text)) {
      const from = OPENING.lastIndex;
      CLOSING.lastIndex = from;
      const closing = CLOSING.exec(text);
      if (closing === null) return found;
      found.push(text.slice(from, closing.index));
      next = CLOSING.lastIndex;
    }
    at = text.indexOf(FENCE, next);
  }
  return found;
}

/** Places looked at; texts with more brackets are no prose. */
const TRIES_MAX = 100;

/** The one object or list that is whole; `undefined` when another one follows. */
function findInProse(text: string): JsonValue | undefined {
  let found: JsonValue | undefined;
  let from = nextOpening(text, 0);
  for (let tries = 0; from !== -1 && tries < TRIES_MAX; tries += 1) {
    const to = findEnd(text, from);
    const value = to === -1 ? undefined : parse(text.slice(from, to));
    if (value !== undefined && found !== undefined) return undefined;
    found ??= value;
    from = nextOpening(text, value === undefined ? from + 1 : to);
  }
  return found;
}

function nextOpening(text: string, from: number): number {
  const found = [text.indexOf("{", from), text.indexOf("[", from)].filter((at) => at !== -1);
  return found.length === 0 ? -1 : Math.min(...found);
}

/** Behind the bracket that closes the one at `from`; -1 when none does. */
function findEnd(text: string, from: number): number {
  let depth = 0;
  let isText = false;
  for (let at = from; at < text.length; at += 1) {
    const sign = text[at];
    if (isText) {
      if (sign === "\\") at += 1;
      else if (sign === '"') isText = false;
    } else if (sign === '"') isText = true;
    else if (sign === "{" || sign === "[") depth += 1;
    else if (sign === "}" || sign === "]") depth -= 1;
    if (depth === 0) return at + 1;
  }
  return -1;
}

function parse(text: string, { isWhole = false } = {}): JsonValue | undefined {
  try {
    return parsePlainValue(text);
  } catch (error) {
    if (isWhole && isErrorCode(error, "VALUE_UNSUPPORTED")) throw outputInvalid(messageOf(error), text);
    const isUnfit = isErrorCode(error, "VALUE_TOO_DEEP") || isErrorCode(error, "VALUE_UNSUPPORTED");
    if (error instanceof SyntaxError || isUnfit) return undefined;
    throw error;
  }
}
