#!/usr/bin/env node
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
import { baseName, folderOf } from "../lib/byte-paths.mjs";
import { formatCount, share } from "../lib/confidence.mjs";
import { summariseDependencies } from "../lib/dependency-summary.mjs";
import { readSmallText } from "../lib/file-reader.mjs";
import { readLock } from "../lib/npm-lock.mjs";
import { recogniseManifest } from "../lib/manifests.mjs";
import { findInstalled, findLicence, readPythonMetadata } from "../lib/package-licences.mjs";
import { requestedFolder, requestedIncludeSkipped, runTool } from "../lib/protocol.mjs";
import { createWalk, resolveRoot, summariseTally } from "../lib/walk.mjs";

const MANIFEST_BYTES_MAX = 8 * 1024 * 1024;

/** Reads every manifest of the tree into one collection. */
function collect(root, walk, channel) {
  const found = { root, manifests: [], locks: [], notParsed: [], unparsable: [], installed: [], seen: 0 };
  for (const file of walk.files()) {
    if (++found.seen % 5000 === 0) channel.progress(0.5, `${formatCount(found.seen)} files looked through`);
    const name = baseName(file.path);
    const kind = recogniseManifest(name);
    if (kind?.kind === "lock") found.locks.push(file.path);
    else if (kind?.kind === "not_parsed") found.notParsed.push(file.path);
    else if (kind) readManifest(found, file.path, kind);
    else if (name === "METADATA" && folderOf(file.path).endsWith(".dist-info")) readMetadata(found, file.path);
  }
  return found;
}

function readManifest(found, path, { ecosystem, parse }) {
  const { text, error } = readSmallText(found.root, path, MANIFEST_BYTES_MAX);
  if (text === undefined) {
    found.unparsable.push({ path, reason: `cannot be read: ${error}` });
    return;
  }
  try {
    const manifest = parse(text);
    if (ecosystem === "npm" && isInstalledPackage(found.root, path)) {
      const { licence, source } = findLicence(found.root, folderOf(path), manifest.licence);
      found.installed.push({
        ecosystem,
        path,
        name: manifest.name,
        version: manifest.version,
        licence,
        source,
        installScripts: manifest.installScripts,
      });
    } else if (ecosystem !== "npm" || manifest.name || manifest.dependencies.length > 0) {
      found.manifests.push({ ecosystem, path, ...manifest });
    }
  } catch (problem) {
    const isInside = ecosystem === "npm" && isInsidePackage(found.root, path);
    if (!isInside)
      found.unparsable.push({
        path,
        reason: `cannot be parsed: ${String(problem.message)
          .slice(0, 80)
          .replace(/["'].*$/s, "")
          .trim()}`,
      });
  }
}

const fullPath = (root, path) => `${root}/${path}`;

/** Whether a manifest is that of an installed package itself: `node_modules/name/` or `node_modules/@scope/name/`. */
function isInstalledPackage(root, path) {
  return /\/node_modules\/(?:@[^/]+\/)?[^/@][^/]*\/package\.json$/.test(fullPath(root, path));
}

function isInsidePackage(root, path) {
  return fullPath(root, path).includes("/node_modules/");
}

function readMetadata(found, path) {
  const { text } = readSmallText(found.root, path, MANIFEST_BYTES_MAX);
  if (text === undefined) return;
  const { name, version, licence } = readPythonMetadata(text);
  if (name)
    found.installed.push({
      ecosystem: "Python",
      path,
      name,
      version,
      licence,
      source: licence ? "manifest" : "",
      installScripts: [],
    });
}

/** Distinct declared dependencies with what is known of each. */
function resolveDeclared(found, locks) {
  const declared = new Map();
  for (const manifest of found.manifests) {
    if (isInsidePackage(found.root, manifest.path)) continue;
    for (const { name, wanted, scope } of manifest.dependencies) {
      const key = `${manifest.ecosystem} ${name}`;
      const entry = declared.get(key) ?? {
        ecosystem: manifest.ecosystem,
        name,
        wanted,
        scope,
        licence: "",
        source: "",
        installed_version: "",
        declared_in: [],
      };
      entry.declared_in.push(manifest.path);
      if (scope === "runtime") entry.scope = scope;
      if (manifest.ecosystem === "npm" && !entry.installed_version) fillFromDisk(entry, { found, locks, manifest });
      declared.set(key, entry);
    }
  }
  return [...declared.values()].sort((a, b) => (a.ecosystem + a.name < b.ecosystem + b.name ? -1 : 1));
}

function fillFromDisk(entry, { found, locks, manifest }) {
  const installed = findInstalled(found.root, folderOf(manifest.path), entry.name);
  const known = installed ?? locks.packages.get(entry.name);
  if (!known) return;
  entry.licence = known.licence;
  entry.source = known.source;
  entry.installed_version = known.version;
}

/** The packages whose licences are counted: all installed ones, or all declared ones and what the locks add to them. */
function selectPackages(found, declared, locks) {
  if (found.installed.length > 0) return found.installed;
  const names = new Set(declared.filter(({ ecosystem }) => ecosystem === "npm").map(({ name }) => name));
  const locked = [...locks.entries.values()].filter(({ name }) => !names.has(name));
  return [...declared, ...locked.sort((a, b) => (`${a.name} ${a.version}` < `${b.name} ${b.version}` ? -1 : 1))];
}

function judge(output, packages) {
  const known = packages.filter(({ licence }) => licence);
  const checked = known.reduce((sum, { source }) => sum + (source === "lock" ? 0.5 : 1), 0);
  const readable = output.manifests.total + output.installed.packages;
  const uncertainties =
    output.unparsable.total === 0
      ? []
      : [
          {
            what: `${formatCount(output.unparsable.total)} manifests that could not be read or parsed`,
            kind: "unparsable_manifest",
            files: output.unparsable.total,
            bytes: 0,
            paths: output.unparsable.items.slice(0, 12).map(({ path }) => path),
          },
        ];
  return {
    output,
    confidence: {
      knowledge: share(readable, readable + output.not_parsed.total),
      information: share(known.length, packages.length),
      implementation: share(readable, readable + output.unparsable.total),
      validation: share(checked, known.length),
    },
    factors: [
      `${formatCount(known.length)} of ${formatCount(packages.length)} packages have a licence that files here state`,
      `${formatCount(output.unparsable.total)} manifests could not be parsed, ${formatCount(output.not_parsed.total)} build files are of formats that are not parsed`,
    ],
    uncertainties,
    blockers: [],
    assumptions: [
      "a licence field in a manifest is true",
      "no registry was asked: only files below the audited folder were read",
    ],
  };
}

await runTool((request, channel) => {
  const root = resolveRoot(requestedFolder(request));
  const walk = createWalk(root, { includeSkipped: requestedIncludeSkipped(request) });
  const found = collect(root, walk, channel);
  const locks = readLock(root, found.locks);
  const declared = resolveDeclared(found, locks);
  const packages = selectPackages(found, declared, locks);
  const projectManifests = found.manifests.filter(({ path }) => !isInsidePackage(found.root, path));
  const walked = summariseTally(walk.tally);
  return judge(summariseDependencies({ found, walked, projectManifests, declared, locks, packages }), packages);
});
