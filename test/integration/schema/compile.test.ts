import { describe, expect, it } from "vitest";
import { compileSchema } from "../../../src/schema/compile.js";

async function judge(schema: unknown, value: unknown): Promise<string[]> {
  const compiled = await compileSchema(schema);
  if (!compiled.ok) return compiled.defects.map((defect) => `schema ${defect.path}: ${defect.message}`);
  const verdict = compiled.validate(value);
  return verdict.ok ? [] : verdict.defects.map((defect) => `${defect.path}: ${defect.message}`);
}

describe("compileSchema", () => {
  it("accepts what fits and names every defect with its place", async () => {
    const schema = {
      type: "object",
      required: ["name", "age"],
      properties: {
        name: { type: "string" },
        age: { type: "integer" },
        tags: { type: "array", items: { type: "string" } },
      },
      additionalProperties: false,
    };
    expect(await judge(schema, { name: "a", age: 3 })).toEqual([]);
    expect(await judge(schema, { name: 1, tags: ["x", 2], agee: 3 })).toEqual([
      ": must have required property 'age'",
      `: has an unknown key "agee"`,
      "/name: must be string",
      "/tags/1: must be string",
    ]);
  });

  it("coerces nothing and fills in no defaults", async () => {
    const value = {};
    expect(await judge({ type: "object", properties: { a: { default: 1 } } }, value)).toEqual([]);
    expect(value).toEqual({});
    expect(await judge({ type: "integer" }, "3")).toEqual([": must be integer"]);
  });

  it("knows the formats and ignores unknown keywords and formats", async () => {
    expect(await judge({ type: "string", format: "email" }, "nobody")).toEqual([`: must match format "email"`]);
    expect(await judge({ type: "string", format: "starsign", "x-note": 1 }, "lion")).toEqual([]);
  });

  it("reads the dialects 2020-12, 2019-09 and 7, and refuses others", async () => {
    const tuple2020 = { $schema: "https://json-schema.org/draft/2020-12/schema", prefixItems: [{ type: "string" }] };
    expect(await judge(tuple2020, [1])).toEqual(["/0: must be string"]);
    const tuple7 = { $schema: "http://json-schema.org/draft-07/schema#", items: [{ type: "string" }] };
    expect(await judge(tuple7, [1])).toEqual(["/0: must be string"]);
    const tuple2019 = { $schema: "https://json-schema.org/draft/2019-09/schema", items: [{ type: "string" }] };
    expect(await judge(tuple2019, [1])).toEqual(["/0: must be string"]);
    expect(await judge({ $schema: "http://json-schema.org/draft-04/schema#" }, 1)).toEqual([
      "schema /$schema: names a dialect other than draft 2020-12, 2019-09 or 7",
    ]);
  });

  it("compiles the same `$id` twice", async () => {
    const schema = { $id: "https://example.com/a", type: "string" };
    expect(await judge(schema, "x")).toEqual([]);
    expect(await judge(schema, 1)).toEqual([": must be string"]);
  });

  it("follows references inside the schema, recursive ones too", async () => {
    const schema = {
      $defs: { n: { type: "object", properties: { next: { $ref: "#/$defs/n" }, v: { type: "number" } } } },
      $ref: "#/$defs/n",
    };
    expect(await judge(schema, { next: { next: { v: "x" } } })).toEqual(["/next/next/v: must be number"]);
  });

  it.each([
    ["a text", "x", "must be an object or a boolean"],
    ["nothing", null, "must be an object or a boolean"],
    ["an invalid schema", { type: "strnig" }, "must be equal to one of the allowed values"],
    ["a reference outside itself", { $ref: "https://example.com/other.json" }, "can't resolve reference"],
    ["an asynchronous schema", { $async: true }, "must not be asynchronous"],
    ["a key __proto__", JSON.parse('{"properties":{"__proto__":{"type":"string"}}}'), "has a key __proto__"],
    [
      "too many parts",
      { enum: Array.from({ length: 20_001 }, (_unused, index) => index) },
      "has more than 20000 parts",
    ],
    ["a text without end", { description: "x".repeat(70_000) }, "has a text longer than 65536"],
    ["too deep a nesting", nest(80), "is nested deeper than 64 levels"],
  ])("refuses %s", async (_name, schema, message) => {
    const compiled = await compileSchema(schema);
    expect(compiled).toMatchObject({ ok: false, defects: [{ message: expect.stringContaining(message) as string }] });
  });

  it("takes the boolean schemas", async () => {
    expect(await judge(true, 1)).toEqual([]);
    expect(await judge(false, 1)).toEqual([": boolean schema is false"]);
  });
});

function nest(levels: number): unknown {
  let schema: unknown = {};
  for (let level = 0; level < levels; level += 1) schema = { not: schema };
  return schema;
}

describe("a schema of somebody else that takes too long", () => {
  const HELD_UP = [/^: could not be checked within \d+ ms against the pattern "/];

  async function requireEnded(schema: unknown, value: unknown): Promise<string[]> {
    const from = performance.now();
    const defects = await judge(schema, value);
    expect(performance.now() - from).toBeLessThan(60_000);
    return defects;
  }

  it("[security H6] is ended, and the pattern that goes back without end is named", async () => {
    const pattern = "^([a-z0-9]+)+@x.com$";
    const [defect = ""] = await requireEnded({ type: "string", pattern }, "a".repeat(41));
    expect(defect).toMatch(HELD_UP[0] as RegExp);
    expect(defect).toContain(pattern);
    expect(await judge({ type: "string", pattern }, "ab1@x.com")).toEqual([]);
  });

  it("[security H6 kin] in the names of properties is ended as well", async () => {
    const schema = { patternProperties: { "^(a|a)*$": { type: "string" } }, additionalProperties: false };
    const [defect = ""] = await requireEnded(schema, { [`${"a".repeat(40)}!`]: "x" });
    expect(defect).toMatch(HELD_UP[0] as RegExp);
  });

  it("[security H6 kin] that compares each with each is ended, without a pattern to blame", async () => {
    const many = Array.from({ length: 60_000 }, (_item, at) => ({ at, more: [at] }));
    const defects = await requireEnded({ type: "array", uniqueItems: true }, many);
    expect(defects).toEqual([expect.stringMatching(/^: could not be checked within \d+ ms$/)]);
  });

  it("[security H6 kin] that takes long to be read itself is refused as a schema", async () => {
    const values = Array.from({ length: 19_000 }, (_item, at) => `v${at}`);
    const defects = await requireEnded({ enum: values }, "v1");
    expect(defects.length).toBeLessThanOrEqual(1);
  });

  it("[public L kin] whose pattern only older programs read is read as they do", async () => {
    const schema = { properties: { url: { type: "string", pattern: "^https\\:\\/\\/" } } };
    expect(await judge(schema, { url: "https://a" })).toEqual([]);
    expect(await judge(schema, { url: "ftp://a" })).toEqual([expect.stringContaining("/url: must match pattern")]);
    expect(await judge(schema, {})).toEqual([]);
  });
});
