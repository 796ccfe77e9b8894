/** One place of Python's `str.format`, as `{:>8.2f}`: fill, alignment, sign, width, thousands, precision, form. */
import type { JsonValue } from "../../base/json.js";
import { formatFixed, formatNumber, formatPython } from "./python-text.js";

const SPEC =
  /^(?:(?<fill>.)?(?<align>[<>=^]))?(?<sign>[-+ ]?)#?(?<zero>0?)(?<width>\d*)(?<group>[,_]?)(?:\.(?<precision>\d+))?(?<form>[a-zA-Z%]?)$/su;
const WIDTH_MAX = 10_000;

type Spec = Readonly<
  Partial<Record<"fill" | "align" | "sign" | "zero" | "width" | "group" | "precision" | "form", string>>
>;

/** Errors: Error, on a form this version does not know and on texts where a number is wanted. */
export function formatSpec(value: JsonValue, text: string): string {
  const spec: Spec | undefined = SPEC.exec(text)?.groups;
  if (spec === undefined) throw new Error(`format does not know {:${text}}`);
  const isText = spec.form === "s" || (spec.form !== "" ? false : typeof value !== "number");
  if (isText) return pad(formatPython(value).slice(0, precisionOf(spec)), spec, "<");
  const number = signed(value, spec);
  return spec.zero === "0" && spec.align === undefined ? padZeros(number, spec) : pad(number, spec, ">");
}

function precisionOf({ precision }: Spec): number | undefined {
  return precision === undefined ? undefined : Number(precision);
}

function signed(value: JsonValue, spec: Spec): string {
  const number = typeof value === "object" || value === "" ? Number.NaN : Number(value);
  if (!Number.isFinite(number)) throw new Error(`format: ${formatPython(value)} is not a number`);
  const write = findForm(spec.form ?? "");
  const body = grouped(write(Math.abs(number), precisionOf(spec)), spec.group ?? "");
  if (number < 0) return `-${body}`;
  return spec.sign === "-" ? body : (spec.sign ?? "") + body;
}

function findForm(form: string): WriteNumber {
  const write = Object.hasOwn(FORMS, form) ? FORMS[form] : undefined;
  if (write === undefined) throw new Error(`format does not know the form ${form}`);
  return write;
}

type WriteNumber = (number: number, digits: number | undefined) => string;

const writeFixed: WriteNumber = (number, digits = 6) => formatFixed(number, digits);
const writeShort: WriteNumber = (number, digits) =>
  digits === undefined ? formatNumber(number, false) : String(Number(number.toPrecision(Math.max(digits, 1))));
const inBase =
  (base: number): WriteNumber =>
  (number) =>
    Math.trunc(number).toString(base);

/** By the last letter; none is the shortest form. */
const FORMS: Readonly<Record<string, WriteNumber>> = {
  "": writeShort,
  g: writeShort,
  f: writeFixed,
  F: writeFixed,
  "%": (number, digits) => `${writeFixed(number * 100, digits)}%`,
  d: (number) => formatNumber(Math.trunc(number), false),
  x: inBase(16),
  X: (number) => Math.trunc(number).toString(16).toUpperCase(),
  b: inBase(2),
  o: inBase(8),
};

function grouped(text: string, mark: string): string {
  if (mark === "") return text;
  return text.replace(/^\d+/, (whole) => {
    const first = whole.length % 3 || 3;
    return [whole.slice(0, first), ...(whole.slice(first).match(/\d{3}/g) ?? [])].join(mark);
  });
}

function missingOf(text: string, { width }: Spec): number {
  return Math.max(Math.min(Number(width ?? 0), WIDTH_MAX) - text.length, 0);
}

function padZeros(text: string, spec: Spec): string {
  return text.replace(/^[-+ ]?/, (sign) => sign + "0".repeat(missingOf(text, spec)));
}

function pad(text: string, spec: Spec, otherwise: "<" | ">"): string {
  const { fill = " ", align = otherwise } = spec;
  const missing = missingOf(text, spec);
  if (align === "<") return text + fill.repeat(missing);
  if (align !== "^") return fill.repeat(missing) + text;
  const before = Math.floor(missing / 2);
  return fill.repeat(before) + text + fill.repeat(missing - before);
}
