/** What code and tests cite of a paper is in the paper: its section or entry is there. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readPage } from "../../support/document-pages.js";

const PROJECT = join(import.meta.dirname, "../../..");
const FOLDERS = ["src", "test"];
const THIS_TEST = "papers.test.ts";

/** Name in citations → page, and how a citation of it is written. */
const PAPERS: Readonly<Record<string, { readonly page: string; readonly cited: RegExp }>> = {
  DESIGN: { page: "design.md", cited: /\bDESIGN sections? (\d+(?:\.\d+)?)/g },
  STORAGE: { page: "storage.md", cited: /\bSTORAGE sections? (\d+(?:\.\d+)?)/g },
  "CONDUCTOR-YAML": { page: "conductor-yaml.md", cited: /\bCONDUCTOR-YAML (\d+(?:\.\d+)?)/g },
  FAULTS: { page: "faults.md", cited: /\bFAULTS (\d+)/g },
};

function readSources(): { readonly file: string; readonly text: string }[] {
  return FOLDERS.flatMap((folder) =>
    readdirSync(join(PROJECT, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith(".ts") && entry.name !== THIS_TEST)
      .map((entry) => join(entry.parentPath, entry.name))
      .map((file) => ({ file, text: readFileSync(file, "utf8") })),
  );
}

/** Numbers of a paper's headings; an item of a numbered list in section N counts as N.i. */
function listNumbers(page: string): Set<string> {
  const numbers = new Set<string>();
  let section = "";
  for (const line of page.split("\n")) {
    const heading = /^#{2,4} (\d+(?:\.\d+)*)/.exec(line)?.[1];
    const item = /^(\d+)\. /.exec(line)?.[1];
    if (heading !== undefined) section = heading;
    if (heading !== undefined) numbers.add(heading);
    else if (item !== undefined) numbers.add(`${section}.${item}`);
  }
  return numbers;
}

describe("the papers", () => {
  const sources = readSources();

  it.each(Object.entries(PAPERS))("%s has what is cited of it", (_name, { page, cited }) => {
    const numbers = listNumbers(readPage(`docs/contributing/${page}`));
    const found = sources.flatMap(({ file, text }) =>
      [...text.matchAll(cited)].map(([whole, number = ""]) => ({ file, whole, number })),
    );
    expect(found.length).toBeGreaterThan(3);
    expect(found.filter(({ number }) => !numbers.has(number)).map(({ file, whole }) => `${file}: ${whole}`)).toEqual(
      [],
    );
    expect(numbers.has("99.9")).toBe(false);
  });
});
