/**
 * Filters and functions that minijinja lacks or that must behave as in Jinja2: `json`, `default` (also for null),
 * `string`, `join`, `tojson`, `format`, … and `int`, `float`, `str` of conditions.
 *
 * Source: CONDUCTOR-YAML 1.5 and 1.8.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.js";
import { formatFixed, formatNumber, formatPython } from "./python-text.js";
import { ORDER_FILTERS } from "./template-ordering.js";
import { SHOWN_FILTERS } from "./template-shown-filters.js";
import type { FilterCall } from "./filter-call.js";
import { MAP_FILTERS, readFraction, readWhole, TEXT_FILTERS } from "./template-more-filters.js";

/** Given as `named` when there was no trailing map; a map as last positional value looks the same as named ones. */
export const NO_NAMES: JsonObject = Object.freeze({});

const textOf = (value: JsonValue | undefined): string => formatPython(value ?? null);

function numberOf(value: JsonValue | undefined, otherwise: number): number {
  return typeof value === "number" ? value : otherwise;
}

const replaceDefault: FilterCall = (value, [otherwise, onFalsy], named) => {
  const replacesFalsy = onFalsy === true || named["boolean"] === true;
  if (!isEmpty(value, replacesFalsy)) return value;
  return otherwise ?? defaultOf(named);
};

function isEmpty(value: JsonValue | undefined, replacesFalsy: boolean): boolean {
  if (value === undefined || value === null) return true;
  if (!replacesFalsy) return false;
  return typeof value === "object" ? Object.keys(value).length === 0 : !value;
}

/** A map as the only argument looks like named ones; without a known name it is the value. */
function defaultOf(named: JsonObject): JsonValue {
  if (named === NO_NAMES) return "";
  return "default_value" in named || "boolean" in named ? (named["default_value"] ?? "") : named;
}

/** `%s`, `%d`, `%05.2f` and the like. */
const PLACE = /%(?:%|[-0+ ]*\d*(?:\.\d+)?[sdifrx])/g;

function formatText(pattern: string, values: readonly JsonValue[]): string {
  let next = 0;
  return pattern.replace(PLACE, (whole: string) => {
    if (whole === "%%") return "%";
    const value = values[next++];
    if (value === undefined) throw new Error("format has fewer values than places");
    const [, flags = "", width = "", precision, kind = "s"] = /%([-0+ ]*)(\d*)(?:\.(\d+))?(\w)/.exec(whole) ?? [];
    const text = formatPlace(value, kind, precision === undefined ? undefined : Number(precision));
    const size = Math.min(Number(width), 1000);
    if (flags.includes("-")) return text.padEnd(size);
    return text.padStart(size, flags.includes("0") && kind !== "s" ? "0" : " ");
  });
}

function formatPlace(value: JsonValue, kind: string, precision: number | undefined): string {
  if (kind === "s" || kind === "r") return formatPython(value);
  const number = Number(value);
  if (!Number.isFinite(number)) throw new Error(`format: ${formatPython(value)} is not a number`);
  if (kind === "f") return formatFixed(number, precision ?? 6);
  return kind === "x" ? Math.trunc(number).toString(16) : formatNumber(Math.trunc(number), false);
}

const truncate: FilterCall = (value, [length, killWords, end, leeway], named) => {
  const text = textOf(value);
  const size = numberOf(length ?? named["length"], 255);
  const tail = textOf(end ?? named["end"] ?? "...");
  if (text.length <= size + numberOf(leeway ?? named["leeway"], 5)) return text;
  const cut = text.slice(0, Math.max(size - tail.length, 0));
  const keepsWords = (killWords ?? named["killwords"]) !== true;
  const space = cut.lastIndexOf(" ");
  return `${keepsWords && space > 0 ? cut.slice(0, space) : cut}${tail}`;
};

function encodePart(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** A map as a query: `a=1&b=x+y`. */
function encodeQuery(map: JsonObject): string {
  const encode = (value: JsonValue | undefined): string => encodePart(textOf(value)).replaceAll("%20", "+");
  return Object.entries(map)
    .map(([key, value]) => `${encode(key)}=${encode(value)}`)
    .join("&");
}

function center(text: string, width: number): string {
  const missing = Math.max(Math.min(width, 10_000) - text.length, 0);
  return " ".repeat(Math.floor(missing / 2)) + text + " ".repeat(Math.ceil(missing / 2));
}

function wrapWords(text: string, width: number): string {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const line = lines.at(-1);
    if (line !== undefined && line.length + 1 + word.length <= width) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines.join("\n");
}

export const FILTERS: Readonly<Record<string, FilterCall>> = {
  ...SHOWN_FILTERS,
  default: replaceDefault,
  d: replaceDefault,
  truncate,
  format: (value, values, named) => formatText(textOf(value), named === NO_NAMES ? values : [...values, named]),
  ...MAP_FILTERS,
  ...ORDER_FILTERS,
  ...TEXT_FILTERS,
  __whole: (value, [otherwise, base], named) =>
    readWhole(value, otherwise ?? named["default"] ?? 0, base ?? named["base"]),
  __number: (value, [otherwise], named) => readFraction(value, otherwise ?? named["default"] ?? 0),
  center: (value, [width]) => center(textOf(value), numberOf(width, 80)),
  wordcount: (value) => textOf(value).match(/\w+/g)?.length ?? 0,
  wordwrap: (value, [width]) => wrapWords(textOf(value), numberOf(width, 79)),
  urlencode: (value) => (isJsonObject(value) ? encodeQuery(value) : encodePart(textOf(value)).replaceAll("%2F", "/")),
  forceescape: (value) => textOf(value).replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`),
};

/** Tests that mean more in Python: a truth value is a number there, and a text a sequence. */
export const TESTS: Readonly<Record<string, (value: unknown) => boolean>> = {
  number: (value) => ["number", "bigint", "boolean"].includes(typeof value),
  sequence: (value) => typeof value === "string" || Array.isArray(value) || value instanceof Map,
};

function parseNumber(value: JsonValue | undefined, name: string): number {
  if (typeof value === "boolean") return value ? 1 : 0;
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  if (typeof number !== "number" || !Number.isFinite(number))
    throw new Error(`${name}() cannot read ${JSON.stringify(value ?? null)}`);
  return number;
}

/** Functions of conditions. */
export const FUNCTIONS: Readonly<Record<string, FilterCall>> = {
  int: (value) => Math.trunc(parseNumber(value, "int")),
  float: (value) => parseNumber(value, "float"),
  str: (value) => textOf(value),
};
