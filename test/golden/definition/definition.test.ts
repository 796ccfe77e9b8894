/** Frozen normalised definitions: what a file means to the engine, fingerprints included, does not change unnoticed. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { loadText } from "../../support/workflow-files.js";

const read = (name: string): string => readFileSync(new URL(`files/${name}`, import.meta.url), "utf8");

const FILES = {
  "/work/work.mjs": "export const right = () => 1;\n",
  "/work/inner.yaml": read("inner.yaml"),
  "/work/innermost.yaml": read("innermost.yaml"),
};

describe("a normalised definition", () => {
  it.each(["phases", "steps", "agents", "loops"])("D1: of %s.yaml is the frozen one", async (name) => {
    const text = read(`${name}.yaml`);
    const { definition } = await loadText(text, { files: FILES });
    const { sources, ...rest } = definition;
    expect(JSON.parse(JSON.stringify(rest))).toEqual(JSON.parse(read(`${name}.json`)));
    expect(sources?.slice(0, 1)).toEqual([{ roots: ["main"], texts: [{ at: [], file: "flow.yaml", text, isPlain: false }] }]);
  });
});
