/**
 * What Conductor's own code makes of a template, against ours: printed texts, values of `set`, fields of a final output, and
 * conditions of routes. The expected values came out of Conductor's own modules (`source` of values.json).
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { performSet } from "../../../src/agents/set.js";
import type { JsonObject, JsonValue } from "../../../src/base/json.js";
import * as templates from "../../../src/definition/templates/templates.js";
import type { StepWork } from "../../../src/engine/model/ports.js";
import { typeText } from "../../../src/engine/render/final-output.js";
import { renderSetValue } from "../../../src/engine/render/rendering.js";

type Expected = { readonly value: JsonValue } | { readonly error: string };
interface Table {
  readonly scope: JsonObject;
  readonly rows: readonly (readonly [kind: string, template: string, expected: Expected])[];
}
const { scope, rows } = JSON.parse(readFileSync(join(import.meta.dirname, "values.json"), "utf8")) as Table;

/** Where we differ, with what comes instead and why. */
const DIFFERENT: Readonly<Record<string, { readonly ours: Expected; readonly why: string }>> = {
  ...same([".inf", "-.inf", ".nan", "1e400"], "JSON has no such number; the text stays exact"),
  ...same(["2026-13-45"], "no such day: there the step ends with an error of Python's, here the text stays text"),
  "when label in ['high', 'low']": { ours: { value: true }, why: "simpleeval knows no lists; nothing is lost by more" },
  "when label not in ['x']": { ours: { value: true }, why: "simpleeval knows no lists; nothing is lost by more" },
  "when 5 < score < 10": { ours: { error: "" }, why: "refused with advice: other template languages read it otherwise" },
  "text {{ map | dictsort }}": { ours: { value: "[['a', [True, None]], ['b', 1]]" }, why: "JSON has no tuples" },
  "text {{ map.items() | list }}": { ours: { value: "[['b', 1], ['a', [True, None]]]" }, why: "JSON has no tuples" },
  "text {{ s * 2 }}": { ours: { error: "" }, why: "a text from outside is not repeated: nothing may grow without a limit" },
  "text {{ range(3) | list }}": { ours: { value: "[0, 1, 2]" }, why: "a call is a function's even beside a step range" },
};

function same(texts: readonly string[], why: string): Record<string, { ours: Expected; why: string }> {
  return Object.fromEntries(texts.map((text) => [`set ${text}`, { ours: { value: text }, why }]));
}

async function read(kind: string, template: string): Promise<JsonValue> {
  const [what, outputType = "auto"] = kind.split(":");
  switch (what) {
    case "text":
      return templates.renderText(template, scope);
    case "final":
      return readFinal(templates.renderText(template, scope));
    case "when":
      return templates.evaluateCondition(template, { ...scope, ...(scope["step"] as JsonObject) });
    default:
      return readSet(template, outputType);
  }
}

const readFinal = (text: string) => typeText(text);

async function readSet(template: string, outputType: string): Promise<JsonValue> {
  const rendered = { value: renderSetValue(template, { templates, scope, outputType: outputType as "auto" }) };
  const outcome = await performSet({} as never, { definition: { value: template, outputType }, rendered } as unknown as StepWork);
  return (outcome as { output: JsonValue }).output;
}

async function answer(kind: string, template: string): Promise<Expected> {
  try {
    return { value: await read(kind, template) };
  } catch (error) {
    return { error: (error as Error).message };
  }
}

describe("what Conductor makes of a template", () => {
  it("is known of more than five hundred", () => {
    expect(rows.length).toBeGreaterThanOrEqual(500);
    expect(new Set(rows.map(([kind, template]) => `${kind} ${template}`)).size).toBe(rows.length);
  });

  it.each(rows)("%s %j", async (kind, template, expected) => {
    const different = DIFFERENT[`${kind} ${template}`];
    const got = await answer(kind, template);
    if (different !== undefined) {
      expect(got).toEqual("error" in different.ours ? { error: expect.any(String) as string } : different.ours);
      expect(got).not.toEqual(expected);
    } else if ("error" in expected) expect(got).toEqual({ error: expect.any(String) as string });
    else expect(got).toEqual(expected);
  });

  it("differs only where the reason is given", () => {
    const known = new Set(rows.map(([kind, template]) => `${kind} ${template}`));
    expect(Object.keys(DIFFERENT).filter((name) => !known.has(name))).toEqual([]);
  });
});
