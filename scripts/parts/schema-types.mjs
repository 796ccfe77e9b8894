/**
 * Writes TypeScript types for the part of JSON Schema that our schemas use.
 *
 * A schema's or definition's `title` is its type's name, else the definition's key in PascalCase. Names stay as they
 * are on disk and on the wire. Constraints that types cannot say (patterns, bounds) are left to the validator.
 */

/** Import lines and type declarations of one schema. */
export function describeTypes(entry, schemas) {
  const context = { entry, schemas, imports: new Map() };
  const blocks = [declare(entry.schema.title, entry.schema, context)];
  for (const [key, definition] of Object.entries(entry.schema.$defs ?? {})) {
    blocks.push(declare(definitionName(key, definition), definition, context));
  }
  const imports = [...context.imports]
    .sort(([left], [right]) => byText(left, right))
    .map(([name, types]) => `import type { ${[...types].sort(byText).join(", ")} } from "./${name}.js";`);
  return { imports, text: blocks.join("\n\n") };
}

/** Order of texts by code unit, for sort. */
export function byText(left, right) {
  return left < right ? -1 : 1;
}

function definitionName(key, definition) {
  if (typeof definition === "object" && typeof definition.title === "string") return definition.title;
  return key.replace(/(?:^|[-_])([a-z0-9])/gi, (_whole, letter) => letter.toUpperCase());
}

function declare(name, schema, context) {
  const type = typeOf(schema, context, 0);
  const comment = docComment(schema.description, "");
  const bare = type.startsWith("(") && type.indexOf(")") === type.length - 1 ? type.slice(1, -1) : type;
  return type.startsWith("{\n")
    ? `${comment}export interface ${name} ${type}`
    : `${comment}export type ${name} = ${bare};`;
}

function docComment(text, indent) {
  if (typeof text !== "string" || text === "") return "";
  return `${indent}/** ${text.replaceAll("*/", "*\\/").replace(/\s+/g, " ")} */\n`;
}

function typeOf(schema, context, depth) {
  if (typeof schema === "boolean") return schema ? "unknown" : "never";
  if ("const" in schema) return JSON.stringify(schema.const);
  if (Array.isArray(schema.enum)) return union(schema.enum.map((item) => JSON.stringify(item)));
  const parts = [...ownParts(schema, context, depth), ...combinedParts(schema, context, depth)];
  return parts.length === 0 ? "unknown" : [...new Set(parts)].join(" & ");
}

function ownParts(schema, context, depth) {
  const parts = typeof schema.$ref === "string" ? [referenceType(schema.$ref, context)] : [];
  const shape = shapeOf(schema, context, depth);
  return shape === undefined ? parts : [...parts, shape];
}

function combinedParts(schema, context, depth) {
  const choices = schema.oneOf ?? schema.anyOf ?? [];
  const parts = (schema.allOf ?? [])
    .filter((item) => addsTypes([item]))
    .map((item) => wrap(typeOf(item, context, depth)));
  if (!addsTypes(choices)) return parts;
  return [wrap(union(choices.map((item) => typeOf(item, context, depth)))), ...parts];
}

/** Branches that only constrain (`required`, `not`, conditions) say nothing about the type. */
function addsTypes(branches) {
  const telling = ["$ref", "type", "properties", "const", "enum", "oneOf", "anyOf", "allOf", "items"];
  return branches.some((branch) => typeof branch === "object" && telling.some((key) => key in branch));
}

function shapeOf(schema, context, depth) {
  const types = schema.type === undefined ? [] : [schema.type].flat();
  if (types.length === 0 && schema.properties !== undefined) types.push("object");
  if (types.length === 0) return undefined;
  return wrap(union(types.map((type) => plainType({ ...schema, type }, context, depth))));
}

function plainType(schema, context, depth) {
  const { type } = schema;
  switch (type) {
    case "string":
    case "boolean":
    case "null":
      return type;
    case "integer":
    case "number":
      return "number";
    case "array":
      return arrayType(schema, context, depth);
    case "object":
      return objectType(schema, context, depth);
    default:
      throw new Error(`${context.entry.file}: unknown type ${type}`);
  }
}

