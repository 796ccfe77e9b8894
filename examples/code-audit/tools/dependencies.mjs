/**
 * The specialist `dependencies`: what is declared, what is installed, and under which licences, as far as files say.
 *
 * In a project: manifests, what they declare, and the licence of each declared npm dependency where it is installed or
 * locked, and of what the locks bring in besides. In a tree of installed packages (`node_modules`, `site-packages`): the licence of every package.
 *
 * Confidence:
 *   knowledge       manifests of a parsed format / manifests and other build files found (locks apart)
 *   information     declared, locked or installed packages with a known licence / all of them (1 when there are none)
 *   implementation  manifests read and parsed / manifests of a parsed format
 *   validation      licences read from an installed package or its licence text / licences known; locks count half
 */
import { baseName, folderOf, formatPath, joinPath } from "../lib/byte-paths.mjs";
import { confidenceOf, count, formatCount, share } from "../lib/figures.mjs";
import { readSmallText } from "../lib/files.mjs";
import { findLicence, parseLicenceField, selectLicenceGroup } from "../lib/licences.mjs";
import { capList, compareText, countBy } from "../lib/lists.mjs";
import { cleanText, reasonLoose, recogniseManifest } from "../lib/manifests.mjs";
import { createWalk, resolveRoot } from "../lib/walk.mjs";

const DECLARED_MAX = 250;
const ATTENTION_MAX = 120;
/** The groups of licences that a reader must look at, the gravest first. */
const ATTENTION = ["network copyleft", "strong copyleft", "restricted", "weak copyleft", "unknown", "other"];

export default function dependencies(request, channel) {
  const root = resolveRoot(request.folder);
  const walk = createWalk(root, { includeSkipped: request.includeSkipped });
  const found = { root, manifests: [], locks: [], notParsed: [], unparsable: [], installed: [] };
  for (const file of walk.files()) collect(found, file.path);
  channel.progress(0.5, count(found.manifests.length, "manifest"));
  const locked = readLocks(root, found.locks);
  const declared = resolveDeclared(found, locked);
  const packages = found.installed.length > 0 ? found.installed : [...declared, ...lockedOnly(declared, locked)];
  const output = { walked: walk.summarise(), ...summarise({ found, locked, declared, packages }) };
  return { output, ...judge(output, packages) };
}

function collect(found, path) {
  const name = baseName(path);
  const manifest = recogniseManifest(path);
  if (manifest?.kind === "lock") found.locks.push(path);
  else if (manifest?.kind === "not_parsed") found.notParsed.push(path);
  else if (manifest) readManifest(found, path, manifest);
  else if (name === "METADATA" && folderOf(path).endsWith(".dist-info")) readMetadata(found, path);
}

