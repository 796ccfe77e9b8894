/**
 * Prints JSON values as Python does, because conditions, `set` and the final typing of Conductor's files work on that
 * text: True, False, None, `[1, 'a']`, `{'k': 1.5}`.
 *
 * Source: CONDUCTOR-YAML 1.8.
 */
import { isJsonObject, type JsonValue } from "../base/json.js";

/** The text of a value in an output tag; texts are printed as they are. */
export function formatPython(value: JsonValue, isFloat = false): string {
  return typeof value === "string" ? value : formatRepr(value, isFloat);
}

/** The text of a value inside a collection: texts are quoted. */
export function formatRepr(value: JsonValue | undefined, isFloat: boolean): string {
  if (value === null || value === undefined) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "number") return formatNumber(value, isFloat);
  if (typeof value === "string") return formatQuoted(value);
  if (isJsonObject(value)) {
    const parts = Object.entries(value).map(([key, item]) => `${formatQuoted(key)}: ${formatRepr(item, false)}`);
    return `{${parts.join(", ")}}`;
  }
  return `[${value.map((item) => formatRepr(item, false)).join(", ")}]`;
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

const ESCAPES: Readonly<Record<string, string>> = { "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t" };

function formatQuoted(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const body = text.replace(/[\\'"\p{Cc}]/gu, (sign) => {
    if (sign === "'" || sign === '"') return sign === quote ? `\\${sign}` : sign;
    return ESCAPES[sign] ?? `\\x${(sign.codePointAt(0) ?? 0).toString(16).padStart(2, "0")}`;
  });
  return `${quote}${body}${quote}`;
}
