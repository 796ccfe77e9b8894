/**
 * Owns the table of languages: how a file name tells the language, and what the language's comments look like.
 *
 * `kind` is code (has functions), style, markup, prose or data. `functions` names the heuristic that finds functions:
 * braces (a header before `{`), indent (`def` and indentation) or none, in which case no function is ever claimed. The
 * traits (`hasTemplates`, `hasRegex`, `hasLifetimes`, `hasArrowArms`, `hasPreprocessor`) are what scanner and finder must know.
 */

const C_COMMENTS = { line: ["//"], block: [["/*", "*/"]] };
const HASH_COMMENTS = { line: ["#"], block: [] };
const MARKUP_COMMENTS = { line: [], block: [["<!--", "-->"]] };
const NO_COMMENTS = { line: [], block: [] };
const DASH_COMMENTS = { line: ["--"], block: [] };
const SEMICOLON_COMMENTS = { line: [";"], block: [] };

const braces = (name, extensions, traits = {}) => ({
  name,
  extensions,
  kind: "code",
  functions: "braces",
  ...C_COMMENTS,
  ...traits,
});
const plain = (kind) => (name, extensions, comments) => ({ name, extensions, kind, functions: "none", ...comments });
const code = plain("code");
const style = plain("style");
const markup = plain("markup");
const prose = plain("prose");
const data = plain("data");

const TABLE = [
  braces("JavaScript", "js jsx mjs cjs flow", { hasTemplates: true, hasRegex: true }),
  braces("TypeScript", "ts tsx mts cts", { hasTemplates: true, hasRegex: true }),
  braces("Java", "java"),
  braces("Kotlin", "kt kts"),
  braces("Scala", "scala sc", { hasArrowArms: true }),
  braces("Groovy", "groovy gradle"),
  braces("C", "c", { hasPreprocessor: true }),
  braces("C/C++ header", "h hh hpp hxx", { hasPreprocessor: true }),
  braces("C++", "cc cpp cxx c++ ipp", { hasPreprocessor: true }),
  braces("C#", "cs", { hasPreprocessor: true }),
  braces("Go", "go", { hasTemplates: true }),
  braces("Rust", "rs", { hasLifetimes: true, hasArrowArms: true }),
  braces("Swift", "swift"),
  braces("Dart", "dart"),
  braces("Objective-C", "m mm", { hasPreprocessor: true }),
  braces("Zig", "zig", { line: ["//"], block: [] }),
  braces("PHP", "php phtml", { line: ["//", "#"], block: [["/*", "*/"]] }),
  { name: "Python", extensions: "py pyi pyw", kind: "code", functions: "indent", ...HASH_COMMENTS, docstrings: true },
  code("Ruby", "rb rake gemspec", { line: ["#"], block: [["=begin", "=end"]] }),
  code("Shell", "sh bash zsh ksh fish", HASH_COMMENTS),
  code("PowerShell", "ps1 psm1", { line: ["#"], block: [["<#", "#>"]] }),
  code("Batch", "bat cmd", { line: ["rem ", "REM ", "::"], block: [] }),
  code("Perl", "pl pm", HASH_COMMENTS),
  code("Lua", "lua", { line: ["--"], block: [["--[[", "]]"]] }),
  code("SQL", "sql", { line: ["--"], block: [["/*", "*/"]] }),
  code("Elixir", "ex exs", HASH_COMMENTS),
  code("Erlang", "erl hrl", { line: ["%"], block: [] }),
  code("Haskell", "hs lhs", { line: ["--"], block: [["{-", "-}"]] }),
  code("OCaml", "ml mli", { line: [], block: [["(*", "*)"]] }),
  code("F#", "fs fsx fsi", { line: ["//"], block: [["(*", "*)"]] }),
  code("Clojure", "clj cljs cljc edn", SEMICOLON_COMMENTS),
  code("Lisp", "lisp el scm rkt", SEMICOLON_COMMENTS),
  code("R", "r", HASH_COMMENTS),
  code("Julia", "jl", { line: ["#"], block: [["#=", "=#"]] }),
  code("Nix", "nix", { line: ["#"], block: [["/*", "*/"]] }),
  code("Terraform", "tf tfvars hcl", { line: ["#", "//"], block: [["/*", "*/"]] }),
  code("Ada", "adb ads", DASH_COMMENTS),
  code("Assembly", "s asm", { line: [";", "#", "//"], block: [["/*", "*/"]] }),
  code("Visual Basic", "vb vbs bas", { line: ["'"], block: [] }),
  code("Fortran", "f f90 f95 f03", { line: ["!"], block: [] }),
  code("Protocol Buffers", "proto", C_COMMENTS),
  code("GraphQL", "graphql gql", HASH_COMMENTS),
  code("Vue", "vue", {
    line: ["//"],
    block: [
      ["/*", "*/"],
      ["<!--", "-->"],
    ],
  }),
  code("Svelte", "svelte", {
    line: ["//"],
    block: [
      ["/*", "*/"],
      ["<!--", "-->"],
    ],
  }),
  code("WebAssembly text", "wat wast", { line: [";;"], block: [["(;", ";)"]] }),
  style("CSS", "css", { line: [], block: [["/*", "*/"]] }),
  style("SCSS/Less", "scss less sass styl", C_COMMENTS),
  markup("HTML", "html htm xhtml ejs hbs mustache njk jinja j2", MARKUP_COMMENTS),
  markup("XML", "xml xsd xsl xslt plist csproj fsproj vbproj props targets wsdl", MARKUP_COMMENTS),
  markup("SVG", "svg", MARKUP_COMMENTS),
  prose("Markdown", "md markdown mdx", MARKUP_COMMENTS),
  prose("reStructuredText", "rst", NO_COMMENTS),
  prose("AsciiDoc", "adoc asciidoc", { line: ["//"], block: [] }),
  prose("Plain text", "txt text log", NO_COMMENTS),
  prose("TeX", "tex bib sty cls", { line: ["%"], block: [] }),
  data("JSON", "json json5 jsonc jsonl ndjson geojson webmanifest", { line: ["//"], block: [["/*", "*/"]] }),
  data("YAML", "yml yaml", HASH_COMMENTS),
  data("TOML", "toml", HASH_COMMENTS),
  data("INI and properties", "ini cfg conf properties env editorconfig npmrc", {
    line: ["#", ";"],
    block: [],
  }),
  data("CSV", "csv tsv", NO_COMMENTS),
  data("Source map", "map", NO_COMMENTS),
  data("Diff", "diff patch", NO_COMMENTS),
  data(
    "Ignore and attribute lists",
    "gitignore gitattributes npmignore dockerignore eslintignore prettierignore",
    HASH_COMMENTS,
  ),
];

