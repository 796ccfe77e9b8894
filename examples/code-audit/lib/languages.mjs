/**
 * The table of languages: how a file name tells the language, and what its comments and strings look like.
 *
 * A row is `name | kind | extensions | syntax`. The kind is code (has functions), style, markup, prose or data. Syntax:
 *   c            // and /* *\/ as comments; the other comments are written out, a block comment as its two marks
 *   braces, indent   how functions are found; without one of them no function is ever claimed
 *   template     strings between backquotes run over lines; regex: /…/ may be a regular expression
 *   triple       strings between triple quotes run over lines; one that stands alone is a comment
 *   lifetime     a single quote may open no string; arms: => opens no function; worded: functions have a word
 *                (fn, func …); directive: a # line is the preprocessor's
 */

const TABLE = `
JavaScript | code | js jsx mjs cjs flow | c braces template regex
TypeScript | code | ts tsx mts cts | c braces template regex
Java | code | java | c braces
Kotlin | code | kt kts | c braces worded
Scala | code | scala sc | c braces arms worded
Groovy | code | groovy gradle | c braces
C | code | c | c braces directive
C/C++ header | code | h hh hpp hxx | c braces directive
C++ | code | cc cpp cxx c++ ipp | c braces directive
C# | code | cs | c braces directive
Go | code | go | c braces template worded
Rust | code | rs | c braces lifetime arms worded
Swift | code | swift | c braces worded
Dart | code | dart | c braces
Objective-C | code | m mm | c braces directive
Zig | code | zig | // braces worded
PHP | code | php phtml | c # braces worded
Python | code | py pyi pyw | # indent triple
Ruby | code | rb rake gemspec | # =begin..=end
Shell | code | sh bash zsh ksh fish bats | #
PowerShell | code | ps1 psm1 | # <#..#>
Batch | code | bat cmd | rem REM ::
Perl | code | pl pm t | # =pod..=cut =head1..=cut
Lua | code | lua | -- --[[..]]
Tcl | code | tcl tk | #
SQL | code | sql | -- /*..*/
Elixir | code | ex exs | #
Erlang | code | erl hrl | %
Haskell | code | hs lhs | -- {-..-}
OCaml | code | ml mli | (*..*)
F# | code | fs fsx fsi | // (*..*)
Clojure | code | clj cljs cljc edn | ;
Lisp | code | lisp el scm rkt | ;
R | code | r | #
Julia | code | jl | # #=..=#
Nix | code | nix | # /*..*/
Terraform | code | tf tfvars hcl | c #
Ada | code | adb ads | --
Assembly | code | s asm | c ; #
Visual Basic | code | vb vbs bas | '
Fortran | code | f f90 f95 f03 | !
Protocol Buffers | code | proto | c
GraphQL | code | graphql gql | #
Vue | code | vue | // /*..*/ <!--..-->
Svelte | code | svelte | // /*..*/ <!--..-->
WebAssembly text | code | wat wast | ;; (;..;)
Makefile | code | mk mak am | #
Dockerfile | code | dockerfile | #
CMake | code | cmake | #
M4 | code | m4 ac | dnl #
CSS | style | css | /*..*/
SCSS/Less | style | scss less sass styl | c
HTML | markup | html htm xhtml ejs hbs mustache njk jinja j2 erb twig | <!--..-->
XML | markup | xml vcxproj filters xsd xsl xslt plist csproj fsproj vbproj props targets wsdl | <!--..-->
SVG | markup | svg | <!--..-->
Manual page | markup | 1 2 3 4 5 6 7 8 | .\\"
Markdown | prose | md markdown mdx | <!--..-->
reStructuredText | prose | rst |
AsciiDoc | prose | adoc asciidoc |
Plain text | prose | txt text log |
TeX | prose | tex bib sty cls |
Licence and notices | prose | |
JSON | data | json json5 jsonc jsonl ndjson geojson webmanifest | c
YAML | data | yml yaml | #
TOML | data | toml | #
INI and properties | data | ini cfg conf properties env editorconfig npmrc | # ;
CSV | data | csv tsv |
Source map | data | map |
Diff | data | diff patch |
Ignore and attribute lists | data | gitignore gitattributes npmignore dockerignore eslintignore prettierignore | #
Go module | data | | //
Lock file | data | lock | #
Other text | data | |`;

const FILE_NAMES = `Makefile GNUmakefile makefile = Makefile; Dockerfile Containerfile = Dockerfile; CMakeLists.txt = CMake;
Gemfile Rakefile Vagrantfile = Ruby; Jenkinsfile = Groovy; go.mod = Go module; requirements.txt .env = INI and properties;
package-lock.json npm-shrinkwrap.json pnpm-lock.yaml composer.lock go.sum packages.lock.json = Lock file`;

const INTERPRETERS = [
  [/\b(?:ba|z|k|da)?sh\b/, "Shell"],
  [/\bpython/, "Python"],
  [/\b(?:node|deno|bun|tsx)\b/, "JavaScript"],
  [/\bruby\b/, "Ruby"],
  [/\bperl\b/, "Perl"],
  [/\bphp\b/, "PHP"],
];
const NOTICE = /^(?:licen[cs]e|copying|notice|authors|contributors|readme|changelog|changes)(?:[-.][a-z0-9]+)?$/i;
const TRAITS = ["braces", "indent", "template", "regex", "triple", "lifetime", "arms", "directive", "worded"];

const byName = new Map();
const byExtension = new Map();
for (const row of TABLE.trim().split("\n")) {
  const [name, kind, extensions, syntax = ""] = row.split("|").map((cell) => cell.trim());
  const marks = syntax.split(" ").flatMap((mark) => (mark === "c" ? ["//", "/*..*/"] : [mark]));
  const traits = marks.filter((mark) => TRAITS.includes(mark));
  const comments = marks.filter((mark) => mark !== "" && !TRAITS.includes(mark));
  const language = {
    name,
    kind,
    functions: traits.find((trait) => trait === "braces" || trait === "indent") ?? "none",
    traits: new Set(traits),
    line: comments.filter((mark) => !mark.includes("..")),
    block: comments.filter((mark) => mark.includes("..")).map((mark) => mark.split("..")),
  };
  byName.set(name, language);
  for (const extension of extensions.split(" ").filter(Boolean)) byExtension.set(extension, language);
}
const byFileName = new Map(
  FILE_NAMES.split(";").flatMap((entry) => {
    const [names, language] = entry.split(" = ");
    return names
      .trim()
      .split(" ")
      .map((name) => [name, byName.get(language)]);
  }),
);

/** The language of text of which nothing is known. */
export const OTHER_TEXT = byName.get("Other text");

/** The language of the given name. */
export function languageNamed(name) {
  return byName.get(name) ?? OTHER_TEXT;
}

/** Tells the language of a file from its name, else from its first line. */
export function selectLanguage(name, firstLine = "") {
  const known = byFileName.get(name);
  if (known) return known;
  if (NOTICE.test(name) && !/\.(?:md|js|ts|json|html|rst)$/i.test(name)) return byName.get("Licence and notices");
  const dot = name.lastIndexOf(".");
  const language = dot >= 0 ? byExtension.get(name.slice(dot + 1).toLowerCase()) : undefined;
  if (language) return language;
  if (/^\.env(?:\.|$)/.test(name)) return byName.get("INI and properties");
  if (/^\.[a-z]+rc$/.test(name)) return byName.get("JSON");
  const interpreter = firstLine.startsWith("#!") && INTERPRETERS.find(([pattern]) => pattern.test(firstLine));
  return interpreter ? byName.get(interpreter[1]) : OTHER_TEXT;
}
