/**
 * The walk over the audited folder: which files there are, in which order, and what was not entered. It opens no file.
 *
 * W1: files come in one order, segment by segment and by byte, whatever the file system returns.
 * W2: symbolic links are counted and never followed; FIFOs, sockets and devices are counted and never opened.
 * W3: nothing in the tree ends the walk: what cannot be entered is listed with the reason.
 * W4: what git tracks is no product of a build, whatever its folder is called, and what git ignores is none of the sources.
 *     Without git, a folder with the name of products is passed over at the top and beside a manifest.
 */
import { lstatSync, readdirSync, realpathSync, statSync } from "node:fs";
import { Buffer } from "node:buffer";
import { absolutePath, baseName, formatPath, joinPath } from "./byte-paths.mjs";
import { readIndex } from "./git.mjs";
import { capList, compareText } from "./lists.mjs";

const words = (text) => new Set(text.split(" "));
const VERSION_CONTROL = words(".git .hg .svn .bzr CVS");
const DEPENDENCIES = words(
  "node_modules bower_components jspm_packages vendor vendored deps third_party third-party 3rdparty site-packages dist-packages .venv venv virtualenv Pods Carthage .yarn .pnpm-store __pypackages__ .bundle",
);
const PRODUCTS = words(
  "dist build out outputs target coverage htmlcov .nyc_output .next .nuxt .output .splashdown .svelte-kit .turbo .parcel-cache .cache .gradle .tox .nox .mypy_cache .pytest_cache .ruff_cache __pycache__ .eggs .terraform .dart_tool .pc DerivedData _build",
);
const MANIFEST =
  /^(?:package\.json|Cargo\.toml|pom\.xml|build\.(?:gradle(?:\.kts)?|sbt)|pyproject\.toml|setup\.(?:py|cfg)|go\.mod|composer\.json|CMakeLists\.txt|configure|Makefile|.*\.(?:cs|fs|vb)proj)$/;
const SKIPPED_ENTRIES_MAX = 300_000;

/** The absolute path of the folder to audit, links resolved, one character per byte; an error where it is no folder. */
export function resolveRoot(folder) {
  const real = realpathSync(Buffer.from(folder || ".", "utf8"), { encoding: "buffer" });
  if (!statSync(real).isDirectory()) throw new Error(`not a folder: ${formatPath(real.toString("latin1"))}`);
  return real.toString("latin1");
}

/**
 * Prepares one walk: `files()` yields `{path, sizeBytes}`; after it has ended, `summarise()` tells the tally.
 * `countSkipped` also counts the files in folders that are passed over.
 */
export function createWalk(root, { includeSkipped = false, countSkipped = false } = {}) {
  const tally = { files: 0, folders: 0, symlinks: [], special: [], unreadable: [], skipped: [] };
  const walk = { root, tally, countSkipped, reasonToSkip: createSkipRule(root, includeSkipped) };
  return { files: () => walkFiles(walk), summarise: () => summarise(tally) };
}

/** The rule that answers why a folder is passed over, or `undefined` for one to look at. */
function createSkipRule(root, includeSkipped) {
  const above = root.split("/");
  const isInDependencies = above.some((name) => DEPENDENCIES.has(name));
  const isInProducts = isInDependencies || above.some((name) => PRODUCTS.has(name));
  const index = includeSkipped ? undefined : readIndex(root);
  return (path, name, siblings) => {
    if (VERSION_CONTROL.has(name)) return "version control data";
    if (includeSkipped) return undefined;
    if (!isInDependencies && DEPENDENCIES.has(name)) return "dependencies, written elsewhere";
    const reason = index && reasonOfGit(index, path);
    if (reason !== undefined) return reason || undefined;
    return !isInProducts && isProduct(path, name, siblings) ? "products of a build or a tool" : undefined;
  };
}

/** What git says against a folder; empty where it tracks files in it, `undefined` where it says nothing. */
function reasonOfGit({ submodules, tracked, ignored }, path) {
  if (submodules.has(path)) return "submodule: another repository";
  if (tracked.has(path)) return "";
  return ignored.has(path) ? "ignored by git" : undefined;
}

