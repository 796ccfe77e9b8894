/**
 * Filters that print: they see whole floats as floats, so that `1.0` stays `1.0` in texts, lists and JSON.
 *
 * template-rewrites.ts hands them the value as minijinja writes it (native-text.ts), under the names here. Under their
 * plain names they stand in FILTERS as well, for `map('join', ',')` and the like, where a whole float is an integer.
 * Source: CONDUCTOR-YAML 1.8; Jinja2 3.1, list of filters; Python 3, json.dumps.
 */
import type { JsonObject, JsonValue } from "../../base/json.js";
import { LIMITS } from "../../base/limits.js";
import { type Shown, type ShownMap, WholeFloat } from "./python-repr.js";
import { formatNumber, formatPython, formatRepr } from "./python-text.js";

export type ShownFilter = (value: Shown | undefined, positional: readonly JsonValue[], named: JsonObject) => string;

function isList(value: Shown | undefined): value is readonly Shown[] {
  return Array.isArray(value);
}

function isMap(value: Shown | undefined): value is ShownMap {
  return typeof value === "object" && value !== null && !isList(value) && !(value instanceof WholeFloat);
}

interface JsonForm {
  /** Absent: all in one line. */
  readonly indent?: number;
  readonly sortsKeys?: boolean;
  readonly isAscii?: boolean;
}

/** JSON as Python's `json.dumps` writes it. */
function formatJson(value: Shown | undefined, form: JsonForm, depth = 0): string {
  if (value instanceof WholeFloat) return formatNumber(value.value, true);
  if (typeof value === "string") return quoteJson(value, form);
  if (isList(value)) {
    const items = value.map((item) => formatJson(item, form, depth + 1));
    return wrap(items, "[]", { form, depth });
  }
  if (!isMap(value)) return typeof value === "bigint" ? value.toString() : JSON.stringify(value ?? null);
  const keys = Object.keys(value);
  if (form.sortsKeys === true) keys.sort();
  const parts = keys.map((key) => `${quoteJson(key, form)}: ${formatJson(value[key], form, depth + 1)}`);
  return wrap(parts, "{}", { form, depth });
}

function wrap(
  parts: readonly string[],
  brackets: "[]" | "{}",
  { form: { indent }, depth }: { readonly form: JsonForm; readonly depth: number },
): string {
  const [open, close] = [brackets.slice(0, 1), brackets.slice(1)];
  if (parts.length === 0) return brackets;
  if (indent === undefined) return open + parts.join(", ") + close;
  const [inner, outer] = [" ".repeat(indent * (depth + 1)), " ".repeat(indent * depth)];
  return `${open}\n${inner}${parts.join(`,\n${inner}`)}\n${outer}${close}`;
}

function quoteJson(text: string, { isAscii }: JsonForm): string {
  const quoted = JSON.stringify(text);
  if (isAscii !== true) return quoted;
  return quoted.replace(/[\u0080-\uffff]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

const HTML_UNSAFE: Readonly<Record<string, string>> = {
  "<": "\\u003c",
  ">": "\\u003e",
  "&": "\\u0026",
  "'": "\\u0027",
};
const INDENT_MAX = 16;

function indentOf(value: JsonValue | undefined, otherwise: number | undefined): { readonly indent?: number } {
  const indent = value === undefined ? otherwise : value;
  return typeof indent === "number" ? { indent: Math.min(Math.max(indent, 0), INDENT_MAX) } : {};
}

/** `none` as its argument is one line. */
const writeJson: ShownFilter = (value, [indent], named) =>
  formatJson(value, indentOf(indent === undefined ? named["indent"] : indent, 2));

/** Jinja sorts keys here and writes ASCII that is safe in HTML. */
const writeSafeJson: ShownFilter = (value, [indent], named) =>
  formatJson(value, { ...indentOf(indent ?? named["indent"], undefined), sortsKeys: true, isAscii: true }).replace(
    /[<>&']/g,
    (sign) => HTML_UNSAFE[sign] ?? sign,
  );

const join: ShownFilter = (value, [separator, attribute], named) => {
  if (value === undefined) throw new Error("undefined value");
  const items = isList(value) ? value : isMap(value) ? Object.keys(value) : Array.from(formatPython(value));
  const key = attribute ?? named["attribute"];
  const of = (item: Shown): Shown => (typeof key === "string" && isMap(item) ? (item[key] ?? null) : item);
  const text = items.map((item) => formatPython(of(item))).join(formatPython(separator ?? named["d"] ?? ""));
  if (text.length > LIMITS.templateOutputBytesMax) throw new Error("the joined text is too long");
  return text;
};

/** Errors: of an undefined value, unless the first argument allows it: an `if` without `else` may give none. */
const string: ShownFilter = (value, [mayBeUndefined]) => {
  if (value !== undefined) return formatPython(value);
  if (mayBeUndefined === true) return "";
  throw new Error("undefined value");
};

/** Before the names under which they are handed the value as minijinja writes it. */
export const SHOWN_PREFIX = "__shown_";

/** By the name in a template. */
export const SHOWN_FILTERS: Readonly<Record<string, ShownFilter>> = {
  json: writeJson,
  tojson: writeSafeJson,
  string,
  join,
  pprint: (value) => formatRepr(value),
};
