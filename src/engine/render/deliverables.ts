/**
 * Deliverables: fields of an output that become files of the task.
 *
 * The content is in the completion, so it is durable before the file is written. The output keeps the value, so that
 * templates, scorers and later steps see what was said. Text is written as it is, other values as JSON with sorted keys.
 */
import { sha256Hex } from "../../base/digest.js";
import { isJsonObject, type JsonValue } from "../../base/json.js";
import { formatPlainValue } from "../../base/plain-value.js";
import type { SavedFile } from "../model/value-ref.js";
import { itemKeyOf } from "../model/identity.js";
import { placeFile } from "../model/lookup.js";

const PLAIN_KEY = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

/**
 * The files that `save_as` makes of an output.
 *
 * Shape: `saveAs` is file → field (`""`: the whole output; dots go deeper); a field that is not there is not written.
 */
export function listDeliverables(
  output: JsonValue,
  saveAs: Readonly<Record<string, string>>,
  phase: number,
): readonly SavedFile[] {
  return Object.entries(saveAs).flatMap(([file, field]) => {
    const value = readField(output, field === "" ? [] : field.split("."));
    return value === undefined ? [] : [describeFile(placeFile(file, phase), value)];
  });
}

/**
 * The same files, with the key of each item the step is run for in their names, so that no item overwrites another's:
 * `report.md` of the item `eu` is `report-eu.md`. A key that makes no file name is told by its digest.
 */
export function nameByItem(saveAs: Readonly<Record<string, string>>, path: string): Readonly<Record<string, string>> {
  const keys = path.split("/").flatMap((segment) => itemKeyOf(segment) ?? []);
  if (keys.length === 0) return saveAs;
  const suffix = keys.map((key) => (PLAIN_KEY.test(key) ? key : sha256Hex(key).slice(0, 16))).join("-");
  return Object.fromEntries(
    Object.entries(saveAs).map(([file, field]) => [file.replace(/(\.[^./]*)?$/, `-${suffix}$1`), field]),
  );
}

export function describeFile(file: string, value: JsonValue): SavedFile {
  const content = typeof value === "string" ? value : formatJson(formatPlainValue(value));
  return { file, sha256: sha256Hex(content), sizeBytes: Buffer.byteLength(content), content: { inline: content } };
}

/** Pretty JSON with keys sorted by code unit and a final newline: equal values give equal files. */
export function formatJson(value: JsonValue): string {
  return `${JSON.stringify(sortKeys(value), undefined, 2)}\n`;
}

function sortKeys(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map((item: JsonValue) => sortKeys(item));
  if (!isJsonObject(value)) return value;
  const sorted: Record<string, JsonValue> = {};
  for (const key of Object.keys(value).sort()) {
    const item = value[key];
    if (item !== undefined) sorted[key] = sortKeys(item);
  }
  return sorted;
}

function readField(value: JsonValue, keys: readonly string[]): JsonValue | undefined {
  let at: JsonValue | undefined = value;
  for (const key of keys) {
    if (!isJsonObject(at) || !Object.hasOwn(at, key)) return undefined;
    at = at[key];
  }
  return at;
}