function isProduct(path, name, siblings) {
  const isAnywhere = !path.includes("/") || name.startsWith(".") || name.startsWith("__");
  return PRODUCTS.has(name) && (isAnywhere || siblings.some((entry) => MANIFEST.test(entry.name)));
}

function* walkFiles({ root, tally, countSkipped, reasonToSkip }) {
  const open = [{ folder: "", entries: readFolder(root, "", tally), next: 0 }];
  while (open.length > 0) {
    const top = open[open.length - 1];
    if (top.next >= top.entries.length) {
      open.pop();
      continue;
    }
    const entry = top.entries[top.next++];
    const path = joinPath(top.folder, entry.name);
    const reason = entry.type === "folder" ? reasonToSkip(path, entry.name, top.entries) : undefined;
    if (reason !== undefined)
      tally.skipped.push({ path, reason, ...(countSkipped ? countFiles(root, path) : { files: 0 }) });
    else if (entry.type === "folder") open.push({ folder: path, entries: readFolder(root, path, tally), next: 0 });
    else if (entry.type === "symlink") tally.symlinks.push(path);
    else if (entry.type !== "file") tally.special.push({ path, type: entry.type });
    else {
      tally.files++;
      yield describeFile(root, path);
    }
  }
}

function readFolder(root, path, tally) {
  try {
    const entries = readdirSync(absolutePath(root, path), { withFileTypes: true, encoding: "buffer" });
    tally.folders++;
    return entries
      .map((entry) => ({ name: entry.name.toString("latin1"), type: typeOf(entry) }))
      .sort((a, b) => compareText(a.name, b.name));
  } catch (error) {
    tally.unreadable.push({ path, reason: `folder cannot be read: ${error.code ?? error.message}` });
    return [];
  }
}

function typeOf(entry) {
  if (entry.isDirectory()) return "folder";
  if (entry.isFile()) return "file";
  if (entry.isSymbolicLink()) return "symlink";
  return entry.isFIFO() ? "fifo" : entry.isSocket() ? "socket" : "device";
}

function describeFile(root, path) {
  try {
    return { path, sizeBytes: lstatSync(absolutePath(root, path)).size };
  } catch (error) {
    return { path, sizeBytes: 0, error: error.code ?? error.message };
  }
}

/** Counts the files below a folder, at most SKIPPED_ENTRIES_MAX entries, without opening any. */
function countFiles(root, folder) {
  const waiting = [folder];
  let files = 0;
  let entries = 0;
  while (waiting.length > 0 && entries < SKIPPED_ENTRIES_MAX) {
    const path = waiting.pop();
    for (const entry of readFolder(root, path, { unreadable: [] })) {
      entries++;
      if (entry.type === "folder") waiting.push(joinPath(path, entry.name));
      else if (entry.type === "file") files++;
    }
  }
  return { files, counted_all: waiting.length === 0 };
}

/** The tally as it stands in outputs; skipped folders also by name and reason, those with most files first. */
function summarise({ files, folders, symlinks, special, unreadable, skipped }) {
  const shown = (list) => list.map((entry) => ({ ...entry, path: formatPath(entry.path) }));
  const groups = new Map();
  for (const { path, reason, files: inside, counted_all: isAll = true } of skipped) {
    const name = formatPath(baseName(path));
    const key = `${name} ${reason}`;
    const group = groups.get(key) ?? {
      name,
      reason,
      folders: 0,
      files: 0,
      counted_all: true,
      example: formatPath(path),
    };
    groups.set(key, group);
    group.folders++;
    group.files += inside;
    group.counted_all &&= isAll;
  }
  const byName = [...groups.values()].sort((a, b) => b.files - a.files || compareText(a.name, b.name));
  return {
    files,
    folders,
    symlinks: capList(symlinks.map(formatPath)),
    special: capList(shown(special)),
    unreadable_folders: capList(shown(unreadable)),
    skipped_folders: capList(shown(skipped)),
    skipped_by_name: capList(byName),
  };
}
