/**
 * More filters as in Jinja2: maps in the order of their keys, numbers from texts, and texts that minijinja prints otherwise.
 *
 * Source: CONDUCTOR-YAML 1.8; Jinja2 3.1, list of filters.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.js";
import { formatPython, roundEven } from "./python-text.js";
import { formatSpec } from "./python-format.js";
import type { FilterCall } from "./filter-call.js";

const textOf = (value: JsonValue | undefined): string => formatPython(value ?? null);

function entriesOf(value: JsonValue | undefined, name: string): [string, JsonValue][] {
  if (!isJsonObject(value))
    throw new Error(`${name}() needs a map, it has ${formatPython(value ?? null).slice(0, 60)}`);
  return Object.entries(value).map(([key, item]) => [key, item ?? null]);
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&#34;",
  "'": "&#39;",
};

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => ENTITIES[sign] ?? sign);
}

/** `{}`, `{0}`, `{name}`, `{:>8.2f}` of Python's `str.format`; `{{` and `}}` are brackets. */
function fillPlaces(pattern: string, values: readonly JsonValue[], named: JsonObject): string {
  let next = 0;
  return pattern.replace(/\{\{|\}\}|\{(\w*)(?::([^{}]*))?\}/g, (whole: string, name = "", spec = "") => {
    if (whole === "{{" || whole === "}}") return whole.slice(1);
    const value = name === "" ? values[next++] : /^\d+$/.test(name) ? values[Number(name)] : named[name];
    if (value === undefined) throw new Error(`format has no value for ${whole}`);
    return spec === "" ? formatPython(value) : formatSpec(value, spec);
  });
}

const indent: FilterCall = (value, [width, first, blank], named) => {
  const size = width ?? named["width"] ?? 4;
  const mark = typeof size === "string" ? size : " ".repeat(Math.min(Number(size), 1000));
  const isFirst = (first ?? named["first"]) === true;
  const isBlank = (blank ?? named["blank"]) === true;
  return textOf(value)
    .split("\n")
    .map((line, index) => ((index > 0 || isFirst) && (line !== "" || isBlank) ? mark + line : line))
    .join("\n");
};

/** Filters behind the methods of maps, see template-rewrites.ts. */
export const MAP_FILTERS: Readonly<Record<string, FilterCall>> = {
  __items: (value) => entriesOf(value, "items"),
  __keys: (value) => entriesOf(value, "keys").map(([key]) => key),
  __values: (value) => entriesOf(value, "values").map(([, item]) => item),
  __get: (value, [key, otherwise]) => {
    const item = isJsonObject(value) && typeof key === "string" && Object.hasOwn(value, key) ? value[key] : undefined;
    if (!isJsonObject(value)) throw new Error(`get() needs a map, it has ${formatPython(value ?? null).slice(0, 60)}`);
    return item ?? otherwise ?? null;
  },
  items: (value) => (value === undefined ? [] : entriesOf(value, "items")),
};

/** `sum` with the name of a part; of lists, the lists in a row. */
const sum: FilterCall = (value, [attribute, start], named) => {
  const key = attribute ?? named["attribute"];
  const items = Array.isArray(value) ? (value as readonly JsonValue[]) : [];
  const parts = items.map((item) => (typeof key === "string" && isJsonObject(item) ? (item[key] ?? null) : item));
  const first = start ?? named["start"] ?? 0;
  if (Array.isArray(first) && parts.every((part) => Array.isArray(part))) return [first, ...parts].flat();
  return parts.reduce<number>((total, part) => {
    const number = typeof part === "boolean" ? Number(part) : part;
    if (typeof number !== "number") throw new Error(`sum needs numbers, it has ${formatPython(part).slice(0, 60)}`);
    return total + number;
  }, Number(first));
};

const PRECISION_MAX = 20;

