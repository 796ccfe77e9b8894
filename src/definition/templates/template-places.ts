/**
 * Where a template that fails at run time is written: found again in the text of its file, which the definition keeps.
 *
 * Owns: the files of a definition as texts, and the way back from a node and its template into them. Nothing is stored
 * per template: the file is read once more when a template fails, and the text is looked for below the node's name.
 * D9: a place is only told when the template stands there; else it is that of the step, or none.
 */
import { isJsonObject, type JsonValue } from "../../base/json.js";
import { LIMITS } from "../../base/limits.js";
import { readDocument } from "../reading/document.js";
import { placesOfText } from "../faults/source-places.js";
import {
  formatPath,
  type FaultPath,
  type PlaceFinder,
  type SourcePlace,
  type TextPart,
  valueAt,
} from "../faults/fault.js";
import { joinPlaces, replaceAt, type FilePart } from "../reading/includes.js";
import type { WorkflowSource } from "../model/read-from.js";

/** A place in a file, and the path of the value there: `agents[2].prompt`. */
export interface WrittenPlace extends SourcePlace {
  readonly path: string;
}

/** Sources of a workflow with those nested in it, as far as they are small enough to be kept. */
export function collectSources(sources: readonly WorkflowSource[]): readonly WorkflowSource[] | undefined {
  let sizeBytes = 0;
  const kept = sources.filter(({ texts }) => {
    const ownBytes = texts.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
    if (sizeBytes + ownBytes > LIMITS.workflowSourceBytesMax) return false;
    sizeBytes += ownBytes;
    return true;
  });
  return kept.length === 0 ? undefined : kept;
}

/** The same source for a workflow that stands below a node. */
export function nestSource({ roots, texts }: WorkflowSource, above: string): WorkflowSource {
  return { roots: roots.map((root) => `${above}/${root}`), texts };
}

/**
 * Where a part of a template is written.
 *
 * Shape: `node` is a path of the definition, or one below it such as `main/$output`; `undefined` without sources.
 */
export function locateTemplate(
  sources: readonly WorkflowSource[] | undefined,
  node: string,
  part: TextPart,
): WrittenPlace | undefined {
  const found = findSource(sources ?? [], node);
  if (found === undefined) return undefined;
  const { source, names } = found;
  const { places, texts, maps } = readSource(source);
  const written = pickNearest(
    texts.filter(({ text }) => isWrittenAs(text, part.text)),
    names,
  );
  if (written !== undefined)
    return describePlace(
      written.path,
      places.placeInText?.(written.path, part) ?? places.placeOf(written.path, "value"),
    );
  const step = pickNearest(
    maps.filter((map) => map.names.at(-1) === names.at(-1)),
    names,
  );
  return step === undefined ? undefined : describePlace(step.path, places.placeOf(step.path, "value"));
}

function describePlace(path: FaultPath, place: SourcePlace | undefined): WrittenPlace | undefined {
  return place === undefined ? undefined : { ...place, path: formatPath(path) };
}

/** The source of the innermost workflow around a node, and the names from its root to the node. */
function findSource(
  sources: readonly WorkflowSource[],
  node: string,
): { readonly source: WorkflowSource; readonly names: readonly string[] } | undefined {
  const all = sources.flatMap((source) => source.roots.map((root) => ({ source, root })));
  const holding = all.filter(({ root }) => node === root || node.startsWith(`${root}/`));
  const [inner] = holding.sort((left, right) => right.root.length - left.root.length);
  return inner === undefined
    ? undefined
    : { source: inner.source, names: node.slice(inner.root.length + 1).split("/") };
}

/** A value of a file, and the names of the maps it stands in. */
interface Named {
  readonly path: FaultPath;
  readonly names: readonly string[];
}

interface ReadSource {
  readonly places: PlaceFinder;
  readonly texts: readonly (Named & { readonly text: string })[];
  readonly maps: readonly Named[];
}

const readSources = new WeakMap<WorkflowSource, ReadSource>();

function readSource(source: WorkflowSource): ReadSource {
  const known = readSources.get(source);
  if (known !== undefined) return known;
  let value: JsonValue = null;
  const parts: FilePart[] = [];
  for (const { at, file, text, isPlain } of source.texts) {
    const document = isPlain ? { value: text, places: placesOfText(text, file) } : readDocument(text, file);
    const isText = typeof document.value !== "object" || document.value === null;
    value = replaceAt(value, at, isText ? text : document.value);
    parts.push({ path: at, places: document.places });
  }
  const texts: (Named & { text: string })[] = [];
  const maps: Named[] = [];
  collect(value, { path: [], names: [] }, { texts, maps });
  const read: ReadSource = { places: joinPlaces(parts), texts, maps };
  readSources.set(source, read);
  return read;
}

interface Collected {
  readonly texts: (Named & { text: string })[];
  readonly maps: Named[];
}

function collect(value: JsonValue | undefined, { path, names }: Named, into: Collected): void {
  if (typeof value === "string") into.texts.push({ path, names, text: value });
  if (typeof value !== "object" || value === null) return;
  const own = isJsonObject(value) ? valueAt(value, ["name"]) : undefined;
  const inner = typeof own === "string" ? [...names, own] : names;
  if (inner !== names) into.maps.push({ path, names: inner });
  const isList = Array.isArray(value);
  for (const [key, item] of Object.entries(value))
    collect(item, { path: [...path, isList ? Number(key) : key], names: inner }, into);
}

/** The one whose names lead furthest up from the node; the first one where none does. */
function pickNearest<T extends Named>(candidates: readonly T[], names: readonly string[]): T | undefined {
  let best: T | undefined;
  let bestCount = -1;
  for (const candidate of candidates) {
    const count = countShared(candidate.names, names);
    if (count > bestCount) [best, bestCount] = [candidate, count];
  }
  return best;
}

/** How many names of a value are those of the node, in order. */
function countShared(written: readonly string[], names: readonly string[]): number {
  let at = 0;
  for (const name of names) if (written[at] === name) at += 1;
  return at;
}

const VARIABLE = /\$\{[^{}]*\}/;

/** True when a text of the file became the template: as it is, as a reference without braces, or with variables filled in. */
function isWrittenAs(written: string, template: string): boolean {
  if (written === template || `{{ ${written.trim()} }}` === template) return true;
  if (!VARIABLE.test(written)) return false;
  const fixed = written.split(new RegExp(VARIABLE, "g"));
  let at = 0;
  for (const part of fixed) {
    const found = template.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return template.startsWith(fixed[0] ?? "") && template.endsWith(fixed.at(-1) ?? "");
}
