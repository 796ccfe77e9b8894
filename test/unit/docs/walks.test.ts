/** Files and names that pages for contributors lead to are there. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { isInProject, readPage } from "../../support/document-pages.js";

const SRC = join(import.meta.dirname, "../../../src");

/** Each step of a walk: a file, and a name that stands in it. */
function listSteps(page: string): { readonly file: string; readonly name: string }[] {
  const found = page.matchAll(/^\d+\. \[`(src\/[^`]+)`\]\([^)]+\) `(\w+)`/gm);
  return [...found].map(([, file = "", name = ""]) => ({ file, name }));
}

const isDeclared = ({ file, name }: { file: string; name: string }): boolean =>
  new RegExp(`(?:function|class|const|async) ${name}\\b`).test(readPage(file));

/** Paths of files and folders below src/ that a page names, but for X, which stands for a name that is chosen. */
function listPaths(page: string): string[] {
  const rooms = readdirSync(SRC).filter((name) => !name.includes("."));
  const paths = new RegExp(String.raw`(?<![\w/.-])(?:src/)?((?:${rooms.join("|")})(?:/[\w-]+)+(?:\.ts)?)`, "g");
  return [...page.matchAll(paths)].map(([, path = ""]) => path).filter((path) => !path.endsWith("/X.ts"));
}

const isThere = (path: string): boolean => [path, `${path}.ts`].some((name) => existsSync(join(SRC, name)));

describe("the pages for contributors", () => {
  it("walk from name to name, each in its file", () => {
    const steps = listSteps(readPage("CONTRIBUTING.md"));
    expect(steps.length).toBeGreaterThan(25);
    expect(steps.filter((step) => !isInProject(step.file) || !isDeclared(step))).toEqual([]);
    expect(isDeclared({ file: "src/index.ts", name: "runRun" })).toBe(false);
  });

  it.each(["CONTRIBUTING.md", "src/README.md"])("%s names files of src/ that are there", (page) => {
    const paths = listPaths(readPage(page));
    expect(paths.length).toBeGreaterThan(8);
    expect(paths.filter((path) => !isThere(path))).toEqual([]);
  });
});
