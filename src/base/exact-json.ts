/**
 * JSON text as a value that is what the text says, or an error that names the place.
 *
 * `JSON.parse` rounds numbers beyond 2^53, makes those that are too large infinite and those that are too small zero, lets
 * the last of equal keys win, and takes halves of characters for text. Here each of them is a fault with its path.
 * Units: paths as in `$.rows[3].id`.
 */
import { SplashdownError } from "./errors.js";
import type { JsonValue } from "./json.js";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const NUMBER = /-?\d+(\.\d+)?([eE][-+]?\d+)?/y;
const SHOWN_CHARS_MAX = 60;

/**
 * Reads JSON; a byte order mark at its beginning is none of it.
 *
 * Errors: SyntaxError as of JSON.parse; VALUE_UNSUPPORTED for a number that would change, a key that stands twice, a lone
 * surrogate.
 */
export function parseExactJson(given: string): JsonValue {
  const text = given.startsWith("\uFEFF") ? given.slice(1) : given;
  const value = JSON.parse(text) as JsonValue;
  const problem = findInexact(text);
  if (problem !== undefined)
    throw new SplashdownError("VALUE_UNSUPPORTED", problem.message, { details: { path: problem.path } });
  return value;
}

interface Frame {
  /** Keys that were seen; absent in a list. */
  readonly keys?: Set<string>;
  key: string;
  index: number;
  isAtKey: boolean;
}

export interface InexactPlace {
  readonly path: string;
  readonly message: string;
}

/** The first place of a well-formed JSON text that JSON.parse would change. */
export function findInexact(text: string): InexactPlace | undefined {
  const frames: Frame[] = [];
  let at = 0;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    const frame = frames.at(-1);
    if (code === QUOTE) {
      const end = endOfString(text, at);
      const quoted = text.slice(at, end);
      const found = findBrokenString(frames, quoted) ?? takeString(frames, frame, quoted);
      if (found !== undefined) return found;
      at = end;
    } else if (isNumberStart(code)) {
      const { length, message } = readNumber(text, at);
      if (message !== undefined) return { path: pathOf(frames), message: `${pathOf(frames)}: ${message}` };
      at += length;
    } else {
      step(frames, frame, text[at] ?? "");
      at += 1;
    }
  }
  return undefined;
}

function step(frames: Frame[], frame: Frame | undefined, sign: string): void {
  if (sign === "{") frames.push({ keys: new Set(), key: "", index: 0, isAtKey: true });
  else if (sign === "[") frames.push({ key: "", index: 0, isAtKey: false });
  else if (sign === "}" || sign === "]") frames.pop();
  else if (sign === "," && frame !== undefined) {
    frame.index += 1;
    frame.isAtKey = frame.keys !== undefined;
  }
}

/** A surrogate, as it is or escaped. */
const SURROGATE = /[\ud800-\udfff]|\\u[dD][89a-fA-F]/;
const LONE = /\p{Surrogate}/u;

function findBrokenString(frames: readonly Frame[], quoted: string): InexactPlace | undefined {
  if (!SURROGATE.test(quoted)) return undefined;
  const message = findBrokenText(JSON.parse(quoted) as string);
  if (message === undefined) return undefined;
  const path = pathOf(frames.at(-1)?.isAtKey === true ? frames.slice(0, -1) : frames);
  return { path, message: `${path}: ${message}` };
}

/** Half of a character would become another one wherever the text is written down. */
export function findBrokenText(text: string): string | undefined {
  return LONE.test(text) ? "a text has half of a character (a lone surrogate)" : undefined;
}

/** Takes a string as the next key where one is due; any other string has nothing that could change. */
function takeString(frames: readonly Frame[], frame: Frame | undefined, quoted: string): InexactPlace | undefined {
  return frame?.keys !== undefined && frame.isAtKey ? takeKey(frames, frame, quoted) : undefined;
}

function takeKey(frames: readonly Frame[], frame: Frame, quoted: string): InexactPlace | undefined {
  frame.key = quoted.includes("\\") ? (JSON.parse(quoted) as string) : quoted.slice(1, -1);
  frame.isAtKey = false;
  if (frame.keys?.has(frame.key) === true) {
    const path = pathOf(frames);
    return { path, message: `${path}: the key stands twice in one object` };
  }
  frame.keys?.add(frame.key);
  return undefined;
}

/** A minus sign or a digit. */
function isNumberStart(code: number): boolean {
  return code === 0x2d || (code >= 0x30 && code <= 0x39);
}

/** How many characters the number at a place takes, and what is wrong with it. */
function readNumber(text: string, at: number): { readonly length: number; readonly message: string | undefined } {
  NUMBER.lastIndex = at;
  const [number = "", fraction, exponent] = NUMBER.exec(text) ?? [];
  const message = judgeNumber(number, fraction !== undefined || exponent !== undefined);
  return { length: Math.max(number.length, 1), message };
}

/** The fault of a number that a double would change; `undefined` for a number that stays exact. */
export function findInexactNumber(number: string): string | undefined {
  return judgeNumber(number, /[.eE]/.test(number));
}

function judgeNumber(number: string, isFraction: boolean): string | undefined {
  const value = Number(number);
  const shown = number.length > SHOWN_CHARS_MAX ? `${number.slice(0, SHOWN_CHARS_MAX)}…` : number;
  if (!Number.isFinite(value)) return `the number ${shown} is too large to be held`;
  if (value === 0)
    return /[1-9]/.test(number.split(/e/i)[0] ?? "") ? `the number ${shown} is too small to be held` : undefined;
  if (Number.isSafeInteger(value) || (isFraction && isHeld(number, value))) return undefined;
  return `the ${isFraction ? "number" : "whole number"} ${shown} cannot be held exactly; give it as a text`;
}

/** Beyond 2^53 the digits before the point get lost; below, a fraction is as near as numbers are. */
function isHeld(number: string, value: number): boolean {
  return Math.abs(value) < Number.MAX_SAFE_INTEGER || digitsOf(number) === digitsOf(String(value));
}

/** The digits of a number without zeros at the ends, and the place of the point: equal for two ways to write one number. */
function digitsOf(number: string): string {
  const [, whole = "", fraction = "", exponent = "0"] = /^-?(\d+)(?:\.(\d+))?(?:[eE]([-+]?\d+))?$/.exec(number) ?? [];
  const digits = (whole + fraction).replace(/^0+/, "");
  const power = Number(exponent) - fraction.length + digits.length;
  let end = digits.length;
  while (digits[end - 1] === "0") end -= 1;
  return `${digits.slice(0, end)}e${power}`;
}

function endOfString(text: string, from: number): number {
  let at = from + 1;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at + 1;
    at += code === BACKSLASH ? 2 : 1;
  }
  return text.length;
}

function pathOf(frames: readonly Frame[]): string {
  return frames.reduce((path, { keys, key, index }) => path + (keys === undefined ? `[${index}]` : partOf(key)), "$");
}

/** The end of a path: `.key`, or `["a key"]`. */
export function partOf(key: string): string {
  return /^[A-Za-z_]\w*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
}
