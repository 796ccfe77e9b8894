/** Every regular expression of the sources takes time in proportion to the text: what runs over foreign texts may not stop us. */
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import ts from "typescript";
import { describe, expect, it } from "vitest";
import { SECRET_PATTERNS } from "../src/base/secret-shapes.js";
import { attackPattern } from "./support/pattern-attack.js";

const SOURCES = join(import.meta.dirname, "..", "src");

interface Found {
  readonly place: string;
  readonly text: string;
  readonly pattern: RegExp | undefined;
}

function listFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => join(folder, name));
}

/** Literals, and calls of the constructor with a text that stands there; others have no pattern. */
function findPatterns(name: string, text: string): Found[] {
  const file = ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true);
  const found: Found[] = [];
  const visit = (node: ts.Node): void => {
    const line = file.getLineAndCharacterOfPosition(node.getStart()).line + 1;
    if (ts.isRegularExpressionLiteral(node)) {
      const end = node.text.lastIndexOf("/");
      const pattern = new RegExp(node.text.slice(1, end), node.text.slice(end + 1));
      found.push({ place: `${name}:${line}`, text: node.text, pattern });
    }
    if ((ts.isNewExpression(node) || ts.isCallExpression(node)) && node.expression.getText() === "RegExp") {
      const [source, flags] = node.arguments ?? [];
      const isPlain = source !== undefined && ts.isStringLiteralLike(source);
      const pattern = isPlain
        ? new RegExp(source.text, flags !== undefined && ts.isStringLiteralLike(flags) ? flags.text : "")
        : undefined;
      found.push({ place: `${name}:${line}`, text: node.getText(), pattern });
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

const ALL = listFiles(SOURCES).flatMap((path) => findPatterns(relative(SOURCES, path), readFileSync(path, "utf8")));

/** Put together where they stand: by file, why they are linear or where they are tried. */
const PUT_TOGETHER: Readonly<Record<string, string>> = {
  "base/secret-shapes.ts": "tried below as they are",
  "schema/compile.ts": "patterns of schemas from outside, which are tried under a limit in time",
  "base/redact.ts": "the mark alone: fixed words and eight digits",
  "agents/providers/retry-time.ts": "every part is bounded, and the text is cut before",
  "cli/command/next-command.ts": "runs over hints of our own table",
  "definition/templates/secret-marks.ts": "a bounded name between fixed texts",
  "definition/templates/template-places.ts": "the literal VARIABLE beside it, which is tried itself",
};

describe("regular expressions of the sources", () => {
  it("are found, and those that are put together are accounted for", () => {
    expect(ALL.length).toBeGreaterThan(200);
    const unknown = ALL.filter(({ pattern, place }) => {
      const [file = ""] = place.split(":");
      return pattern === undefined && PUT_TOGETHER[file] === undefined;
    });
    expect(unknown.map(({ place, text }) => `${place} ${text}`)).toEqual([]);
  });

  it(
    "[security H6 kin] take twice the time for twice the text, each with texts made of its own parts",
    { timeout: 600_000 },
    () => {
      const distinct = new Map(
        ALL.flatMap((each) => (each.pattern === undefined ? [] : [[String(each.pattern), each]])),
      );
      const slow = [...distinct.values()].flatMap(({ place, text, pattern }) => {
        const attack = pattern === undefined ? undefined : attackPattern(pattern);
        return attack === undefined ? [] : [`${place} ${text}: ${JSON.stringify(attack)}`];
      });
      expect(slow).toEqual([]);
    },
  );

  it(
    "[security H6 kin] that look for secrets do so too, whatever they are put together from",
    { timeout: 600_000 },
    () => {
      const slow = SECRET_PATTERNS.flatMap(({ kind, expression }) => {
        const attack = attackPattern(expression);
        return attack === undefined ? [] : [`${kind}: ${JSON.stringify(attack)}`];
      });
      expect(slow).toEqual([]);
    },
  );

  it.each([
    /\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*/g,
    /```[a-zA-Z0-9]*[ \t]*\r?\n([\s\S]*?)\r?\n[ \t]*```/g,
    /^([a-z0-9]+)+@x.com$/,
    /\s+$/,
    /a.*b.*c/,
  ])("are found out where they are not linear: %s", (pattern) => {
    expect(attackPattern(pattern)).toBeDefined();
  });
});