const BY_FILE_NAME = new Map([
  ["Makefile", "Makefile"],
  ["GNUmakefile", "Makefile"],
  ["makefile", "Makefile"],
  ["Dockerfile", "Dockerfile"],
  ["Containerfile", "Dockerfile"],
  ["CMakeLists.txt", "CMake"],
  ["Gemfile", "Ruby"],
  ["Rakefile", "Ruby"],
  ["Vagrantfile", "Ruby"],
  ["Jenkinsfile", "Groovy"],
  ["go.mod", "Go module"],
  ["go.sum", "Lock file"],
  ["requirements.txt", "INI and properties"],
  [".env", "INI and properties"],
]);

const EXTRA = [
  code("Makefile", "mk mak", HASH_COMMENTS),
  code("Dockerfile", "dockerfile", HASH_COMMENTS),
  code("CMake", "cmake", HASH_COMMENTS),
  data("Go module", "", { line: ["//"], block: [] }),
  data("Lock file", "lock", HASH_COMMENTS),
  prose("Licence and notices", "", NO_COMMENTS),
];

const LOCK_FILES = new Set([
  "package-lock.json",
  "npm-shrinkwrap.json",
  "pnpm-lock.yaml",
  "composer.lock",
  "go.sum",
  "packages.lock.json",
]);
const INTERPRETERS = [
  [/\b(?:ba|z|k|da)?sh\b/, "Shell"],
  [/\bpython/, "Python"],
  [/\b(?:node|deno|bun|tsx)\b/, "JavaScript"],
  [/\bruby\b/, "Ruby"],
  [/\bperl\b/, "Perl"],
  [/\bphp\b/, "PHP"],
];

export const OTHER_TEXT = data("Other text", "", NO_COMMENTS);

const BY_NAME = new Map();
const BY_EXTENSION = new Map();
for (const entry of [...TABLE, ...EXTRA]) {
  BY_NAME.set(entry.name, entry);
  for (const extension of entry.extensions.split(" ")) if (extension) BY_EXTENSION.set(extension, entry);
}

/** The language of the given name. */
export function languageNamed(name) {
  return BY_NAME.get(name) ?? OTHER_TEXT;
}

/**
 * Tells the language of a file from its name, else from a `#!` line; OTHER_TEXT when neither says it.
 * @param {string} name last segment of the path
 * @param {string} firstLine first line of the content, or empty
 */
export function selectLanguage(name, firstLine = "") {
  if (LOCK_FILES.has(name)) return BY_NAME.get("Lock file");
  const byName = BY_FILE_NAME.get(name);
  if (byName) return BY_NAME.get(byName);
  if (
    /^(?:licen[cs]e|copying|notice|authors|contributors|readme|changelog|changes)(?:[-.][a-z0-9]+)?$/i.test(name) &&
    !/\.(?:md|js|ts|json|html|rst)$/i.test(name)
  ) {
    return BY_NAME.get("Licence and notices");
  }
  const dot = name.lastIndexOf(".");
  const byExtension = dot >= 0 ? BY_EXTENSION.get(name.slice(dot + 1).toLowerCase()) : undefined;
  if (byExtension) return byExtension;
  if (/^\.env(?:\.|$)/.test(name)) return BY_NAME.get("INI and properties");
  if (/^\.[a-z]+rc$/.test(name)) return BY_NAME.get("JSON");
  if (firstLine.startsWith("#!")) {
    const found = INTERPRETERS.find(([pattern]) => pattern.test(firstLine));
    if (found) return BY_NAME.get(found[1]);
  }
  return OTHER_TEXT;
}
