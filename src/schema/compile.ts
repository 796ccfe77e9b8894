/**
 * Compiles schemas that arrive at run time: a step's `output`, JSON Schema scorers, tool inputs.
 *
 * Owns: the bounds on such schemas and the choice of dialect. Ajv is loaded on first use only; the schemas of our own
 * files are compiled ahead (see validator.ts) and never come here.
 *
 * H3: a schema from outside is judged before it is compiled: size, depth, no reference to anything outside itself.
 */
import type { Ajv, Options } from "ajv";
import { messageOf } from "../base/errors.js";
import { isJsonObject, type JsonValue } from "../base/json.js";
import { LIMITS } from "../base/limits.js";
import { createValidator, type RawValidate, type SchemaDefect, type Validator } from "./validator.js";

export type CompiledSchema =
  | { readonly ok: true; readonly validate: Validator<JsonValue> }
  | { readonly ok: false; readonly defects: readonly SchemaDefect[] };

const OPTIONS: Options = {
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
    const validate: RawValidate = ajv.compile(plain as object | boolean);
    return { ok: true, validate: createValidator<JsonValue>(validate) };
  } catch (error) {
    return refuse("", messageOf(error));
  }
}

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
