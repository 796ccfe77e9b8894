/**
 * Owns what npm lock files say of packages that need not be installed: licence, deprecation, install scripts.
 */
import { baseName } from "./byte-paths.mjs";
import { readSmallText } from "./file-reader.mjs";
import { parseLicenceField } from "./licences.mjs";
import { cleanText } from "./manifests.mjs";

const LOCK_BYTES_MAX = 32 * 1024 * 1024;

/**
 * Reads all npm lock files of a tree.
 *
 * Shape: `packages` maps a name to `{version, licence, source: "lock"}` of its outermost entry;
 * `entries` holds every name and version once; `count` is of all places.
 * Errors: none; a lock that cannot be parsed adds nothing.
 */
export function readLock(root, paths) {
  const locks = { packages: new Map(), entries: new Map(), count: 0, deprecated: [], scripts: [] };
  for (const path of paths) {
    if (!["package-lock.json", "npm-shrinkwrap.json"].includes(baseName(path))) continue;
    const { text } = readSmallText(root, path, LOCK_BYTES_MAX);
    const entries = text === undefined ? [] : listEntries(text);
    for (const [place, entry] of entries) addEntry(locks, place, entry);
  }
  const byName = (a, b) => (`${a.name} ${a.version}` < `${b.name} ${b.version}` ? -1 : 1);
  locks.deprecated.sort(byName);
  locks.scripts.sort(byName);
  return locks;
}

function listEntries(text) {
  try {
    const { packages } = JSON.parse(text);
    return Object.entries(packages ?? {}).filter(
      ([place, entry]) => place.includes("node_modules/") && entry !== null && typeof entry === "object",
    );
  } catch {
    return [];
  }
}

function addEntry(locks, place, entry) {
  const name = place.slice(place.lastIndexOf("node_modules/") + "node_modules/".length);
  const version = cleanText(entry.version);
  const licence = cleanText(parseLicenceField(entry.license));
  locks.count++;
  locks.entries.set(`${name} ${version}`, {
    ecosystem: "npm",
    name: cleanText(name),
    version,
    licence,
    source: licence ? "lock" : "",
  });
  if (!locks.packages.has(name) || place === `node_modules/${name}`) {
    locks.packages.set(name, { version, licence, source: licence ? "lock" : "" });
  }
  if (typeof entry.deprecated === "string")
    locks.deprecated.push({ name: cleanText(name), version, message: cleanText(entry.deprecated) });
  if (entry.hasInstallScript === true) locks.scripts.push({ name: cleanText(name), version });
}
