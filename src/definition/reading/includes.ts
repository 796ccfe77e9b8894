/**
 * Reads a file and what its `!file` tags name, as one value that knows the place of each part.
 *
 * Owns: paths of included files (relative to the file with the tag) and cycles. A file that holds a map or a list is put
 * in as such, any other as text. Source: CONDUCTOR-YAML 1.8.
 */
import { dirname, resolve } from "node:path";
import type { JsonValue } from "../../base/json.js";
import { errnoOf, isErrorCode } from "../../base/errors.js";
import { readDocument } from "./document.js";
import { placesOfText } from "../faults/source-places.js";
import type { DefinitionFault, FaultPath, PlaceFinder, SourcePlace } from "../faults/fault.js";

export type ReadText = (path: string) => Promise<string>;

export interface SourceFile {
  readonly value: JsonValue;
  readonly faults: readonly DefinitionFault[];
  readonly places: PlaceFinder;
  /** Some part of it could not be read: only its faults are of use. */
  readonly isBroken: boolean;
  /** Its own text, then those put in. */
  readonly texts: readonly IncludedText[];
}

/** A file that became a part of a value. */
export interface FilePart {
  readonly path: FaultPath;
  readonly places: PlaceFinder;
}

export interface IncludedText {
  readonly at: FaultPath;
  readonly file: string;
  readonly text: string;
  /** Put in as one text. */
  readonly isPlain: boolean;
}

const INCLUDE_DEPTH_MAX = 10;
const INCLUDES_MAX = 200;

/**
 * Reads a file with its includes.
 *
 * Errors: those of `readText` for the file itself; what is wrong inside, a missing include too, is in `faults`.
 */
export async function readSourceFile(file: string, label: string, readText: ReadText): Promise<SourceFile> {
  const faults: DefinitionFault[] = [];
  const state: Reading = { faults, parts: [], texts: [], readText, count: 0, isBroken: false };
  const value = await readParts(state, await readText(file), { file, label, path: [], chain: [file] });
  return {
    value,
    faults,
    isBroken: state.isBroken,
    places: joinPlaces(state.parts),
    texts: state.texts,
  };
}

/** The places of a value that several files make up. */
export function joinPlaces(parts: readonly FilePart[]): PlaceFinder {
  return {
    placeOf: (path, of) => findPlace(parts, path, (places, own) => places.placeOf(own, of)),
    placeInText: (path, part) => findPlace(parts, path, (places, own) => places.placeInText?.(own, part)),
  };
}

interface Reading {
  readonly faults: DefinitionFault[];
  readonly parts: FilePart[];
  readonly texts: IncludedText[];
  readonly readText: ReadText;
  count: number;
  isBroken: boolean;
}

interface Origin {
  readonly file: string;
  readonly label: string;
  readonly path: FaultPath;
  readonly chain: readonly string[];
}

async function readParts(reading: Reading, text: string, origin: Origin): Promise<JsonValue> {
  const document = readDocument(text, origin.label);
  reading.faults.push(...document.faults);
  reading.isBroken ||= document.isBroken;
  reading.parts.push({ path: origin.path, places: document.places });
  reading.texts.push({ at: origin.path, file: origin.label, text, isPlain: false });
  let value = document.value;
  for (const request of document.includes) {
    const place = document.places.placeOf(request.path, "value");
    const own = { ...origin, path: [...origin.path, ...request.path] };
    const included = await readInclude(reading, { name: request.file, origin: own, place });
    value = replaceAt(value, request.path, included);
  }
  return value;
}

interface IncludeSite {
  readonly name: string;
  /** The file with the tag, and where in the whole value the tag stands. */
  readonly origin: Origin;
  readonly place: SourcePlace | undefined;
}

async function readInclude(reading: Reading, { name, origin, place }: IncludeSite): Promise<JsonValue> {
  const file = resolve(dirname(origin.file), name);
  const refuse = (message: string): null => {
    reading.faults.push({ ...place, code: "file", path: "$", message });
    reading.isBroken = true;
    return null;
  };
  reading.count += 1;
  if (origin.chain.includes(file)) return refuse(`!file ${name} includes itself`);
  if (origin.chain.length > INCLUDE_DEPTH_MAX || reading.count > INCLUDES_MAX)
    return refuse(`too many files are included, ${name} among them`);
  let text: string;
  try {
    text = await reading.readText(file);
  } catch (error) {
    if (isErrorCode(error, "WORKFLOW_OUTSIDE")) throw error;
    return refuse(`!file ${name} cannot be read (${errnoOf(error) ?? "unknown"})`);
  }
  if (!/\.(ya?ml|json)$/i.test(file)) {
    reading.parts.push({ path: origin.path, places: placesOfText(text, name) });
    reading.texts.push({ at: origin.path, file: name, text, isPlain: true });
    return text;
  }
  const value = await readParts(reading, text, {
    file,
    label: name,
    path: origin.path,
    chain: [...origin.chain, file],
  });
  return typeof value === "object" && value !== null ? value : text;
}

/** The value with another one at a path. */
export function replaceAt(value: JsonValue, path: FaultPath, part: JsonValue): JsonValue {
  const [first, ...rest] = path;
  if (first === undefined) return part;
  if (Array.isArray(value))
    return value.map((item: JsonValue, index) => (index === first ? replaceAt(item, rest, part) : item));
  const record = value as Record<string, JsonValue>;
  return { ...record, [String(first)]: replaceAt(record[String(first)] ?? null, rest, part) };
}

/** The innermost part that holds the path. */
function findPlace(
  parts: readonly FilePart[],
  path: FaultPath,
  look: (places: PlaceFinder, path: FaultPath) => SourcePlace | undefined,
): SourcePlace | undefined {
  const holds = (part: FilePart): boolean =>
    part.path.length <= path.length && part.path.every((item, index) => item === path[index]);
  const holding = parts.filter(holds).sort((left, right) => right.path.length - left.path.length);
  for (const part of holding) {
    const place = look(part.places, path.slice(part.path.length));
    if (place !== undefined) return place;
  }
  return undefined;
}
