/**
 * README and guide, followed as they are written in an empty folder: every command that a page shows with its output is
 * typed, and what comes is what the page shows. With SPLASHDOWN_PAGES=write the pages are mended instead; SPLASHDOWN_INSTALLED is
 * the folder of another package to follow them with (proof/install.mjs).
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { PROJECT_FOLDER } from "../../support/built-program.js";
import { listPages, readPage } from "../../support/document-pages.js";
import { isShown, mask, PagePlace, readCommands, showWhatCame } from "../../support/page-place.js";

/** Pages that say what a first run does with keys; in the others there is one already. */
const WITHOUT_KEY = ["README.md", "docs/guide/1-first-workflow.md", "docs/operations/keys.md"];
const KEY = { SPLASHDOWN_KEY: Buffer.alloc(32, 7).toString("base64") };

const pages = listPages().filter((page) => readPage(page).includes("```console"));

describe("the pages", () => {
  it.each(pages)("%s shows what comes when it is followed", async (page) => {
    const place = new PagePlace(WITHOUT_KEY.includes(page) ? {} : KEY, process.env["SPLASHDOWN_INSTALLED"]);
    onTestFinished(() => place.remove());
    const text = readPage(page);
    const results = await place.follow(text);
    if (process.env["SPLASHDOWN_PAGES"] === "write") {
      writeFileSync(join(PROJECT_FOLDER, page), showWhatCame(text, results));
      return;
    }
    const different = results.flatMap(({ commands }) => commands.filter((typed) => !isShown(typed)));
    expect(different.map(({ command, came }) => `$ ${command}\n${mask(came)}`)).toEqual(
      different.map(({ command, shown }) => `$ ${command}\n${mask(shown)}`),
    );
  });

  it("would be found out with another output, and not with another time", () => {
    const [first, second] = readCommands("$ a \\\n  b\nat 10:00:01 in 3 s\n$ c\n…\nend\n");
    expect([first?.command, second?.command]).toEqual(["a \\\n  b", "c"]);
    expect(isShown({ shown: first?.shown ?? "", came: "at 11:17:45 in 0.4 s\n" })).toBe(true);
    expect(isShown({ shown: first?.shown ?? "", came: "by 11:17:45 in 0.4 s\n" })).toBe(false);
    expect(isShown({ shown: second?.shown ?? "", came: "1\n2\nend\n" })).toBe(true);
    expect(isShown({ shown: second?.shown ?? "", came: "1\n2\n" })).toBe(false);
  });
});
