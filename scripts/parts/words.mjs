// Every text in src that a person may read, against the words that are refused (docs/contributing/refused-words.json, beside
// words.md). `--list` prints all texts, to be read by a person who has never seen the project.
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import ts from "typescript";

const REFUSED = "docs/contributing/refused-words.json";

/**
 * String literals and templates of a module, with their lines; what stands in a template's place is `…`.
 *
 * Names of modules, of properties and of events are no texts: what has no space is a word of a machine.
 */
export function textsOf(path, source) {
  const file = ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true);
  const texts = [];
  const add = (node, text) => {
    const isModule = ts.isImportDeclaration(node.parent) || ts.isExportDeclaration(node.parent);
    if (isModule || !/[a-z] [a-z…]|… [a-z]/i.test(text)) return;
    texts.push({ path, line: file.getLineAndCharacterOfPosition(node.getStart()).line + 1, text });
  };
  const visit = (node) => {
    if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) add(node, node.text);
    if (ts.isTemplateExpression(node))
      add(node, node.head.text + node.templateSpans.map(({ literal }) => `…${literal.text}`).join(""));
    ts.forEachChild(node, visit);
  };
  visit(file);
  return texts;
}

/** Shape: a line for each refused word that a text has, with what to write instead. */
export function findRefused(texts, refused) {
  return texts.flatMap(({ path, line, text }) =>
    refused
      .filter(({ pattern }) => new RegExp(pattern, "i").test(text))
      .map(
        ({ pattern, write }) => `${path}:${line} /${pattern}/ in ${JSON.stringify(text.slice(0, 160))}; write ${write}`,
      ),
  );
}

export function readRefused(folder) {
  return JSON.parse(readFileSync(join(folder, REFUSED), "utf8")).refused;
}

export function readTexts(folder) {
  const src = join(folder, "src");
  return readdirSync(src, { recursive: true })
    .filter((name) => name.endsWith(".ts") && !name.includes("generated"))
    .flatMap((name) => textsOf(relative(folder, join(src, name)), readFileSync(join(src, name), "utf8")));
}

if (process.argv[1]?.endsWith("words.mjs")) {
  const folder = join(import.meta.dirname, "..", "..");
  const texts = readTexts(folder);
  if (process.argv.includes("--list")) {
    for (const { path, line, text } of texts) console.log(`${path}:${line}\t${text.replaceAll("\n", "\\n")}`);
  } else {
    const found = findRefused(texts, readRefused(folder));
    for (const line of found) console.error(line);
    console.error(`${texts.length} texts, ${found.length} with a refused word`);
    process.exitCode = found.length === 0 && texts.length > 1000 ? 0 : 1;
  }
}
