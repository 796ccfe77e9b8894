/**
 * A scorer (dimension `evidence`): do the claims hold when someone goes back to the files and looks again?
 *
 * The score is the share of claims that hold, of each kind, averaged over the kinds that have claims, so that many easy
 * claims do not hide a few that fail. A report without any claim that could be checked scores 50. The first claims of each kind
 * are taken, in their order, so that the same outputs always lead to the same checks.
 */
import { lstatSync, readdirSync } from "node:fs";
import { absolutePath, parsePath } from "../lib/byte-paths.mjs";
import { meaningfulLines } from "../lib/clones.mjs";
import { forEachLine, inspectFile } from "../lib/files.mjs";
import { meanShare, share } from "../lib/figures.mjs";
import { searchFile } from "../lib/secrets.mjs";
import { resolveRoot } from "../lib/walk.mjs";

const CLAIMS_MAX = { paths: 1500, sizes: 25, lines: 8, secrets: 40, markers: 30, blocks: 12 };
const ISSUES_MAX = 20;
const SCORE_WITHOUT_CLAIMS = 50;

export default function scoreEvidence({ folder, outputs }) {
  const root = resolveRoot(folder);
  const kinds = Object.entries(listClaims(root, outputs))
    .map(([kind, claims]) => ({ kind, claims: claims.slice(0, CLAIMS_MAX[kind]).map((claim) => claim()) }))
    .filter(({ claims }) => claims.length > 0);
  const holding = (claims) => claims.filter(({ holds }) => holds).length;
  const failed = kinds.flatMap(({ claims }) => claims.filter(({ holds }) => !holds));
  const score = meanShare(kinds.map(({ claims }) => share(holding(claims), claims.length))) * 100;
  return {
    score: kinds.length === 0 ? SCORE_WITHOUT_CLAIMS : Math.round(score * 10) / 10,
    issues: failed
      .slice(0, ISSUES_MAX)
      .map(({ claim, where }) => ({ text: `does not hold: ${claim}`, severity: "high", where })),
    feedback: failed.length === 0 ? "" : `${failed.length} claims do not hold when the files are read again`,
    evidence: kinds.map(({ kind, claims }) => `${kind}: ${holding(claims)} of ${claims.length} hold`).join("; "),
  };
}

/** All claims by kind, each a function that looks again: `{claim, holds, where}`. */
function listClaims(root, { inventory, secrets, hotspots, duplicates, ...others }) {
  const claim = (text, where, check) => () => ({ claim: text, where, holds: check() });
  const found = secrets ? [...secrets.likely.items, ...secrets.doubtful.items] : [];
  const scanAgain = rememberLast((path) => openShown(root, path, searchFile));
  return {
    emptiness: inventory?.walked.files === 0 ? [claim("no file stands in the folder", ".", () => isEmpty(root))] : [],
    paths: [...collectPaths({ inventory, secrets, hotspots, duplicates, others })].map((path) =>
      claim(`${path} exists`, path, () => statusOf(root, path) !== undefined),
    ),
    sizes: (inventory?.largest_files ?? []).map(({ path, size_bytes: size }) =>
      claim(`${path} has ${size} bytes`, path, () => statusOf(root, path)?.size === size),
    ),
    lines: (inventory?.longest_sources ?? []).map(({ path, lines }) =>
      claim(`${path} has ${lines} lines`, path, () => linesOf(root, path).length === lines),
    ),
    secrets: found.map(({ path, line, kind, fingerprint }) =>
      claim(`${kind} at ${path}:${line}`, `${path}:${line}`, () =>
        scanAgain(path).some((seen) => seen.line === line && seen.kind === kind && seen.fingerprint === fingerprint),
      ),
    ),
    markers: (hotspots?.markers.places.items ?? []).map(({ path, line, marker }) =>
      claim(`${marker} at ${path}:${line}`, `${path}:${line}`, () => linesOf(root, path)[line - 1]?.includes(marker)),
    ),
    blocks: (duplicates?.blocks.items ?? []).map(({ lines, places: [first, second] }) =>
      claim(`${lines} equal lines at ${first.path}:${first.from} and ${second.path}:${second.from}`, first.path, () => {
        const [a, b] = [first, second].map((place) => comparedLines(root, place));
        return a.length === lines && a.join("\n") === b.join("\n");
      }),
    ),
  };
}

/** A path that may not be looked at is not absent. */
function statusOf(root, shownPath) {
  try {
    return lstatSync(absolutePath(root, parsePath(shownPath)), { throwIfNoEntry: false });
  } catch (error) {
    return error.code === "ENOTDIR" ? undefined : {};
  }
}

/** Every path in any output, but of files that are said to be gone. */
function collectPaths(value, found = new Set()) {
  if (value === null || typeof value !== "object" || value.exists === false) return found;
  if (typeof value.path === "string") found.add(value.path);
  for (const path of Array.isArray(value.paths) ? value.paths : []) if (typeof path === "string") found.add(path);
  for (const entry of Object.values(value)) collectPaths(entry, found);
  return found;
}

const isEmpty = (root) => !readdirSync(absolutePath(root, ""), { withFileTypes: true }).some((entry) => entry.isFile());
const openShown = (root, path, use) => inspectFile(root, { path: parsePath(path), sizeBytes: 0 }, use);

function linesOf(root, path) {
  const lines = [];
  openShown(root, path, (file) => forEachLine(file, (line, number) => (lines[number - 1] ??= line)));
  return lines;
}

function comparedLines(root, { path, from, to }) {
  const lines = openShown(root, path, meaningfulLines);
  return lines.filter(({ number }) => number >= from && number <= to).map(({ text }) => text);
}

function rememberLast(read) {
  let last = {};
  return (path) => {
    if (last.path !== path) last = { path, value: read(path) };
    return last.value;
  };
}