function arrayType(schema, context, depth) {
  if (Array.isArray(schema.prefixItems))
    return `readonly [${schema.prefixItems.map((item) => typeOf(item, context, depth)).join(", ")}]`;
  return `readonly ${wrap(typeOf(schema.items ?? true, context, depth))}[]`;
}

function objectType(schema, context, depth) {
  const indent = "  ".repeat(depth + 1);
  const required = new Set(schema.required ?? []);
  const lines = Object.entries(schema.properties ?? {}).map(([key, property]) => {
    const name = /^[A-Za-z_$][\w$]*$/.test(key) ? key : JSON.stringify(key);
    const mark = required.has(key) ? "" : "?";
    return `${docComment(property.description, indent)}${indent}readonly ${name}${mark}: ${typeOf(property, context, depth + 1)};`;
  });
  const rest = restType(schema, context, depth);
  if (lines.length === 0) return `{ readonly [key: string]: ${rest ?? "never"} }`;
  if (rest !== undefined)
    lines.push(`${indent}readonly [key: string]: ${rest === "unknown" ? "unknown" : `${rest} | unknown`};`);
  return `{\n${lines.join("\n")}\n${"  ".repeat(depth)}}`;
}

/** The type of properties beyond the named ones; `undefined` where there are none or only `x-` ones. */
function restType(schema, context, depth) {
  if (schema.patternProperties !== undefined && schema.properties === undefined) {
    return union(Object.values(schema.patternProperties).map((item) => typeOf(item, context, depth + 1)));
  }
  const rest = schema.additionalProperties ?? schema.unevaluatedProperties;
  if (rest === false) return undefined;
  return rest === undefined || rest === true ? "unknown" : typeOf(rest, context, depth + 1);
}

function referenceType(reference, context) {
  const [file, pointer = ""] = reference.split("#");
  const target = file === "" ? context.entry : context.schemas.find((entry) => file.endsWith(entry.file));
  if (target === undefined) throw new Error(`${context.entry.file}: $ref to an unknown schema: ${reference}`);
  const name = pointedName(target, pointer, reference);
  if (target !== context.entry) {
    const types = context.imports.get(target.name) ?? new Set();
    context.imports.set(target.name, types.add(name));
  }
  return name;
}

function pointedName(target, pointer, reference) {
  if (pointer === "" || pointer === "/") return target.schema.title;
  const key = /^\/\$defs\/([^/]+)$/.exec(pointer)?.[1];
  const definition = key === undefined ? undefined : target.schema.$defs?.[key];
  if (definition === undefined)
    throw new Error(`${target.file}: $ref must name a schema or one of its $defs: ${reference}`);
  return definitionName(key, definition);
}

const ANNOTATIONS = new Set(["title", "description", "examples", "$comment"]);
const SCHEMA_MAPS = new Set(["properties", "patternProperties", "$defs", "dependentSchemas"]);
const VALUES = new Set(["const", "enum", "default", "required", "type", "dependentRequired", "discriminator"]);

/** The schema without what only people read, so that generated files stay small. */
export function dropAnnotations(schema) {
  if (Array.isArray(schema)) return schema.map(dropAnnotations);
  if (typeof schema !== "object" || schema === null) return schema;
  const kept = Object.entries(schema).filter(([key]) => !ANNOTATIONS.has(key));
  return Object.fromEntries(
    kept.map(([key, value]) => {
      if (VALUES.has(key)) return [key, value];
      if (SCHEMA_MAPS.has(key))
        return [key, Object.fromEntries(Object.entries(value).map(([name, item]) => [name, dropAnnotations(item)]))];
      return [key, dropAnnotations(value)];
    }),
  );
}

function union(types) {
  return [...new Set(types)].join(" | ");
}

function wrap(type) {
  return / [|&] /.test(type) && !type.startsWith("{") ? `(${type})` : type;
}
