/**
 * Schemas of a file that cannot be used: told when the file is read, before anything is paid for.
 *
 * Owns: patterns and bounds of the fields of outputs and of tools' inputs, and JSON Schemas of scorers, which are compiled.
 * What servers say of their tools is checked where they are asked (agents/outcome/output-check.ts).
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.js";
import { compileSchema, findPatternProblem } from "../../schema/compile.js";
import type { FaultPath, FaultSink } from "../faults/fault.js";

/** Adds what is wrong with the schemas of a file, as it was read. */
export async function checkSchemas(file: JsonObject, faults: FaultSink): Promise<void> {
  const schemas: { readonly schema: JsonValue; readonly path: FaultPath }[] = [];
  walk(file, [], (value, path) => {
    if (path.at(-1) === "schema" && path.at(-3) === "scorers") schemas.push({ schema: value, path });
    else if (isField(value, path)) checkField(value, path, faults);
  });
  for (const { schema, path } of schemas) {
    const compiled = await compileSchema(schema);
    if (compiled.ok) continue;
    for (const { path: inside, message } of compiled.defects) {
      const place = inside === "" ? "" : ` at ${inside}`;
      faults.add({ code: "wrong_value", path, message: `the schema cannot be used${place}: ${message}` });
    }
  }
}

function walk(value: JsonValue, path: FaultPath, visit: (value: JsonValue, path: FaultPath) => void): void {
  visit(value, path);
  if (Array.isArray(value)) value.forEach((item: JsonValue, index) => walk(item, [...path, index], visit));
  else if (isJsonObject(value))
    for (const [key, item] of Object.entries(value)) if (item !== undefined) walk(item, [...path, key], visit);
}

const TYPES: ReadonlySet<JsonValue | undefined> = new Set([
  "string",
  "number",
  "integer",
  "boolean",
  "array",
  "object",
]);

/** A field of an output or of a tool's input. */
function isField(value: JsonValue, path: FaultPath): value is JsonObject {
  return isJsonObject(value) && TYPES.has(value["type"]) && (path.includes("output") || path.includes("input"));
}

const BOUNDS = [
  ["minimum", "maximum"],
  ["minLength", "maxLength"],
] as const;

function checkField(field: JsonObject, path: FaultPath, faults: FaultSink): void {
  const { pattern } = field;
  const problem = typeof pattern === "string" ? findPatternProblem(pattern) : undefined;
  if (problem !== undefined) {
    const message = `the pattern ${JSON.stringify(pattern)} cannot be used: ${problem}`;
    faults.add({ code: "wrong_value", path: [...path, "pattern"], message });
  }
  for (const [low, high] of BOUNDS) {
    const [least, most] = [field[low], field[high]];
    if (typeof least !== "number" || typeof most !== "number" || least <= most) continue;
    const message = `no value fits: ${low} is ${least}, and ${high} is ${most}`;
    faults.add({ code: "conflict", path: [...path, low], message });
  }
}
