/**
 * Takes secrets out of what is about to become an event: once, before it is recorded, so memory and disk agree.
 *
 * Owns: what counts as a secret (registered values, telling field names, known shapes) and the mark that stands in its
 * place. The keyed digest comes in as a function, so equal secrets get equal marks within a task and a mark tells
 * nothing without the key. Who calls it, and with which values, is the callers' business.
 *
 * B4: an input is never changed, and what holds no secret comes back as the very same reference. B5: a mark is never
 * redacted again.
 * Source: DESIGN section 6, STORAGE section 1.13.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "./json.js";
import { computeSecretForms } from "./secret-forms.js";
import { isSecretName, SECRET_PATTERNS, type SecretPattern } from "./secret-shapes.js";

/** A keyed digest of a secret; at least four bytes. */
export type SecretDigest = (secret: Uint8Array) => Uint8Array;

export interface Redactor {
  /**
   * Takes out this very value from now on, also as base64, base64url, URL-encoded and JSON-escaped text.
   *
   * Shape: `kind` is a word for the mark. False when the value is too short to be told from ordinary text.
   */
  register(value: string, kind: string): boolean;
  redactText(text: string): string;
  /** Keys of objects are redacted too. */
  redactJson(value: JsonValue): JsonValue;
}

/** Shorter values would take ordinary text along. */
const VALUE_CHARS_MIN = 6;
const MARK = /\[redacted:[a-z0-9_-]+:[0-9a-f]{8}\]/;
const WHOLE_MARK = new RegExp(`^${MARK.source}$`);
/** Texts shorter than this hold no known shape. */
const SHAPE_CHARS_MIN = 8;
/** Judging a name costs more than remembering it; a task has few. */
const NAMES_MAX = 10_000;

/** A break of a line, also as JSON writes it, with the signs that wrapped text is indented or continued with. */
const LINE_BREAK = /(?:\\)?(?:\r\n|\n|\\r\\n|\\n)[ \t]{0,64}/;
const LINE_BREAKS = new RegExp(LINE_BREAK.source, "g");
/** Shorter forms would be found by chance across the ends of lines. */
const BROKEN_CHARS_MIN = 8;

interface Registered {
  readonly form: string;
  readonly mark: string;
}

class KeyedRedactor implements Redactor {
  readonly #digest: SecretDigest;
  readonly #values = new Set<string>();
  readonly #names = new Map<string, boolean>();
  /** Longest first, so that a form inside another one does not break it up. */
  #forms: readonly Registered[] = [];

  constructor(digest: SecretDigest) {
    this.#digest = digest;
  }

  register(value: string, kind: string): boolean {
    if (value.length < VALUE_CHARS_MIN) return false;
    if (this.#values.has(value)) return true;
    this.#values.add(value);
    const mark = this.#mark(value, kind);
    const forms = computeSecretForms(value).map((form) => ({ form, mark }));
    this.#forms = [...this.#forms, ...forms].sort((left, right) => right.form.length - left.form.length);
    return true;
  }

  redactText(text: string): string {
    if (text.length < VALUE_CHARS_MIN) return text;
    let result = text;
    for (const { form, mark } of this.#forms) {
      if (form.length <= result.length && result.includes(form)) result = replaceOutsideMarks(result, form, mark);
    }
    if (LINE_BREAK.test(result)) result = replaceBroken(result, this.#forms);
    if (result.length < SHAPE_CHARS_MIN) return result;
    for (const pattern of SECRET_PATTERNS) {
      if (hasHint(result, pattern)) result = this.#replaceShape(result, pattern);
    }
    return result;
  }

  redactJson(value: JsonValue): JsonValue {
    if (typeof value === "string") return this.redactText(value);
    if (typeof value !== "object" || value === null) return value;
    return Array.isArray(value) ? this.#redactArray(value, false) : this.#redactObject(value as JsonObject);
  }

  #redactArray(items: readonly JsonValue[], secret: boolean): JsonValue {
    let copy: JsonValue[] | undefined;
    for (let index = 0; index < items.length; index += 1) {
      const item = items[index] as JsonValue;
      const clean = secret ? this.#redactNamed(item) : this.redactJson(item);
      if (clean === item) continue;
      copy ??= items.slice();
      copy[index] = clean;
    }
    return copy ?? items;
  }

  #redactObject(record: JsonObject): JsonValue {
    let isChanged = false;
    const entries: [string, JsonValue | undefined][] = [];
    for (const [key, item] of Object.entries(record)) {
      const cleanKey = this.redactText(key);
      const clean =
        item === undefined ? item : this.#isSecretName(key) ? this.#redactNamed(item) : this.redactJson(item);
      isChanged ||= clean !== item || cleanKey !== key;
      entries.push([cleanKey, clean]);
    }
    return isChanged ? Object.fromEntries(entries) : record;
  }

