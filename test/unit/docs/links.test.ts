/** Every link of a page leads somewhere, and what a user reads leads nowhere outside of the package. */
import { posix } from "node:path";
import { describe, expect, it } from "vitest";
import { findAnchors, findLinks, isInProject, listPages, readPage } from "../../support/document-pages.js";

/** What npm packs whatever `files` says. */
const ALWAYS = ["package.json", "README.md", "LICENSE"];
const FILES: readonly string[] = [...ALWAYS, ...JSON.parse(readPage("package.json")).files];
const isBelow = (path: string, entry: string): boolean => path === entry || path.startsWith(`${entry}/`);
const isPacked = (path: string): boolean =>
  FILES.some((entry) => isBelow(path, entry)) &&
  !FILES.some((entry) => entry.startsWith("!") && isBelow(path, entry.slice(1)));

/** What is wrong with a link of that page, if anything. */
function checkLink(page: string, link: string): string | undefined {
  if (/^(?:https?|mailto):/.test(link)) return undefined;
  const [place = "", anchor] = link.split("#");
  const path = place === "" ? page : posix.normalize(posix.join(posix.dirname(page), place));
  if (path.startsWith("..")) return "leads out of the project";
  if (!isInProject(path)) return "is not there";
  if (isPacked(page) && !isPacked(path)) return "is not in the package";
  if (anchor === undefined || !path.endsWith(".md") || path.startsWith("docs/reference/")) return undefined;
  return findAnchors(readPage(path)).has(anchor) ? undefined : "has no such heading";
}

const findDeadLinks = (page: string): string[] =>
  findLinks(readPage(page)).flatMap((link) => {
    const fault = checkLink(page, link);
    return fault === undefined ? [] : [`${page}: ${link} ${fault}`];
  });

describe("the links of the pages", () => {
  it("lead to files and headings that are there", () => {
    const pages = listPages();
    expect(pages.length).toBeGreaterThan(20);
    expect(pages.flatMap(findDeadLinks)).toEqual([]);
  });

  it("would be found out", () => {
    const planted = [
      "docs/none.md",
      "docs/guide/1-first-workflow.md#no-such-heading",
      "../elsewhere.md",
      "src/index.ts",
    ];
    expect(planted.map((link) => checkLink("README.md", link))).toEqual([
      "is not there",
      "has no such heading",
      "leads out of the project",
      "is not in the package",
    ]);
    expect(checkLink("README.md", "docs/guide/1-first-workflow.md")).toBeUndefined();
    expect(findLinks("see [a](b.md#c) and ![d](e.svg), not `[f](g)`")).toEqual(["b.md#c", "e.svg"]);
  });
});
