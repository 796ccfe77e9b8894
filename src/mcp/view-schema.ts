/** The schemas of the verbs' `--json` answers, made whole for the tools: no reference leads out of them. */
import { readPackageJson } from "../base/package-files.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../base/json.js";

const PART = /^(?:parts\.schema\.json)?#\/\$defs\/(\w+)$/;

/** What `--json` of a verb prints. */
export function viewSchema(name: string): JsonObject {
  const { $schema: _schema, $id: _id, title: _title, ...schema } = loadView(name);
  return withoutLeftOut(schema);
}

/** A part that several answers share. */
export function partSchema(name: string): JsonObject {
  return { $ref: `#/$defs/${name}` };
}

/** Some fields of a view. */
export function pickFields(name: string, fields: readonly string[]): JsonObject {
  const { properties, required } = viewSchema(name) as { properties: JsonObject; required: readonly string[] };
  return {
    type: "object",
    additionalProperties: false,
    required: fields.filter((field) => required.includes(field)),
    properties: Object.fromEntries(fields.map((field) => [field, properties[field] as JsonValue])),
  };
}

/** The whole answer of a tool around its result. */
export function answerSchema(result: JsonObject): JsonObject {
  const parts: Record<string, JsonValue> = {};
  const own = adopt(result, parts) as JsonObject;
  return {
    type: "object",
    additionalProperties: false,
    required: ["result"],
    properties: {
      result: own,
      next: { type: "string" },
      left_out: {
        type: "array",
        items: { type: "string" },
        description: "What is too large to show, with the command for it.",
      },
    },
    ...(Object.keys(parts).length === 0 ? {} : { $defs: parts }),
  };
}

function loadView(name: string): JsonObject {
  return readPackageJson(`schemas/views/${name}.schema.json`);
}

/** The same schema with references to `#/$defs` only; what they name is put into `parts`. */
function adopt(schema: JsonValue, parts: Record<string, JsonValue>): JsonValue {
  if (Array.isArray(schema)) return schema.map((item: JsonValue) => adopt(item, parts));
  if (!isJsonObject(schema)) return schema;
  const { $ref: reference } = schema;
  const [, part] = typeof reference === "string" ? (PART.exec(reference) ?? []) : [];
  if (part === undefined) {
    return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, adopt(value as JsonValue, parts)]));
  }
  if (parts[part] === undefined) {
    parts[part] = true;
    parts[part] = adopt(withoutLeftOut((loadView("parts")["$defs"] as JsonObject)[part] as JsonObject), parts);
  }
  return { ...schema, $ref: `#/$defs/${part}` };
}

/** Fields that the tools do not offer (see server.ts), or never give. */
const LEFT_OUT: ReadonlySet<string> = new Set(["spent", "as_of"]);

function withoutLeftOut(schema: JsonObject): JsonObject {
  const { properties } = schema;
  if (!isJsonObject(properties ?? null)) return schema;
  const kept = Object.entries(properties as JsonObject).filter(([name]) => !LEFT_OUT.has(name));
  return { ...schema, properties: Object.fromEntries(kept) };
}
