import { describe, expect, it } from "vitest";
import { showMarkup } from "../../../src/base/plain-text.js";

/** What a page made of the text could hold as a tag, code between plain fences left out. */
const tagsIn = (text: string): string[] => text.match(/<[A-Za-z/!?][^>]*>?/g) ?? [];

describe("markdown of others", () => {
  it("[security L5] holds no script and no picture, and says what it said", () => {
    const shown = showMarkup("See <script>alert(1)</script> and <img src=x onerror=y> and a < b.");
    expect(shown).toBe("See &lt;script>alert(1)&lt;/script> and &lt;img src=x onerror=y> and a < b.");
  });

  it("[security L5 kin] holds no comment, declaration or processing instruction, broken over lines neither", () => {
    const shown = showMarkup("<!-- x -->\n<!DOCTYPE y>\n<?php z ?>\n<a\nhref=q>\n</p\n>");
    expect(tagsIn(shown)).toEqual([]);
  });

  it("[security L5 kin] keeps code between fences as it is, and nothing after an end that is none", () => {
    const code = "```html\n<p>shown as text</p>\n```";
    expect(showMarkup(`before\n\n${code}\n\n<p>\n`)).toBe(`before\n\n${code}\n\n&lt;p>\n`);
    expect(tagsIn(showMarkup("```html\n<p>\n"))).toEqual([]);
  });

  it("[security L5 kin] is not tricked by fences of other kinds", () => {
    for (const text of [
      "~~~\n```\n~~~\n<script>",
      "````\n```\n````\n<script>\n```",
      "   ```\nx\n   ```\n```\n<script>\n```",
      "> ```\n\n```\n> x\n```\n<script>",
      "`\n<script>`",
      "1. ```\n   x\n\n```\n<script>\n```",
    ])
      expect(tagsIn(showMarkup(text)), text).toEqual([]);
  });
});
