/**
 * The file of inputs that `--inputs` names, or stdin: JSON, else YAML 1.2 where the name does not end in `.json`.
 *
 * Both are read exactly. A number that would change, a text that is none, a key that stands twice and a value that JSON
 * does not have are told with their path or their place.
 */
import { createReadStream } from "node:fs";
import type { Document, Scalar } from "yaml";
import { errorCodeOf, messageOf, SplashdownError } from "../../base/errors.js";
import { findBrokenText, findInexactNumber, parseExactJson, partOf } from "../../base/exact-json.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.js";
import { LIMITS } from "../../base/limits.js";
import { readUtf8 } from "../../base/utf8-text.js";
import type { Streams } from "../terminal/deps.js";

/** A file, or stdin for `-`. Errors: USAGE_INVALID when it cannot be read or holds no map. */
export async function readInputsFile(file: string, { input }: Pick<Streams, "input">): Promise<JsonObject> {
  const name = file === "-" ? "stdin" : `inputs file ${file}`;
  let value: JsonValue;
  try {
    const read = readUtf8(await readBounded(file === "-" ? (input ?? []) : createReadStream(file)));
    if ("problem" in read) throw new Error(`it ${read.problem}`);
    // What says that it is JSON is read as nothing else: in YAML, NaN is a text.
    value = file.endsWith(".json") ? parseExactJson(read.text) : (parseJson(read.text) ?? (await parseYaml(read.text)));
  } catch (error) {
    throw new SplashdownError("USAGE_INVALID", `${name} cannot be read: ${messageOf(error)}`, { details: { file } });
  }
  if (!isJsonObject(value))
    throw new SplashdownError("USAGE_INVALID", `${name} must hold a map of names to values`, { details: { file } });
  return value;
}

/** `undefined` for what is no JSON. Errors: VALUE_UNSUPPORTED. */
function parseJson(text: string): JsonValue | undefined {
  try {
    return parseExactJson(text);
  } catch (error) {
    if (errorCodeOf(error) === undefined) return undefined;
    throw error;
  }
}

const ALIASES_MAX = 100;

/** Errors: with the line, or the path of what JSON does not have. */
async function parseYaml(text: string): Promise<JsonValue> {
  const { parseDocument, isScalar, visit } = await import("yaml");
  const document = parseDocument(text, { intAsBigInt: true, maxAliasCount: ALIASES_MAX } as never);
  const [problem] = [...document.errors, ...document.warnings];
  if (problem !== undefined) throw problem;
  visit(document, {
    Pair: (_key, { key }) => {
      if (!isScalar(key)) throw new Error(`a key must be a text, and not ${String(key)}`);
    },
    Scalar: (key, scalar) => {
      if (key !== "key") replaceNumber(scalar);
    },
  });
  return requireJson(toPlain(document), "$");
}

function toPlain(document: Document): unknown {
  return document.toJS({ maxAliasCount: ALIASES_MAX });
}

/** A number that is not what it was written as; a marker, so that its path is told. */
class Inexact {
  constructor(readonly message: string) {}
}

function replaceNumber(scalar: Scalar): void {
  const { value, source = "" } = scalar;
  if (typeof value !== "number" && typeof value !== "bigint") return;
  const message = judge(value, source);
  if (message !== undefined) scalar.value = new Inexact(message);
  else scalar.value = /^-0+$/.test(source) ? -0 : Number(value);
}

/** `.5`, `+1` and `1.` are numbers of YAML alone. */
function judge(value: number | bigint, source: string): string | undefined {
  if (/^[-+]?0\d+$/.test(source)) return `${source} has a leading zero; write ${value}, or "${source}" for the text`;
  if (typeof value === "bigint") return findInexactNumber(String(value));
  if (Number.isNaN(value) || /inf/i.test(source)) return `${source} is not a number that JSON has`;
  const written = source
    .replace(/^\+/, "")
    .replace(/^(-?)\./, "$10.")
    .replace(/\.(?=$|[eE])/, "");
  return findInexactNumber(written);
}

function requireJson(value: unknown, path: string): JsonValue {
  if (value instanceof Inexact) throw new Error(`${path}: ${value.message}`);
  if (typeof value === "string") {
    const message = findBrokenText(value);
    if (message !== undefined) throw new Error(`${path}: ${message}`);
  }
  if (Array.isArray(value)) return value.map((item, index) => requireJson(item, `${path}[${index}]`));
  if (!isJsonObject(value)) return value as JsonValue;
  if (Object.getPrototypeOf(value) !== Object.prototype) throw new Error(`${path}: a kind of value that JSON has not`);
  const items = Object.entries(value).map(([key, item]): [string, JsonValue] => {
    const message = findBrokenText(key);
    if (message !== undefined) throw new Error(`${path}: ${message}`);
    return [key, requireJson(item, `${path}${partOf(key)}`)];
  });
  return Object.fromEntries(items);
}

async function readBounded(source: AsyncIterable<unknown> | Iterable<unknown>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const chunk of source) {
    const bytes = Buffer.from(chunk as Uint8Array);
    chunks.push(bytes);
    sizeBytes += bytes.length;
    if (sizeBytes > LIMITS.workflowFileBytesMax) throw new Error("it is too large");
  }
  return Buffer.concat(chunks);
}
