/**
 * Compiles schemas that arrive at run time: a step's `output`, JSON Schema scorers, tool inputs.
 *
 * Owns: the bounds on such schemas and the choice of dialect. Ajv is loaded on first use only; the schemas of our own
 * files are compiled ahead (see validator.ts) and never come here.
 *
 * H3: a schema from outside is judged before it is compiled: size, depth, no reference to anything outside itself; neither
 *     it nor a value held against it takes longer than a stated time, whatever its patterns are.
 */
import type { Ajv, Options } from "ajv";
import { messageOf } from "../base/errors.js";
import { isJsonObject, type JsonValue } from "../base/json.js";
import { LIMITS } from "../base/limits.js";
import { runWithin } from "./time-limit.js";
import { createValidator, type RawValidate, type SchemaDefect, type Validator } from "./validator.js";

export type CompiledSchema =
  | { readonly ok: true; readonly validate: Validator<JsonValue> }
  | { readonly ok: false; readonly defects: readonly SchemaDefect[] };

/** The pattern that is being tried, to be named where it is what takes too long. */
let tried: string | undefined;

const patternTried = (): string | undefined => tried;

/** A pattern as the standard reads it, and where it is none in that reading, as older programs do: `^https\\:`. */
function createPattern(
  source: string,
  flags: string,
): { readonly test: (text: string) => boolean; readonly toString: () => string } {
  let pattern: RegExp;
  try {
    pattern = new RegExp(source, flags);
  } catch {
    pattern = new RegExp(source);
  }
  const test = (text: string): boolean => {
    tried = source;
    const fits = pattern.test(text);
    tried = undefined;
    return fits;
  };
  // Ajv keeps one for each text.
  return { test, toString: () => String(pattern) };
}

/** Why a pattern cannot be read as either; `undefined` when it can. */
export function findPatternProblem(source: string): string | undefined {
  try {
    createPattern(source, "u");
    return undefined;
  } catch (error) {
    const told = messageOf(error);
    return told.slice(told.lastIndexOf(": ") + 2);
  }
}

const OPTIONS: Options = {
  code: { regExp: Object.assign(createPattern, { code: "new RegExp" }) },
  strict: false,
  allErrors: true,
  coerceTypes: false,
  useDefaults: false,
  validateSchema: true,
  addUsedSchema: false,
  logger: false,
};

/**
 * Compiles a JSON Schema of draft 2020-12 (default), 2019-09 or 7.
 *
 * Shape: a boolean or an object. Unknown keywords and formats are ignored, as the standard says.
 * Errors: none; a schema that is too large, not valid or refers outside itself comes back as defects.
 */
export async function compileSchema(schema: unknown): Promise<CompiledSchema> {
  const problem = findProblem(schema);
  if (problem !== undefined) return refuse("", problem);
  const plain = schema as JsonValue;
  const ajv = await createAjv(isJsonObject(plain) ? plain["$schema"] : undefined);
  if (ajv === undefined) return refuse("/$schema", "names a dialect other than draft 2020-12, 2019-09 or 7");
  try {
    const compiled = runWithin(LIMITS.schemaCheckMs, (): RawValidate => ajv.compile(plain as object | boolean));
    if (compiled.isOver) return refuse("", `could not be read within ${LIMITS.schemaCheckMs} ms`);
    return { ok: true, validate: endable(createValidator<JsonValue>(compiled.value)) };
  } catch (error) {
    return refuse("", messageOf(error));
  }
}

/** A value that takes too long does not fit, and the defect names the pattern that is to blame. */
function endable(validate: Validator<JsonValue>): Validator<JsonValue> {
  return (value) => {
    tried = undefined;
    const verdict = runWithin(LIMITS.schemaCheckMs, () => validate(value));
    if (!verdict.isOver) return verdict.value;
    const pattern = patternTried();
    const against =
      pattern === undefined ? "" : ` against the pattern ${JSON.stringify(pattern.slice(0, PATTERN_CHARS_TOLD))}`;
    const message = `could not be checked within ${LIMITS.schemaCheckMs} ms${against}`;
    return { ok: false, defects: [{ path: "", message, keyword: "pattern", params: { pattern: pattern ?? null } }] };
  };
}

const PATTERN_CHARS_TOLD = 200;

function refuse(path: string, message: string): CompiledSchema {
  return { ok: false, defects: [{ path, message, keyword: "schema", params: {} }] };
}

/** The dialects, by a part of their address that tells them apart. */
async function createAjv(dialect: JsonValue = "2020-12"): Promise<Ajv | undefined> {
  const { default: addFormatsModule } = await import("ajv-formats");
  const ajv = typeof dialect === "string" ? await createDialect(dialect) : undefined;
  if (ajv === undefined) return undefined;
  addFormatsModule.default(ajv);
  return ajv;
}

async function createDialect(name: string): Promise<Ajv | undefined> {
  if (name.includes("2020-12")) return new (await import("ajv/dist/2020.js")).Ajv2020(OPTIONS);
  if (name.includes("2019-09")) return new (await import("ajv/dist/2019.js")).Ajv2019(OPTIONS);
  if (name.includes("draft-07")) return new (await import("ajv")).Ajv(OPTIONS);
  return undefined;
}

/** Why a schema from outside may not be compiled at all. */
function findProblem(schema: unknown): string | undefined {
  if (typeof schema !== "boolean" && !isJsonObject(schema)) return "must be an object or a boolean";
  let nodes = 0;
  const open: { readonly value: unknown; readonly depth: number }[] = [{ value: schema, depth: 0 }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    nodes += 1;
    if (nodes > LIMITS.schemaNodesMax) return `has more than ${LIMITS.schemaNodesMax} parts`;
    if (next.depth > LIMITS.schemaDepthMax) return `is nested deeper than ${LIMITS.schemaDepthMax} levels`;
    const problem = findNodeProblem(next.value);
    if (problem !== undefined) return problem;
    if (typeof next.value !== "object" || next.value === null) continue;
    for (const value of Object.values(next.value)) open.push({ value, depth: next.depth + 1 });
  }
  return undefined;
}

function findNodeProblem(value: unknown): string | undefined {
  if (typeof value === "string")
    return value.length > LIMITS.schemaTextCharsMax ? `has a text longer than ${LIMITS.schemaTextCharsMax}` : undefined;
  if (!isJsonObject(value)) return undefined;
  if (value["$async"] !== undefined) return "must not be asynchronous";
  if (Object.hasOwn(value, "__proto__")) return "has a key __proto__";
  return undefined;
}
