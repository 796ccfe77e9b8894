/**
 * Prints JSON values as Python does, because conditions, `set` and the final typing of Conductor's files work on that
 * text: True, False, None, `[1, 'a']`, `{'k': 1.5}`.
 *
 * Source: CONDUCTOR-YAML 1.8.
 */
import { type Shown, type ShownMap, WholeFloat } from "./python-repr.js";

/** The text of a value in an output tag; texts are printed as they are. */
export function formatPython(value: Shown | undefined): string {
  return typeof value === "string" ? value : formatRepr(value);
}

/** The text of a value inside a collection: texts are quoted. */
export function formatRepr(value: Shown | undefined): string {
  if (value === null || value === undefined) return "None";
  if (value instanceof WholeFloat) return formatNumber(value.value, true);
  switch (typeof value) {
    case "boolean":
      return value ? "True" : "False";
    case "number":
      return formatNumber(value, false);
    case "bigint":
      return value.toString();
    case "string":
      return formatQuoted(value);
    default:
      return isList(value) ? `[${value.map(formatRepr).join(", ")}]` : formatMap(value);
  }
}

function isList(value: Shown): value is readonly Shown[] {
  return Array.isArray(value);
}

function formatMap(value: ShownMap): string {
  const parts = Object.entries(value).map(([key, item]) => `${formatQuoted(key)}: ${formatRepr(item)}`);
  return `{${parts.join(", ")}}`;
}

/** A number in Python's shortest form; a whole one is an integer unless it is said to be a float. */
export function formatNumber(value: number, isFloat: boolean): string {
  if (Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
  if (Number.isInteger(value) && !isFloat) return BigInt(value).toString();
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e16)) {
    const [digits, power] = value.toExponential().split("e") as [string, string];
    const sign = power.startsWith("-") ? "-" : "+";
    return `${digits}e${sign}${power.slice(1).padStart(2, "0")}`;
  }
  const text = String(value);
  return Number.isInteger(value) ? `${Object.is(value, -0) ? "-0" : text}.0` : text;
}

const DIGITS_MAX = 20;
/** Doubles have no more decimal digits than this after the last one that is asked for, as far as a half can tell. */
const REST_DIGITS = 60;

/** A number with so many decimals, as Python writes it: the even one of two that are as near. */
export function formatFixed(number: number, decimals: number): string {
  const digits = Math.min(Math.max(decimals, 0), DIGITS_MAX);
  const size = Math.abs(number);
  if (!Number.isFinite(number) || size >= 1e21) return formatNumber(number, true);
  const exact = size.toFixed(digits + REST_DIGITS);
  const isHalf = /^50*$/.test(exact.slice(-REST_DIGITS));
  const cut = exact.slice(0, -REST_DIGITS).replace(/\.$/, "");
  const isDown = isHalf && Number(cut.at(-1)) % 2 === 0;
  const text = isDown ? cut : size.toFixed(digits);
  return number < 0 || Object.is(number, -0) ? `-${text}` : text;
}

/** As Python rounds; to tens and hundreds with negative digits. */
export function roundEven(number: number, digits: number): number {
  if (digits >= 0) return Number(formatFixed(number, digits));
  const scale = 10 ** -digits;
  return Number(formatFixed(number / scale, 0)) * scale;
}

const ESCAPES: Readonly<Record<string, string>> = { "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t" };

function formatQuoted(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const body = text.replace(/[\\'"\p{Cc}]/gu, (sign) => {
    if (sign === "'" || sign === '"') return sign === quote ? `\\${sign}` : sign;
    return ESCAPES[sign] ?? `\\x${(sign.codePointAt(0) ?? 0).toString(16).padStart(2, "0")}`;
  });
  return `${quote}${body}${quote}`;
}
