/**
 * How much of a tree could be understood, and what could not: the uncertainties.
 *
 * Relevant is everything that could hold source: all but assets, source maps and empty files. Understood is relevant
 * text that is neither generated nor minified nor undecodable nor very large.
 *
 * U1: information = mean of (understood files / relevant files) and (understood bytes / relevant bytes).
 * U2: only what is not understood is an uncertainty; one uncertainty per kind, largest files named first.
 */
import { formatPath } from "./byte-paths.mjs";
import { count, formatBytes, meanShare, share } from "./figures.mjs";
import { insertLargest } from "./lists.mjs";

const LISTED_MAX = 40;
const NAMED_MAX = 12;

/** What is set apart, by kind, as people call it. */
export const APART = {
  unreadable: "that could not be read",
  binary: "with binary content",
  generated: "marked as generated",
  minified: "that are minified",
  undecodable: "in an unknown encoding",
  very_large: "too large to be analysed",
};

/** The state of a measurement, plain enough for a milestone. */
export function createUnderstanding() {
  const apart = Object.fromEntries(Object.keys(APART).map((kind) => [kind, { files: 0, bytes: 0, largest: [] }]));
  return { relevant: { files: 0, bytes: 0 }, understood: { files: 0, bytes: 0 }, apart };
}

const isIrrelevant = (file) => file.class === "asset" || file.class === "empty" || file.reason === "source map";

/** What a file is set apart as, or `undefined` when it is understood or holds no source. */
export function reasonApart(file) {
  if (isIrrelevant(file)) return undefined;
  if (file.class in APART) return file.class;
  if (file.isUndecodable) return "undecodable";
  return file.isVeryLarge ? "very_large" : undefined;
}

/** Folds one file into the measurement. */
export function foldUnderstanding(state, file) {
  if (isIrrelevant(file)) return;
  const kind = reasonApart(file);
  for (const sum of [state.relevant, kind === undefined ? state.understood : state.apart[kind]]) {
    sum.files++;
    sum.bytes += file.sizeBytes;
  }
  if (kind === undefined) return;
  const reason = file.reason || (kind === "undecodable" ? "neither UTF-8 nor marked UTF-16" : "over 2 MiB");
  insertLargest(state.apart[kind].largest, { value: file.sizeBytes, path: formatPath(file.path), reason }, LISTED_MAX);
}

/** The shares of files and bytes understood, and their mean (U1). */
export function measureUnderstanding({ relevant, understood }) {
  const files = share(understood.files, relevant.files);
  const bytes = share(understood.bytes, relevant.bytes);
  return { files, bytes, mean: meanShare([files, bytes]), relevant: { ...relevant }, understood: { ...understood } };
}

/** What was set apart, per kind, as it stands in outputs. */
export function listApart({ apart }) {
  const show = ({ value, path, reason }) => ({ path, size_bytes: value, reason });
  return Object.fromEntries(
    Object.entries(apart).map(([kind, { files, bytes, largest }]) => [
      kind,
      { files, bytes, items: largest.map(show), cut: files - largest.length },
    ]),
  );
}

/** The uncertainties of a measurement (U2), plus one for folders that could not be entered. */
export function listUncertainties({ apart }, { unreadable_folders: folders }) {
  const pathsOf = (list) => list.slice(0, NAMED_MAX).map(({ path }) => path);
  const list = Object.entries(apart)
    .filter(([, { files }]) => files > 0)
    .map(([kind, { files, bytes, largest }]) => {
      const what = `${count(files, "file")} ${APART[kind]} (${formatBytes(bytes)})`;
      return { what, kind, files, bytes, paths: pathsOf(largest) };
    });
  if (folders.total === 0) return list;
  const what = `${count(folders.total, "folder")} that could not be entered`;
  return [...list, { what, kind: "unreadable_folder", files: 0, bytes: 0, paths: pathsOf(folders.items) }];
}
