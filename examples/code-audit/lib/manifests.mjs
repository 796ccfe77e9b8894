/**
 * Manifests: which file declares dependencies, and which ones.
 *
 * A parser is a function from text to `{name?, version?, licence?, dependencies: [{name, wanted, scope}]}`; it throws on
 * what it cannot read, and the caller reports that. Formats that are only locks or are programs (setup.py, build.gradle)
 * are recognised and listed as not parsed, never guessed.
 *
 * M1: text from a manifest is data: URLs lose their user part, and names and versions are cut at a sane length.
 * M2: a package is no dependency of itself, and what only developers, tests or documentation need is `development`.
 */
import { parse as parseToml } from "smol-toml";
import { baseName, formatPath, toByteString } from "./byte-paths.mjs";
import { parseLicenceField } from "./licences.mjs";

const TEXT_MAX = 120;
const words = (text) => new Set(text.split(" "));
const LOCKS = words(
  "package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock poetry.lock uv.lock Pipfile.lock Cargo.lock go.sum Gemfile.lock composer.lock packages.lock.json",
);
const NOT_PARSED = words(
  "setup.py setup.cfg Pipfile environment.yml build.gradle build.gradle.kts build.sbt mix.exs pubspec.yaml Package.swift Podfile conanfile.txt conanfile.py vcpkg.json flake.nix deno.json configure.ac CMakeLists.txt meson.build",
);
const PARSERS = [
  ["npm", /^package\.json$/, parsePackageJson],
  ["Python", /^(?:requirements|constraints)[\w.-]*\.txt$/, parseRequirements],
  ["Python", /^pyproject\.toml$/, parsePyproject],
  ["Go", /^go\.mod$/, parseGoModule],
  ["Rust", /^Cargo\.toml$/, parseCargo],
  ["Maven", /^pom\.xml$/, parsePom],
  ["Ruby", /^Gemfile$/, parseGemfile],
  ["PHP", /^composer\.json$/, parseComposer],
  [".NET", /\.(?:cs|fs|vb)proj$/, parseProject],
];
const DEVELOPMENT =
  /(?:^|[-_.])(?:dev|development|tests?|testing|docs?|doc|lint|typing|types|ci|build|release|bench)(?:[-_.]|$)/i;
const DEVELOPMENT_FOLDER =
  /(?:^|\/)(?:\.[\w-]+|tests?|specs?|fixtures?|testdata|docs?|website|examples?|samples?|demos?|bench(?:marks?)?|e2e)\//i;

/** What a path says: `{kind: "manifest", ecosystem, parse}`, `{kind: "lock"}`, `{kind: "not_parsed"}` or `undefined`. */
export function recogniseManifest(path) {
  const name = baseName(path);
  if (LOCKS.has(name)) return { kind: "lock" };
  if (NOT_PARSED.has(name)) return { kind: "not_parsed" };
  const [ecosystem, , parse] = PARSERS.find(([, pattern]) => pattern.test(name)) ?? [];
  const isDevelopment = DEVELOPMENT_FOLDER.test(path) || (name.endsWith(".txt") && DEVELOPMENT.test(name.slice(0, -4)));
  return parse && { kind: "manifest", ecosystem, parse: (text) => cleanManifest(parse(text), isDevelopment) };
}

/** Text from a manifest as it may stand in an output (M1). */
export function cleanText(value) {
  const text = String(value ?? "").slice(0, TEXT_MAX);
  return formatPath(toByteString(text.replace(/:\/\/[^/@\s]*@/g, "://")));
}

function cleanManifest({ name, version, licence, dependencies, ...rest }, isDevelopment) {
  const isOther = (entry) => entry.name !== "" && entry.name !== name;
  const clean = ({ name: own, wanted, scope: stated }) => {
    const scope = isDevelopment ? "development" : stated;
    return { name: cleanText(own), wanted: cleanText(wanted), scope };
  };
  const texts = { name: cleanText(name), version: cleanText(version), licence: cleanText(licence) };
  return { ...rest, ...texts, dependencies: dependencies.filter(isOther).map(clean) };
}