function readManifest({ root, manifests, installed, unparsable }, path, { ecosystem, parse }) {
  const place = `${root}/${path}`;
  const isInstalled = /\/node_modules\/(?:@[^/]+\/)?[^/@][^/]*\/package\.json$/.test(place);
  const isInsidePackage = place.includes("/node_modules/");
  const { text, error } = readSmallText(root, path);
  try {
    if (text === undefined) throw new Error(error);
    const manifest = { ecosystem, path, ...parse(text) };
    if (isInstalled) installed.push({ ...manifest, ...findLicence(root, folderOf(path), manifest.licence) });
    else if (!isInsidePackage) manifests.push({ ...manifest, ...findLicence(root, folderOf(path), manifest.licence) });
  } catch (problem) {
    const reason = String(problem.message)
      .split("\n")[0]
      .slice(0, 80)
      .replace(/["'].*$/, "")
      .trim();
    if (!isInsidePackage || isInstalled) unparsable.push({ path, reason: `cannot be parsed: ${reason}` });
  }
}

/** The metadata of an installed Python package. */
function readMetadata({ root, installed }, path) {
  const head = (readSmallText(root, path).text ?? "").split(/\r?\n\r?\n/, 1)[0];
  const field = (name) => new RegExp(`^${name}: (.+)$`, "mi").exec(head)?.[1]?.trim() ?? "";
  const classifier = /^Classifier: License :: (?:OSI Approved :: )?(.+?)(?: License)?$/im.exec(head)?.[1]?.trim() ?? "";
  const stated = field("License-Expression") || field("License");
  const licence = cleanText(stated !== "" && stated.length <= 60 ? stated : classifier);
  const package_ = { name: cleanText(field("Name")), version: cleanText(field("Version")), licence };
  if (package_.name) installed.push({ ecosystem: "Python", path, ...package_, source: licence ? "manifest" : "" });
}

/** What npm locks say: every package by `name version`, the outermost of each name, and their deprecations and scripts. */
function readLocks(root, paths) {
  const locked = { count: 0, entries: new Map(), byName: new Map(), deprecated: [], scripts: [] };
  for (const path of paths.filter((entry) => /(?:^|\/)(?:package-lock|npm-shrinkwrap)\.json$/.test(entry)))
    for (const [place, entry] of lockEntries(readSmallText(root, path).text)) addLocked(locked, place, entry);
  for (const list of [locked.deprecated, locked.scripts]) list.sort((a, b) => compareText(a.name, b.name));
  return locked;
}

function lockEntries(text = "{}") {
  try {
    const isPackage = ([place, entry]) =>
      place.includes("node_modules/") && entry !== null && typeof entry === "object";
    return Object.entries(JSON.parse(text).packages ?? {}).filter(isPackage);
  } catch {
    return [];
  }
}

function addLocked(locked, place, entry) {
  if (entry.link === true) return;
  const name = cleanText(place.slice(place.lastIndexOf("node_modules/") + "node_modules/".length));
  const version = cleanText(entry.version);
  const licence = cleanText(parseLicenceField(entry.license));
  const scope = entry.dev || entry.devOptional ? "development" : "runtime";
  const known = { ecosystem: "npm", name, version, licence, source: licence ? "lock" : "", scope };
  locked.count++;
  locked.entries.set(`${name} ${version}`, known);
  if (!locked.byName.has(name) || place === `node_modules/${name}`) locked.byName.set(name, known);
  if (typeof entry.deprecated === "string")
    locked.deprecated.push({ name, version, scope, message: cleanText(entry.deprecated) });
  if (entry.hasInstallScript === true) locked.scripts.push({ name, version, scope });
}

function lockedOnly(declared, { entries }) {
  const names = new Set(declared.filter(({ ecosystem }) => ecosystem === "npm").map(({ name }) => name));
  const others = [...entries.values()].filter(({ name }) => !names.has(name));
  return others.sort((a, b) => compareText(`${a.name} ${a.version}`, `${b.name} ${b.version}`));
}

/** Distinct declared dependencies with what is known of each; one that some manifest needs at run time is `runtime`. */
function resolveDeclared({ root, manifests }, locked) {
  const declared = new Map();
  const own = new Set(manifests.map(({ ecosystem, name }) => `${ecosystem} ${name}`));
  for (const { ecosystem, path, dependencies: wanted } of manifests) {
    for (const entry of wanted) {
      const key = `${ecosystem} ${entry.name}`;
      // A package of the same tree is no dependency on others.
      if (own.has(key)) continue;
      const known = declared.get(key) ?? { ecosystem, ...entry, licence: "", source: "", version: "", declared_in: 0 };
      declared.set(key, known);
      known.declared_in++;
      if (entry.scope === "runtime") known.scope = "runtime";
      if (ecosystem !== "npm" || known.version) continue;
      const disk = findInstalled(root, folderOf(path), entry.name) ?? locked.byName.get(entry.name);
      if (disk) Object.assign(known, { licence: disk.licence, source: disk.source, version: disk.version });
    }
  }
  return [...declared.values()].sort((a, b) => compareText(a.ecosystem + a.name, b.ecosystem + b.name));
}

/** An installed npm package as seen from a manifest: in the nearest `node_modules` upwards. */
function findInstalled(root, manifestFolder, name) {
  if (!/^(?:@[\w.~-]+\/)?[\w.~-]+$/.test(name) || name.includes("..")) return undefined;
  for (let folder = manifestFolder; ; folder = folderOf(folder)) {
    const own = joinPath(joinPath(folder, "node_modules"), name);
    const { text } = readSmallText(root, joinPath(own, "package.json"));
    if (text !== undefined) return readInstalled(root, own, text);
    if (folder === "") return undefined;
  }
}

function readInstalled(root, folder, text) {
  try {
    const { licence, version } = recogniseManifest("package.json").parse(text);
    return { version, ...findLicence(root, folder, licence) };
  } catch {
    return undefined;
  }
}

function summarise({ found, locked, declared, packages }) {
  const { manifests, locks, notParsed, unparsable, installed } = found;
  const showManifest = ({ path, ecosystem, name, licence, dependencies: list }) => {
    const runtime = list.filter(({ scope }) => scope === "runtime").length;
    return { path: formatPath(path), ecosystem, name, licence, dependencies: list.length, runtime };
  };
  const loose = declared
    .map(({ ecosystem, name, wanted, scope }) => ({
      ecosystem,
      name,
      wanted,
      scope,
      reason: reasonLoose(ecosystem, wanted),
    }))
    .filter(({ reason }) => reason !== "");
  const distinct = countBy(installed, ({ ecosystem, name }) => `${ecosystem} ${name}`);
  return {
    own_licence: findLicence(found.root, "", ""),
    mode: installed.length > 0 ? "installed packages" : "project",
    manifests: capList(manifests.map(showManifest)),
    locks: capList(locks.map(formatPath)),
    not_parsed: capList(notParsed.map(formatPath)),
    unparsable: capList(unparsable.map(({ path, reason }) => ({ path: formatPath(path), reason }))),
    declared: {
      ...capList(
        declared.map((entry) => ({ ...entry, licence: entry.licence || "unknown" })),
        DECLARED_MAX,
      ),
      by_scope: Object.fromEntries(countBy(declared, ({ scope }) => scope)),
      loose: capList(loose),
    },
    installed: {
      packages: installed.length,
      distinct: distinct.length,
      several_versions: capList(listVersions(installed)),
    },
    locked: {
      packages: locked.count,
      deprecated: capList(locked.deprecated),
      with_install_scripts: capList(locked.scripts),
    },
    licences: summariseLicences(packages),
    install_scripts: capList(
      installed
        .filter(({ installScripts = [] }) => installScripts.length > 0)
        .map(({ name, version, path, installScripts }) => ({
          name,
          version,
          path: formatPath(path),
          scripts: installScripts,
        })),
    ),
  };
}

function summariseLicences(packages) {
  const all = packages.map(({ ecosystem, name, version, licence, source, scope = "", path }) => {
    const known = { group: selectLicenceGroup(licence), ecosystem, name, version, licence: licence || "unknown" };
    return { ...known, source, scope, ...(path === undefined ? {} : { path: formatPath(path) }) };
  });
  const groupOf = new Map(all.map(({ licence, group }) => [licence, group]));
  const isFirst = new Map(ATTENTION.map((group, at) => [group, at]));
  const attention = all
    .filter(({ group }) => isFirst.has(group))
    .sort((a, b) => isFirst.get(a.group) - isFirst.get(b.group));
  const byLicence = countBy(all, ({ licence }) => licence);
  return {
    counted: all.length,
    by_licence: capList(byLicence.map(([licence, n]) => ({ licence, packages: n, group: groupOf.get(licence) }))),
    by_group: countBy(all, ({ group }) => group).map(([group, n]) => ({ group, packages: n })),
    attention: capList(attention, ATTENTION_MAX),
  };
}

function listVersions(installed) {
  const versions = new Map();
  for (const { name, version } of installed) versions.set(name, (versions.get(name) ?? new Set()).add(version));
  return [...versions]
    .filter(([, set]) => set.size > 1)
    .map(([name, set]) => ({ name, versions: [...set].sort(compareText) }))
    .sort((a, b) => b.versions.length - a.versions.length || compareText(a.name, b.name));
}

function judge({ walked, manifests, installed, unparsable, not_parsed: notParsed }, packages) {
  const known = packages.filter(({ licence }) => licence);
  const checked = known.reduce((sum, { source }) => sum + (source === "lock" ? 0.5 : 1), 0);
  const readable = manifests.total + installed.packages;
  const what = `${count(unparsable.total, "manifest")} that could not be read or parsed`;
  const paths = unparsable.items.slice(0, 12).map(({ path }) => path);
  return {
    confidence: confidenceOf(walked.files, [
      share(readable, readable + notParsed.total),
      share(known.length, packages.length),
      share(readable, readable + unparsable.total),
      share(checked, known.length),
    ]),
    factors: [
      `${formatCount(known.length)} of ${count(packages.length, "package")} with a licence that files here state`,
      `${count(unparsable.total, "manifest")} could not be parsed, ${count(notParsed.total, "build file")} of formats that are not parsed`,
    ],
    uncertainties:
      unparsable.total === 0 ? [] : [{ what, kind: "unparsable_manifest", files: unparsable.total, bytes: 0, paths }],
    assumptions: ["a licence field in a manifest is true", "no registry was asked: only files in the folder were read"],
  };
}