/** `round` with a method: common, ceil or floor. */
const round: FilterCall = (value, [precision, method], named) => {
  const number = typeof value === "boolean" ? Number(value) : value;
  if (typeof number !== "number") throw new Error(`round needs a number, it has ${formatPython(value).slice(0, 60)}`);
  const digits = Math.min(Number(precision ?? named["precision"] ?? 0), PRECISION_MAX);
  const scale = 10 ** digits;
  const name = method ?? named["method"] ?? "common";
  if (name === "ceil") return Math.ceil(number * scale) / scale;
  return name === "floor" ? Math.floor(number * scale) / scale : roundEven(number, digits);
};

/** A number that rounds to the even one of two neighbours that are as near. */
const even: FilterCall = (value, [precision], named) => {
  if (typeof value !== "number" || Number.isInteger(value)) return value ?? null;
  const digits = Number(precision ?? named["precision"] ?? 0);
  // A whole result would lose that it is a float: what is handed on lies beside the half, on the right side.
  const rounded = roundEven(value, digits);
  return Number.isInteger(rounded)
    ? rounded + (rounded === 0 ? Math.sign(value) : Math.sign(rounded)) * 2 ** -20
    : rounded;
};

/** `replace` with how often. */
const replace: FilterCall = (value, [from, to, times], named) => {
  const [old, fresh] = [formatPython(from ?? named["old"] ?? ""), formatPython(to ?? named["new"] ?? "")];
  const text = textOf(value);
  const count = times ?? named["count"];
  if (typeof count !== "number") return text.replaceAll(old, () => fresh);
  const parts = text.split(old);
  return (
    parts.slice(0, count + 1).join(fresh) +
    parts
      .slice(count + 1)
      .map((part) => old + part)
      .join("")
  );
};

const dictsort: FilterCall = (value, [caseful, by, backwards], named) => {
  const at = (by ?? named["by"]) === "value" ? 1 : 0;
  const isCaseful = (caseful ?? named["case_sensitive"]) === true;
  const keyOf = (entry: readonly JsonValue[]): JsonValue => {
    const key = entry[at] ?? null;
    return typeof key === "string" && !isCaseful ? key.toLowerCase() : key;
  };
  const sorted = entriesOf(value, "dictsort").sort((left, right) => compare(keyOf(left), keyOf(right)));
  return (backwards ?? named["reverse"]) === true ? sorted.reverse() : sorted;
};

/** `sort` by several parts of maps: `attribute='a,b.c'`. */
const sortBy: FilterCall = (value, [backwards, caseful, attribute], named) => {
  if (!Array.isArray(value)) throw new Error(`sort needs a list, it has ${formatPython(value ?? null).slice(0, 60)}`);
  const paths = textOf(attribute ?? named["attribute"])
    .split(",")
    .map((path) => path.trim().split("."));
  const isCaseful = (caseful ?? named["case_sensitive"]) === true;
  const keysOf = (item: JsonValue): JsonValue[] =>
    paths.map((path) => {
      const key = path.reduce<JsonValue>((at, part) => (isJsonObject(at) ? (at[part] ?? null) : null), item);
      return typeof key === "string" && !isCaseful ? key.toLowerCase() : key;
    });
  const sign = (backwards ?? named["reverse"]) === true ? -1 : 1;
  const keyed = value.map((item: JsonValue) => ({ item, keys: keysOf(item) }));
  const order = (left: readonly JsonValue[], right: readonly JsonValue[]): number =>
    left.map((key, at) => compare(key, right[at] ?? null)).find((one) => one !== 0) ?? 0;
  return keyed.sort((left, right) => sign * order(left.keys, right.keys)).map(({ item }) => item);
};

function compare(left: JsonValue, right: JsonValue): number {
  if (typeof left === "number" && typeof right === "number") return left - right;
  const [one, other] = [formatPython(left), formatPython(right)];
  return one < other ? -1 : one > other ? 1 : 0;
}