/** The entries of a table `{name: version}` or `{name: {version}}`. */
function entriesOf(table, scope) {
  if (table === null || typeof table !== "object" || Array.isArray(table)) return [];
  return Object.entries(table).map(([name, value]) => {
    const { version, git, path } = value ?? {};
    const wanted = typeof value === "string" ? value : git ? `git+${git}` : (version ?? (path ? `file:${path}` : ""));
    return { name: value?.package ?? name, wanted, scope };
  });
}

function parseObject(text) {
  const json = JSON.parse(text);
  if (json === null || typeof json !== "object" || Array.isArray(json)) throw new Error("no JSON object");
  return json;
}

function parsePackageJson(text) {
  const json = parseObject(text);
  return {
    name: json.name,
    version: json.version,
    licence: parseLicenceField(json.license ?? json.licenses),
    installScripts: ["preinstall", "install", "postinstall"].filter((name) => typeof json.scripts?.[name] === "string"),
    dependencies: [
      ...entriesOf(json.dependencies, "runtime"),
      ...entriesOf(json.devDependencies, "development"),
      ...entriesOf(json.peerDependencies, "peer"),
      ...entriesOf(json.optionalDependencies, "optional"),
    ],
  };
}

function parseComposer(text) {
  const { name, version, license, require: runtime, "require-dev": development } = parseObject(text);
  const all = [...entriesOf(runtime, "runtime"), ...entriesOf(development, "development")];
  const isPackage = (entry) => entry.name !== "php" && !/^(?:ext|lib)-/.test(entry.name);
  return { name, version, licence: parseLicenceField(license), dependencies: all.filter(isPackage) };
}

/** One requirement as Python writes it: `name[extra] >=1,<2 ; marker`. */
function parseRequirement(text, scope) {
  const match = /^([A-Za-z0-9][\w.-]*)\s*(?:\[[^\]]*\])?\s*(.*?)\s*(?:;.*|\s--.*)?$/.exec(text.trim());
  return match ? [{ name: match[1], wanted: match[2].replace(/^\((.*)\)$/, "$1"), scope }] : [];
}

