/** Frozen normalised definitions: what a file means to the engine, fingerprints included, does not change unnoticed. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { loadText } from "../../support/workflow-files.js";

const read = (name: string): string => readFileSync(new URL(`files/${name}`, import.meta.url), "utf8");

describe("a normalised definition", () => {
  it.each(["phases", "steps", "agents"])("D1: of %s.yaml is the frozen one", async (name) => {
    const { definition } = await loadText(read(`${name}.yaml`), { files: { "/work/work.mjs": "export const right = () => 1;\n" } });
    expect(JSON.parse(JSON.stringify(definition))).toEqual(JSON.parse(read(`${name}.json`)));
  });
});
