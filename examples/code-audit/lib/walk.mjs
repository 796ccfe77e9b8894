/**
 * Owns the walk over the audited folder: which files there are, in which order, and what was not entered.
 *
 * `file-kinds` and `file-reader` own what is inside a file; this module opens none.
 *
 * W1: files come in one order, segment by segment and by byte, whatever the file system returns.
 * W2: symbolic links are counted and never followed; FIFOs, sockets and devices are counted and never opened.
 * W3: nothing in the tree ends the walk: what cannot be entered is listed with the reason.
 * W4: depth costs memory in the walk's own stack only, never in the call stack.
 */
import { lstatSync, readdirSync, realpathSync, statSync } from "node:fs";
import { Buffer } from "node:buffer";
import { absolutePath, baseName, formatPath, joinPath } from "./byte-paths.mjs";
import { capList } from "./bounded-lists.mjs";
import { selectSkipRules } from "./skip-rules.mjs";

const SKIPPED_ENTRIES_MAX = 300_000;
const LISTED_MAX = 60;

/**
 * Resolves the folder to audit.
 *
 * Shape: the absolute path, links resolved, one character per byte.
 * Errors: a missing folder, or something that is no folder.
 */
export function resolveRoot(folder) {
  const real = realpathSync(Buffer.from(folder || ".", "utf8"), { encoding: "buffer" });
  if (!statSync(real).isDirectory()) throw new Error(`not a folder: ${formatPath(real.toString("latin1"))}`);
  return real.toString("latin1");
}

/**
 * Prepares one walk below `root`.
 *
 * Shape: `files()` yields `{path, sizeBytes, mode}`; after it has ended, `tally` is complete.
 * @param {string} root from `resolveRoot`
 * @param {{includeSkipped?: boolean, countSkipped?: boolean}} options `countSkipped` also counts the files in skipped folders
 */
export function createWalk(root, { includeSkipped = false, countSkipped = false } = {}) {
  const reasonToSkip = selectSkipRules(root, includeSkipped);
  const tally = { files: 0, folders: 0, symlinks: [], special: [], unreadable: [], skipped: [] };
  return { root, tally, files: () => walkFiles({ root, tally, reasonToSkip, countSkipped }) };
}

function* walkFiles({ root, tally, reasonToSkip, countSkipped }) {
  const open = [{ folder: "", entries: readFolder(root, "", tally), next: 0 }];
  while (open.length > 0) {
    const top = open[open.length - 1];
    if (top.next >= top.entries.length) {
      open.pop();
      continue;
    }
    const entry = top.entries[top.next++];
    const path = joinPath(top.folder, entry.name);
    if (entry.type !== "folder") {
      const file = admitFile({ root, path, type: entry.type, tally });
      if (file) yield file;
      continue;
    }
    const reason = reasonToSkip(entry.name);
    if (reason === undefined) open.push({ folder: path, entries: readFolder(root, path, tally), next: 0 });
    else tally.skipped.push({ path, reason, ...(countSkipped ? countFiles(root, path) : {}) });
  }
}

function readFolder(root, path, tally) {
  try {
    const entries = readdirSync(absolutePath(root, path), { withFileTypes: true, encoding: "buffer" });
    tally.folders++;
    return entries
      .map((entry) => ({ name: entry.name.toString("latin1"), type: entryType(entry) }))
      .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  } catch (error) {
    tally.unreadable.push({ path, reason: `folder cannot be read: ${error.code ?? error.message}` });
    return [];
  }
}

function entryType(entry) {
  if (entry.isDirectory()) return "folder";
  if (entry.isFile()) return "file";
  if (entry.isSymbolicLink()) return "symlink";
  if (entry.isFIFO()) return "fifo";
  if (entry.isSocket()) return "socket";
  return "device";
}

function admitFile({ root, path, type, tally }) {
  if (type === "symlink") tally.symlinks.push(path);
  else if (type !== "file") tally.special.push({ path, type });
  else {
    tally.files++;
    try {
      const status = lstatSync(absolutePath(root, path));
      return { path, sizeBytes: status.size, mode: status.mode };
    } catch (error) {
      return { path, sizeBytes: 0, mode: 0, error: error.code ?? error.message };
    }
  }
  return undefined;
}

/** Counts the files below a skipped folder, at most SKIPPED_ENTRIES_MAX entries, without opening any. */
function countFiles(root, start) {
  let files = 0;
  let seen = 0;
  const open = [start];
  while (open.length > 0) {
    const folder = open.pop();
    let entries;
    try {
      entries = readdirSync(absolutePath(root, folder), { withFileTypes: true, encoding: "buffer" });
    } catch {
      continue;
    }
    for (const entry of entries) {
      if (++seen > SKIPPED_ENTRIES_MAX) return { files, counted_all: false };
      if (entry.isDirectory()) open.push(joinPath(folder, entry.name.toString("latin1")));
      else if (entry.isFile()) files++;
    }
  }
  return { files, counted_all: true };
}

/** Counts the files a walk will yield, so that progress has a denominator. */
export function countWalk(root, options) {
  let files = 0;
  for (const _file of createWalk(root, options).files()) files++;
  return files;
}

/** The tally as it stands in outputs: counts, capped lists, shown paths. */
export function summariseTally(tally) {
  const shown = (entry) => ({ ...entry, path: formatPath(entry.path) });
  return {
    files: tally.files,
    folders: tally.folders,
    symlinks: capList(
      tally.symlinks.map((path) => formatPath(path)),
      LISTED_MAX,
    ),
    special: capList(tally.special.map(shown), LISTED_MAX),
    unreadable_folders: capList(tally.unreadable.map(shown), LISTED_MAX),
    skipped_folders: capList(tally.skipped.map(shown), LISTED_MAX),
    skipped_by_name: capList(groupSkipped(tally.skipped), LISTED_MAX),
  };
}

/** Skipped folders by their name: how many, with how many files. */
function groupSkipped(skipped) {
  const groups = new Map();
  for (const { path, reason, files, counted_all: isAll } of skipped) {
    const name = formatPath(baseName(path));
    const group = groups.get(name) ?? {
      name,
      reason,
      folders: 0,
      files: 0,
      counted_all: true,
      example: formatPath(path),
    };
    group.folders++;
    group.files += files ?? 0;
    group.counted_all = group.counted_all && isAll === true;
    groups.set(name, group);
  }
  return [...groups.values()].sort((a, b) => b.files - a.files || (a.name < b.name ? -1 : 1));
}