function parseRequirements(text) {
  const lines = text.replace(/\\\r?\n/g, " ").split(/\r?\n/);
  return { dependencies: lines.flatMap((line) => parseRequirement(line.replace(/(?:^|\s)#.*$/, ""), "runtime")) };
}

function parsePyproject(text) {
  const { project = {}, tool = {}, "dependency-groups": groups = {} } = parseToml(text);
  const { poetry = {} } = tool;
  const listed = (list, scope) =>
    (Array.isArray(list) ? list : []).flatMap((entry) =>
      typeof entry === "string" ? parseRequirement(entry, scope) : [],
    );
  const extras = Object.entries(project["optional-dependencies"] ?? {});
  const poetryGroups = Object.values(poetry.group ?? {}).map((group) => group?.dependencies);
  const dependencies = [
    ...listed(project.dependencies, "runtime"),
    ...extras.flatMap(([name, list]) => listed(list, DEVELOPMENT.test(name) ? "development" : "optional")),
    ...Object.values(groups).flatMap((list) => listed(list, "development")),
    ...entriesOf(poetry.dependencies, "runtime").filter(({ name }) => name !== "python"),
    ...[poetry["dev-dependencies"], ...poetryGroups].flatMap((table) => entriesOf(table, "development")),
  ];
  const { name = poetry.name, version = poetry.version, license = poetry.license } = project;
  return { name, version, licence: parseLicenceField(license), dependencies };
}

function parseCargo(text) {
  const manifest = parseToml(text);
  const { package: own = {}, workspace = {}, target = {} } = manifest;
  const of = (tables) => [
    ...entriesOf(tables.dependencies, "runtime"),
    ...entriesOf(tables["dev-dependencies"], "development"),
    ...entriesOf(tables["build-dependencies"], "development"),
  ];
  const dependencies = [manifest, workspace, ...Object.values(target)].flatMap(of);
  return { name: own.name, version: own.version, licence: parseLicenceField(own.license), dependencies };
}

function parseGoModule(text) {
  const blocks = [...text.matchAll(/^require\s*\(([^)]*)\)/gm)].flatMap(([, block]) => block.split("\n"));
  const lines = [...blocks, ...text.split("\n").flatMap((line) => /^require\s+([^(].*)/.exec(line)?.[1] ?? [])];
  const dependencies = lines.flatMap((line) => {
    const match = /^\s*([\w./~-]+)\s+(v[\w.+-]+)(\s*\/\/\s*indirect)?/.exec(line.slice(0, 500));
    return match ? [{ name: match[1], wanted: match[2], scope: match[3] ? "indirect" : "runtime" }] : [];
  });
  return { name: /^module[ \t]+(\S+)/m.exec(text)?.[1], dependencies };
}

/** The texts between an opening and a closing tag; linear in the text, whatever is left open. */
const between = (text, name) =>
  text
    .split(`<${name}>`)
    .slice(1)
    .map((part) => part.split(`</${name}>`, 1)[0]);
const without = (text, opening, closing) =>
  text
    .split(opening)
    .map((part, at) => (at === 0 ? part : part.split(closing).slice(1).join(closing)))
    .join("");

function parsePom(text) {
  const clean = without(text, "<!--", "-->");
  if (!clean.includes("<project")) throw new Error("no <project> element");
  const field = (block, name) => (between(block, name)[0] ?? "").trim();
  const own = ["parent", "dependencies", "build"].reduce((rest, tag) => without(rest, `<${tag}>`, `</${tag}>`), clean);
  const parent = between(clean, "parent")[0] ?? "";
  const ofProject = (name) => field(own, name) || field(parent, name);
  const resolve = (value) =>
    value.replace(/\$\{(?:project|pom)\.(groupId|version)\}/g, (_all, name) => ofProject(name));
  const used = without(without(clean, "<plugin>", "</plugin>"), "<dependencyManagement>", "</dependencyManagement>");
  const dependencies = between(used, "dependency").map((block) => ({
    name: resolve(`${field(block, "groupId")}:${field(block, "artifactId")}`),
    wanted: resolve(field(block, "version")),
    scope: field(block, "scope") === "test" ? "development" : "runtime",
  }));
  const licence = field(between(own, "licenses")[0] ?? "", "name");
  const name = [ofProject("groupId"), field(own, "artifactId")].filter(Boolean).join(":");
  return { name, version: ofProject("version"), licence, dependencies };
}

function parseGemfile(text) {
  const gems = text.matchAll(/^\s*gem\s+["']([^"']+)["'](?:\s*,\s*["']([^"']+)["'])?/gm);
  return { dependencies: [...gems].map(([, name, wanted = ""]) => ({ name, wanted, scope: "runtime" })) };
}

function parseProject(text) {
  const tags = text
    .split("<PackageReference")
    .slice(1)
    .map((part) => part.split(">", 1)[0]);
  const attribute = (tag, name) => new RegExp(`${name}="([^"]+)"`).exec(tag)?.[1] ?? "";
  const read = (tag) => ({ name: attribute(tag, "Include"), wanted: attribute(tag, "Version"), scope: "runtime" });
  return { dependencies: tags.map(read) };
}

/** Whether a wanted version lets anything in, or comes from outside the registry; empty when neither. */
export function reasonLoose(ecosystem, wanted) {
  if (/^(?:git[+:]|github:|https?:|ssh:|git@)/.test(wanted) || (ecosystem === "Python" && wanted.startsWith("@")))
    return "comes from a URL";
  if (ecosystem === "npm" && /^(?:file:|link:)/.test(wanted)) return "comes from a local path";
  const isAny = /^(?:\*|x|latest|>=?\s*0(?:\.0)*)?$/.test(wanted);
  return isAny && ["npm", "PHP", "Rust", "Python"].includes(ecosystem) ? "any version" : "";
}
