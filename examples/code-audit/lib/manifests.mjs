/**
 * Owns the reading of manifests: which file declares dependencies, and which ones.
 *
 * A parser is a function from text to `{name?, version?, licence?, dependencies: [{name, wanted, scope}]}`; it throws on
 * what it cannot read, and the caller reports that. Formats that are only locks or are programs (setup.py, build.gradle)
 * are recognised and listed as not parsed, never guessed.
 *
 * M1: text from a manifest is data: URLs lose their user part, and names and versions are cut at a sane length.
 */
import { formatPath, toByteString } from "./byte-paths.mjs";
import { parseLicenceField } from "./licences.mjs";
import { parseCargo, parsePyproject } from "./toml-manifests.mjs";

const TEXT_MAX = 120;
const NPM_SCOPES = {
  dependencies: "runtime",
  devDependencies: "development",
  peerDependencies: "peer",
  optionalDependencies: "optional",
};

const PARSERS = [
  { ecosystem: "npm", fits: (name) => name === "package.json", parse: parsePackageJson },
  {
    ecosystem: "Python",
    fits: (name) => /^(?:requirements|constraints)[\w.-]*\.txt$/.test(name),
    parse: parseRequirements,
  },
  { ecosystem: "Python", fits: (name) => name === "pyproject.toml", parse: parsePyproject },
  { ecosystem: "Go", fits: (name) => name === "go.mod", parse: parseGoModule },
  { ecosystem: "Rust", fits: (name) => name === "Cargo.toml", parse: parseCargo },
  { ecosystem: "Maven", fits: (name) => name === "pom.xml", parse: parsePom },
  { ecosystem: "Ruby", fits: (name) => name === "Gemfile", parse: parseGemfile },
  { ecosystem: "PHP", fits: (name) => name === "composer.json", parse: parseComposer },
  { ecosystem: ".NET", fits: (name) => /\.(?:cs|fs|vb)proj$/.test(name), parse: parseProject },
];

const LOCKS = new Set([
  "package-lock.json",
  "npm-shrinkwrap.json",
  "yarn.lock",
  "pnpm-lock.yaml",
  "bun.lock",
  "poetry.lock",
  "uv.lock",
  "Pipfile.lock",
  "Cargo.lock",
  "go.sum",
  "Gemfile.lock",
  "composer.lock",
  "packages.lock.json",
]);
const NOT_PARSED = new Set([
  "setup.py",
  "setup.cfg",
  "Pipfile",
  "environment.yml",
  "build.gradle",
  "build.gradle.kts",
  "build.sbt",
  "mix.exs",
  "pubspec.yaml",
  "Package.swift",
  "Podfile",
  "conanfile.txt",
  "conanfile.py",
  "vcpkg.json",
  "flake.nix",
  "deno.json",
]);

/** What a file name says: `{kind: "manifest", ecosystem, parse}`, `{kind: "lock"}`, `{kind: "not_parsed"}` or `undefined`. */
export function recogniseManifest(name) {
  const parser = PARSERS.find(({ fits }) => fits(name));
  if (parser)
    return { kind: "manifest", ecosystem: parser.ecosystem, parse: (text) => cleanManifest(parser.parse(text)) };
  if (LOCKS.has(name)) return { kind: "lock" };
  return NOT_PARSED.has(name) ? { kind: "not_parsed" } : undefined;
}

/** Text from a manifest as it may stand in an output (M1). */
export function cleanText(value) {
  const text = String(value ?? "")
    .slice(0, TEXT_MAX)
    .replace(/:\/\/[^/@\s]*@/g, "://");
  return formatPath(toByteString(text));
}

function cleanManifest({ name, version, licence, dependencies, ...rest }) {
  return {
    ...rest,
    name: cleanText(name),
    version: cleanText(version),
    licence: cleanText(licence),
    dependencies: dependencies.map((entry) => ({
      name: cleanText(entry.name),
      wanted: cleanText(entry.wanted),
      scope: entry.scope,
    })),
  };
}

function entriesOf(table, scope) {
  if (table === null || typeof table !== "object" || Array.isArray(table)) return [];
  return Object.entries(table).map(([name, wanted]) => ({
    name,
    wanted: typeof wanted === "string" ? wanted : "",
    scope,
  }));
}

function parsePackageJson(text) {
  const json = JSON.parse(text);
  if (json === null || typeof json !== "object" || Array.isArray(json)) throw new Error("no JSON object");
  const scripts = ["preinstall", "install", "postinstall"].filter((name) => typeof json.scripts?.[name] === "string");
  return {
    name: json.name,
    version: json.version,
    licence: parseLicenceField(json.license ?? json.licenses),
    installScripts: scripts,
    dependencies: Object.entries(NPM_SCOPES).flatMap(([key, scope]) => entriesOf(json[key], scope)),
  };
}

