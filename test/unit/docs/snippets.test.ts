/** Every workflow file, settings file and program that a page shows is one. */
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import type { JsonValue } from "../../../src/base/json.js";
import { checkSettings } from "../../../src/definition/settings/settings.js";
import { findBlocks, listPages, readPage, type Block } from "../../support/document-pages.js";
import { loadText } from "../../support/workflow-files.js";

/** Keys that stand at the top of a workflow file. */
const TOP = /^(?:workflow|phases|steps|agents|for_each|parallel|goal|tools):/m;
/** The same with only settings in it. */
const SETTINGS = "splashdown.config.yaml";
/** A file that is shown for what is wrong with it. */
const WRONG = /^wrong/;

/** What is wrong with a YAML block of a page, if anything; of a part of a workflow the head is added. */
async function checkYaml({ text, about }: Block, page: readonly Block[]): Promise<string | undefined> {
  if (about.endsWith(SETTINGS)) {
    checkSettings(parse(text) as JsonValue, about);
    return undefined;
  }
  if (!TOP.test(text)) return undefined;
  const whole = /^workflow:/m.test(text) ? text : `workflow: { name: part }\n${text}`;
  const files = Object.fromEntries(page.map((block) => [`/work/${block.about}`, block.text]));
  try {
    await loadText(whole, { files });
    return WRONG.test(about) ? `${about} is right` : undefined;
  } catch (error) {
    return WRONG.test(about) ? undefined : (error as Error).message;
  }
}

describe("the files that pages show", () => {
  const pages = listPages().filter((page) => /^(?:README\.md|docs\/(?!contributing\/))/.test(page));

  it.each(pages)("%s: are valid workflows and settings", async (page) => {
    const blocks = findBlocks(readPage(page));
    const faults = await Promise.all(
      blocks.filter(({ language }) => language === "yaml").map((block) => checkYaml(block, blocks)),
    );
    expect(faults.filter((fault) => fault !== undefined)).toEqual([]);
  });

  it("would be found out with a wrong key, and are many", async () => {
    const planted = findBlocks('```yaml a.yaml\nsteps: [{ name: a, promt: "x" }]\n```\n');
    expect(await checkYaml(planted[0] as Block, planted)).toMatch(/promt/);
    const all = pages.flatMap((page) => findBlocks(readPage(page))).filter(({ text }) => TOP.test(text));
    expect(all.length).toBeGreaterThan(20);
  });
});
