/**
 * JSON text in pieces, so that writing a large value does not hold the loop: the caller may stop between two.
 *
 * Owns: where a value is cut. Joined, the pieces are what `JSON.stringify` gives for plain JSON. A value that is small as a
 * whole is one piece; the estimate is cheap and stops where it is known to be large. What stays in one go is listing the
 * keys of one object, about a millisecond for ten thousand.
 */

/** Characters of one part by estimate, for short texts full of escapes more; a piece is less than two parts. */
const PART_CHARS = 30 * 1024;
const TEXT_CHARS = 5 * 1024;
const SCALAR_CHARS = 10;
const PUNCTUATION_CHARS = 4;
/** What may stand around a container that is found to be large on the way from an outer one. */
const AROUND_CHARS = 2 * 1024;

/** Shape: at least one piece; about 64 KB each at most. */
export function* encodeJsonPieces(value: unknown): Generator<string> {
  const cutter = new JsonCutter();
  if (cutter.isOnePart(value)) {
    yield formatPart(value);
    return;
  }
  let held = "";
  for (const part of cutter.cut(value)) {
    held += part;
    if (held.length < PART_CHARS) continue;
    yield held;
    held = "";
  }
  if (held !== "") yield held;
}

class JsonCutter {
  /** Containers that are known to be more than one part, so that each is looked through once. */
  #large: Set<object> | undefined;

  isOnePart(value: unknown): boolean {
    return this.#spend(value, PART_CHARS) >= 0;
  }

  *cut(value: unknown): Generator<string> {
    if (this.isOnePart(value)) yield formatPart(value);
    else if (typeof value === "string") yield* cutText(value);
    else if (Array.isArray(value)) yield* this.#cutList(value);
    else yield* this.#cutObject(value as Readonly<Record<string, unknown>>);
  }

  /** Items that are small together are written together. */
  *#cutList(list: readonly unknown[]): Generator<string> {
    yield "[";
    for (let from = 0; from < list.length;) {
      let to = from;
      for (let left = PART_CHARS; to < list.length; to += 1) {
        left = this.#spend(list[to], left);
        if (left < 0) break;
      }
      if (from > 0) yield ",";
      if (to === from) {
        yield* this.cut(list[from]);
        from += 1;
      } else {
        yield JSON.stringify(list.slice(from, to)).slice(1, -1);
        from = to;
      }
    }
    yield "]";
  }

  *#cutObject(value: Readonly<Record<string, unknown>>): Generator<string> {
    let before = "{";
    for (const key of Object.keys(value)) {
      if (value[key] === undefined) continue;
      yield `${before}${JSON.stringify(key)}:`;
      yield* this.cut(value[key]);
      before = ",";
    }
    yield before === "{" ? "{}" : "}";
  }

  /** What is left of a budget of characters after a value; below zero as soon as there is nothing left. */
  #spend(value: unknown, budget: number): number {
    if (typeof value === "string") return budget - value.length - PUNCTUATION_CHARS;
    if (typeof value !== "object" || value === null) return budget - SCALAR_CHARS;
    if (this.#large?.has(value) === true) return -1;
    const left = this.#spendContent(value, budget - PUNCTUATION_CHARS);
    if (left < 0 && budget >= PART_CHARS - AROUND_CHARS) (this.#large ??= new Set()).add(value);
    return left;
  }

  #spendContent(value: object, budget: number): number {
    let left = budget;
    if (Array.isArray(value)) {
      for (const item of value as readonly unknown[]) {
        if (left < 0) return left;
        left = this.#spend(item, left);
      }
      return left;
    }
    const record = value as Readonly<Record<string, unknown>>;
    for (const key in record) {
      if (left < 0) return left;
      left = this.#spend(record[key], left - key.length - PUNCTUATION_CHARS);
    }
    return left;
  }
}

/** Never between the halves of a surrogate pair, which would be escaped one by one. */
function* cutText(text: string): Generator<string> {
  yield '"';
  for (let start = 0; start < text.length;) {
    let end = Math.min(start + TEXT_CHARS, text.length);
    if (end < text.length && isHighSurrogate(text.charCodeAt(end - 1))) end += 1;
    yield JSON.stringify(text.slice(start, end)).slice(1, -1);
    start = end;
  }
  yield '"';
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function formatPart(value: unknown): string {
  return JSON.stringify(value ?? null);
}