/** Words begin after white space, dashes and opening brackets. */
function titleOf(text: string): string {
  return text.replace(/[^-\s({[<]+/g, (word) => word.slice(0, 1).toUpperCase() + word.slice(1).toLowerCase());
}

function fill(text: string, width: JsonValue | undefined): string {
  const missing = Math.max(Math.min(Number(width ?? 0), 10_000) - text.length, 0);
  return " ".repeat(missing);
}

/** The place of an item or a part; an error where there is none, as in Python. */
const index: FilterCall = (value, [part]) => {
  const found = Array.isArray(value)
    ? value.findIndex((item: JsonValue) => JSON.stringify(item) === JSON.stringify(part))
    : textOf(value).indexOf(formatPython(part));
  if (found < 0) throw new Error(`index() does not find ${formatPython(part).slice(0, 60)}`);
  return found;
};

const partition: FilterCall = (value, [separator]) => {
  const [text, mark] = [textOf(value), formatPython(separator)];
  const at = text.indexOf(mark);
  return at < 0 ? [text, "", ""] : [text.slice(0, at), mark, text.slice(at + mark.length)];
};

/** Filters behind methods that minijinja lacks. */
const METHOD_FILTERS: Readonly<Record<string, FilterCall>> = {
  __ljust: (value, [width]) => textOf(value) + fill(textOf(value), width),
  __rjust: (value, [width]) => fill(textOf(value), width) + textOf(value),
  __zfill: (value, [width]) =>
    textOf(value).replace(/^[-+]?/, (sign) => sign + fill(textOf(value), width).replaceAll(" ", "0")),
  __index: index,
  __partition: partition,
};

export const TEXT_FILTERS: Readonly<Record<string, FilterCall>> = {
  __format: (value, values, named) => fillPlaces(textOf(value), values, named),
  ...METHOD_FILTERS,
  indent,
  sum,
  replace,
  dictsort,
  title: (value) => titleOf(textOf(value)),
  escape: (value) => escapeHtml(textOf(value)),
  e: (value) => escapeHtml(textOf(value)),
  __round: round,
  __even: even,
  __sort: sortBy,
  urlize: (value) =>
    escapeHtml(textOf(value)).replace(
      /\bhttps?:\/\/[^\s<>"']+/g,
      (address) => `<a href="${address}" rel="noopener">${address}</a>`,
    ),
  xmlattr: (value) =>
    entriesOf(value, "xmlattr")
      .filter(([, item]) => item !== null)
      .map(([key, item]) => ` ${key}="${escapeHtml(formatPython(item))}"`)
      .join(""),
  random: () => {
    throw new Error("random is not allowed: a resumed run must see the same text");
  },
};

/** What `int` can read: a number or its text, else the default. */
export function readWhole(value: JsonValue | undefined, otherwise: JsonValue, base: JsonValue | undefined): JsonValue {
  if (typeof value === "number") return Math.trunc(value);
  if (typeof value === "boolean") return value ? 1 : 0;
  if (typeof value !== "string") return otherwise;
  const text = value.trim().replaceAll("_", "");
  if (typeof base === "number" && base !== 10) {
    const parsed = Number.parseInt(text.replace(/^0[xob]/i, ""), base);
    return Number.isNaN(parsed) ? otherwise : parsed;
  }
  const number = text === "" ? Number.NaN : Number(text);
  return Number.isFinite(number) && /^[-+]?[\d.]/.test(text) ? Math.trunc(number) : otherwise;
}

/** What `float` can read: a number or its text, else the default. */
export function readFraction(value: JsonValue | undefined, otherwise: JsonValue): JsonValue {
  if (typeof value === "number") return value;
  if (typeof value === "boolean") return value ? 1 : 0;
  const text = typeof value === "string" ? value.trim() : "";
  const number = text === "" ? Number.NaN : Number(text);
  return Number.isFinite(number) ? number : otherwise;
}