  /** The value of a field whose name tells that it is a secret: texts and long numbers go, structure stays. */
  #redactNamed(value: JsonValue): JsonValue {
    if (typeof value === "string") {
      return value === "" || WHOLE_MARK.test(value) ? value : this.#mark(value, "field");
    }
    if (typeof value === "number" && String(value).length >= VALUE_CHARS_MIN) return this.#mark(String(value), "field");
    if (Array.isArray(value)) return this.#redactArray(value, true);
    return isJsonObject(value) ? this.#redactObject(value) : value;
  }

  #isSecretName(name: string): boolean {
    const known = this.#names.get(name);
    if (known !== undefined) return known;
    const verdict = isSecretName(name);
    if (this.#names.size < NAMES_MAX) this.#names.set(name, verdict);
    return verdict;
  }

  #replaceShape(text: string, pattern: SecretPattern): string {
    return text.replace(pattern.expression, (...groups: unknown[]) => {
      const [whole, before, secret] = groups as [string, string | undefined, string | undefined];
      if (!pattern.hasContext) return this.#mark(whole, pattern.kind);
      if (secret === undefined || before === undefined || MARK.test(secret)) return whole;
      return `${before}${this.#mark(secret, pattern.kind)}${whole.slice(before.length + secret.length)}`;
    });
  }

  #mark(secret: string, kind: string): string {
    const word = kind.toLowerCase().replace(/[^a-z0-9_-]+/g, "-") || "secret";
    const digest = Buffer.from(this.#digest(Buffer.from(secret)))
      .toString("hex")
      .slice(0, 8);
    return `[redacted:${word}:${digest}]`;
  }
}

function hasHint(text: string, pattern: SecretPattern): boolean {
  return pattern.hints.some((hint) => text.includes(hint));
}

/** Replaces every occurrence, but none that lies within a mark. */
function replaceOutsideMarks(text: string, form: string, mark: string): string {
  if (!text.includes("[redacted:")) return text.replaceAll(form, () => mark);
  const pieces = text.split(new RegExp(`(${MARK.source})`));
  return pieces.map((piece) => (WHOLE_MARK.test(piece) ? piece : piece.replaceAll(form, () => mark))).join("");
}

/** Takes out forms that are broken into lines, as `base64` and `xxd` write them, with the breaks in them. */
function replaceBroken(text: string, forms: readonly Registered[]): string {
  const { joined, starts } = joinLines(text);
  const found: { readonly from: number; readonly to: number; readonly mark: string }[] = [];
  // What stands in one line has been judged: a mark is not looked into.
  const note = (from: number, to: number, { form, mark }: Registered): void => {
    if (to - from > form.length) found.push({ from, to, mark });
  };
  for (const { form, mark } of forms) {
    if (form.length < BROKEN_CHARS_MIN) continue;
    for (let at = joined.indexOf(form); at !== -1; at = joined.indexOf(form, at + form.length))
      note(placeOf(starts, at), placeOf(starts, at + form.length - 1) + 1, { form, mark });
  }
  if (found.length === 0) return text;
  let result = "";
  let end = 0;
  for (const { from, to, mark } of found.sort((left, right) => left.from - right.from || right.to - left.to)) {
    if (from < end) continue;
    result += text.slice(end, from) + mark;
    end = to;
  }
  return result + text.slice(end);
}

interface Joined {
  readonly joined: string;
  /** Where each piece begins, in the joined text and in the text itself; ascending. */
  readonly starts: readonly (readonly [joined: number, own: number])[];
}

function joinLines(text: string): Joined {
  const pieces: string[] = [];
  const starts: [number, number][] = [];
  let length = 0;
  let from = 0;
  const add = (to: number): void => {
    starts.push([length, from]);
    pieces.push(text.slice(from, to));
    length += to - from;
  };
  for (const { index, 0: found } of text.matchAll(LINE_BREAKS)) {
    add(index);
    from = index + found.length;
  }
  add(text.length);
  return { joined: pieces.join(""), starts };
}

/** The place in the text of a character of the joined one. */
function placeOf(starts: Joined["starts"], at: number): number {
  let low = 0;
  for (let high = starts.length; high - low > 1;) {
    const middle = (low + high) >> 1;
    if ((starts[middle]?.[0] ?? 0) <= at) low = middle;
    else high = middle;
  }
  const [joined = 0, own = 0] = starts[low] ?? [];
  return own + at - joined;
}

/** A redactor that knows shapes and field names, and no value yet. */
export function createRedactor(digest: SecretDigest): Redactor {
  return new KeyedRedactor(digest);
}
