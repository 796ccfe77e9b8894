/**
 * More filters as in Jinja2: maps in the order of their keys, numbers from texts, and texts that minijinja prints otherwise.
 *
 * Source: CONDUCTOR-YAML 1.8; Jinja2 3.1, list of filters.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../base/json.js";
import { formatPython, formatRepr } from "./python-text.js";
import type { FilterCall } from "./template-filters.js";

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

/** `{}`, `{0}`, `{name}` of Python's `str.format`; `{{` and `}}` are brackets. */
function fillPlaces(pattern: string, values: readonly JsonValue[], named: JsonObject): string {
  let next = 0;
  return pattern.replace(/\{\{|\}\}|\{(\w*)\}/g, (whole: string, name?: string) => {
    if (whole === "{{" || whole === "}}") return whole.slice(1);
    const value =
      name === undefined || name === "" ? values[next++] : /^\d+$/.test(name) ? values[Number(name)] : named[name];
    if (value === undefined) throw new Error(`format has no value for ${whole}`);
    return formatPython(value);
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

/** `sum` with the name of a part. */
const sum: FilterCall = (value, [attribute, start], named) => {
  const key = attribute ?? named["attribute"];
  const items = Array.isArray(value) ? (value as readonly JsonValue[]) : [];
  const first = start ?? named["start"] ?? 0;
  return items.reduce<number>((total, item) => {
    const part = typeof key === "string" && isJsonObject(item) ? item[key] : item;
    if (typeof part !== "number")
      throw new Error(`sum needs numbers, it has ${formatPython(part ?? null).slice(0, 60)}`);
    return total + part;
  }, Number(first));
};

/** `round` with a method: common, ceil or floor. */
const round: FilterCall = (value, [precision, method], named) => {
  const scale = 10 ** Number(precision ?? named["precision"] ?? 0);
  const name = method ?? named["method"] ?? "common";
  const call = name === "ceil" ? Math.ceil : name === "floor" ? Math.floor : Math.round;
  return call(Number(value) * scale) / scale;
};

export const TEXT_FILTERS: Readonly<Record<string, FilterCall>> = {
  __format: (value, values, named) => fillPlaces(textOf(value), values, named),
  indent,
  sum,
  __round: round,
  pprint: (value) => formatRepr(value, false),
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
