/**
 * Owns checking claims against the files: each check goes back to the tree and looks again.
 *
 * A check answers a list of `{claim, holds, where}`; it takes the first few claims of each kind, in their order, so that
 * the same outputs always lead to the same checks.
 */
import { lstatSync, readdirSync } from "node:fs";
import { absolutePath, parsePath } from "./byte-paths.mjs";
import { normaliseLine } from "./clone-lines.mjs";
import { forEachLine, inspectFile } from "./file-reader.mjs";
import { createLineCounter } from "./line-counter.mjs";
import { findLicence, readNpmPackage } from "./package-licences.mjs";
import { searchFile } from "./secret-search.mjs";

const PATHS_MAX = 1500;
const SECRETS_MAX = 40;
const MARKERS_MAX = 30;
const BLOCKS_MAX = 12;
const SIZES_MAX = 25;
const COUNTS_MAX = 8;
const LICENCES_MAX = 30;

function sizeOf(root, shownPath) {
  try {
    return lstatSync(absolutePath(root, parsePath(shownPath))).size;
  } catch {
    return undefined;
  }
}

/** Whether a path is surely not there; one that may not be looked at is not absent. */
function isAbsent(root, shownPath) {
  try {
    lstatSync(absolutePath(root, parsePath(shownPath)));
    return false;
  } catch (error) {
    return error.code === "ENOENT" || error.code === "ENOTDIR";
  }
}

function collectPaths(value, found) {
  if (Array.isArray(value)) {
    for (const entry of value) collectPaths(entry, found);
  } else if (value !== null && typeof value === "object") {
    if (value.exists === false) return;
    if (typeof value.path === "string") found.add(value.path);
    for (const path of Array.isArray(value.paths) ? value.paths : []) if (typeof path === "string") found.add(path);
    for (const entry of Object.values(value)) collectPaths(entry, found);
  }
}

/** Every path in any output exists. */
export function checkPaths(root, outputs) {
  const paths = new Set();
  collectPaths(outputs, paths);
  return [...paths]
    .slice(0, PATHS_MAX)
    .map((path) => ({ claim: `${path} exists`, holds: !isAbsent(root, path), where: path }));
}

/** The largest files have the sizes given, and the longest sources the lines. */
export function checkSizes(root, { inventory }) {
  const sizes = (inventory?.largest_files ?? []).slice(0, SIZES_MAX).map(({ path, size_bytes: size }) => ({
    claim: `${path} has ${size} bytes`,
    holds: sizeOf(root, path) === size,
    where: path,
  }));
  const lines = (inventory?.longest_sources ?? []).slice(0, COUNTS_MAX).map(({ path, lines: count }) => ({
    claim: `${path} has ${count} lines`,
    holds: countLines(root, path) === count,
    where: path,
  }));
  return [...sizes, ...lines];
}

const openShown = (root, path, use) => inspectFile(root, { path: parsePath(path), sizeBytes: 0 }, use);

function countLines(root, path) {
  let count = 0;
  openShown(root, path, (file) =>
    forEachLine(file, (_line, _number, isContinuation) => {
      if (!isContinuation) count++;
    }),
  );
  return count;
}

/** Every suspected secret is found again on its line, with the same fingerprint. */
export function checkSecrets(root, { secrets }) {
  const findings = [...(secrets?.likely?.items ?? []), ...(secrets?.doubtful?.items ?? [])].slice(0, SECRETS_MAX);
  const again = new Map();
  for (const path of new Set(findings.map((finding) => finding.path))) again.set(path, scanAgain(root, path));
  return findings.map(({ path, line, kind, fingerprint }) => ({
    claim: `${kind} at ${path}:${line}`,
    holds: again.get(path).has(`${line} ${kind} ${fingerprint}`),
    where: `${path}:${line}`,
  }));
}

function scanAgain(root, path) {
  const seen = new Set();
  openShown(root, path, (file) => {
    for (const { line, kind, fingerprint } of searchFile(file)) seen.add(`${line} ${kind} ${fingerprint}`);
  });
  return seen;
}

/** Every marker stands on its line. */
export function checkMarkers(root, { hotspots }) {
  const places = (hotspots?.markers?.places?.items ?? []).slice(0, MARKERS_MAX);
  return places.map(({ path, line, marker }) => ({
    claim: `${marker} at ${path}:${line}`,
    holds: linesOf(root, path, { from: line, to: line })[0]?.includes(marker) === true,
    where: `${path}:${line}`,
  }));
}

function linesOf(root, path, { from, to }) {
  const lines = [];
  openShown(root, path, (file) =>
    forEachLine(file, (line, number) => {
      if (number >= from && number <= to) lines.push(line);
    }),
  );
  return lines;
}

/** Where no file was found, there is none beside the folders. */
export function checkEmptiness(root, { inventory }) {
  if (inventory?.walked.files !== 0) return [];
  return [
    {
      claim: "no file stands in the folder",
      holds: !readdirSync(root, { withFileTypes: true }).some(isFile),
      where: ".",
    },
  ];
}

const isFile = (entry) => entry.isFile();

/** Duplicated blocks read the same in their first two places, and are as long as stated. */
export function checkBlocks(root, { duplicates }) {
  return (duplicates?.blocks?.items ?? []).slice(0, BLOCKS_MAX).map(({ lines, places }) => {
    const [first, second] = places.slice(0, 2).map((place) => meaningfulLines(root, place));
    return {
      claim: `${lines} equal lines at ${places[0].path}:${places[0].from} and ${places[1].path}:${places[1].from}`,
      holds: first.length === lines && first.join("\n") === second.join("\n"),
      where: `${places[0].path}:${places[0].from}`,
    };
  });
}

function meaningfulLines(root, { path, from, to }) {
  const lines = [];
  openShown(root, path, (file) => {
    if (!file.language) return;
    const counter = createLineCounter(file.language);
    forEachLine(file, (line, number, isContinuation) => {
      const text =
        !isContinuation && counter.add(line) === "code" && number >= from && number <= to
          ? normaliseLine(line)
          : undefined;
      if (text !== undefined) lines.push(text);
    });
  });
  return lines;
}

/** Licences that call for attention are read again from the package. */
export function checkLicences(root, { dependencies }) {
  const { copyleft, restricted } = dependencies?.licences ?? {};
  const packages = [...(copyleft?.items ?? []), ...(restricted?.items ?? [])]
    .filter(({ path, ecosystem }) => path && ecosystem === "npm")
    .slice(0, LICENCES_MAX);
  return packages.map(({ name, licence, path }) => {
    const folder = parsePath(path).replace(/\/?package\.json$/, "");
    const again = readNpmPackage(root, folder);
    return {
      claim: `${name} is under ${licence}`,
      holds: again !== undefined && findLicence(root, folder, again.licence).licence === licence,
      where: path,
    };
  });
}