function parseComposer(text) {
  const json = JSON.parse(text);
  const real = (entry) => entry.name !== "php" && !entry.name.startsWith("ext-");
  return {
    name: json.name,
    version: json.version,
    licence: parseLicenceField(json.license),
    dependencies: [...entriesOf(json.require, "runtime"), ...entriesOf(json["require-dev"], "development")].filter(
      real,
    ),
  };
}

function parseRequirements(text) {
  const dependencies = [];
  for (const raw of text.replace(/\\\r?\n/g, " ").split(/\r?\n/)) {
    const line = raw.replace(/(?:^|\s)#.*$/, "").trim();
    const match = /^([A-Za-z0-9][\w.-]*)\s*(?:\[[^\]]*\])?\s*(.*?)(?:\s*;.*|\s+--.*)?$/.exec(line);
    if (match && !line.startsWith("-"))
      dependencies.push({ name: match[1], wanted: match[2].trim(), scope: "runtime" });
  }
  return { dependencies };
}

function parseGoModule(text) {
  const dependencies = [];
  let isInBlock = false;
  for (const raw of text.split("\n")) {
    const line = raw.trim();
    if (/^require\s*\($/.test(line)) isInBlock = true;
    else if (line === ")") isInBlock = false;
    else if (isInBlock || line.startsWith("require ")) {
      const match = /^(?:require\s+)?([\w./~-]+\.[\w./~-]+)\s+(v[\w.+-]+)(\s*\/\/\s*indirect)?/.exec(
        line.slice(0, 500),
      );
      if (match) dependencies.push({ name: match[1], wanted: match[2], scope: match[3] ? "indirect" : "runtime" });
    }
  }
  return { name: /^module[ \t]+(\S+)/m.exec(text)?.[1], dependencies };
}

/** The texts between an opening and a closing tag; linear in the text, whatever is left open. */
function between(text, opening, closing) {
  return text
    .split(opening)
    .slice(1)
    .map((part) => part.split(closing, 1)[0]);
}

function withoutBetween(text, opening, closing) {
  return text
    .split(opening)
    .map((part, at) =>
      at === 0 ? part : part.slice(part.indexOf(closing) >= 0 ? part.indexOf(closing) + closing.length : part.length),
    )
    .join("");
}

function parsePom(text) {
  const clean = withoutBetween(text, "<!--", "-->");
  if (!clean.includes("<project")) throw new Error("no <project> element");
  const field = (block, name) => (between(block, `<${name}>`, `</${name}>`)[0] ?? "").trim();
  const dependencies = between(clean, "<dependency>", "</dependency>").map((block) => ({
    name: `${field(block, "groupId")}:${field(block, "artifactId")}`,
    wanted: field(block, "version"),
    scope: field(block, "scope") === "test" ? "development" : "runtime",
  }));
  const own = withoutBetween(withoutBetween(clean, "<parent>", "</parent>"), "<dependencies>", "</dependencies>");
  return {
    name: field(own, "artifactId"),
    version: field(own, "version"),
    licence: field(between(own, "<licenses>", "</licenses>")[0] ?? "", "name"),
    dependencies,
  };
}

function parseGemfile(text) {
  return {
    dependencies: [...text.matchAll(/^\s*gem\s+["']([^"']+)["'](?:\s*,\s*["']([^"']+)["'])?/gm)].map(
      ([, name, wanted]) => ({ name, wanted: wanted ?? "", scope: "runtime" }),
    ),
  };
}

function parseProject(text) {
  return {
    dependencies: between(text, "<PackageReference", ">")
      .map((tag) => ({
        name: /Include="([^"]+)"/.exec(tag)?.[1] ?? "",
        wanted: /Version="([^"]+)"/.exec(tag)?.[1] ?? "",
        scope: "runtime",
      }))
      .filter(({ name }) => name !== ""),
  };
}

/** Whether a wanted version lets nearly anything in, or comes from outside the registry; empty when neither. */
export function reasonLoose(ecosystem, wanted) {
  if (/^(?:git[+:]|github:|https?:|ssh:|git@)/.test(wanted) || (ecosystem === "Python" && wanted.startsWith("@")))
    return "comes from a URL";
  if (ecosystem === "npm" && /^(?:file:|link:)/.test(wanted)) return "comes from a local path";
  if (/^(?:\*|x|latest|>=?\s*0(?:\.0)*)?$/.test(wanted) && ["npm", "PHP", "Rust"].includes(ecosystem))
    return "any version";
  return ecosystem === "Python" && wanted === "" ? "any version" : "";
}
