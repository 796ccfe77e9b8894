/**
 * Owns the question how much of a tree could be understood, and the list of what could not: the uncertainties.
 *
 * Relevant is everything that could hold source: all but assets, source maps and empty files. Understood is relevant
 * text read in full, neither generated nor minified nor undecodable nor very large.
 *
 * U1: information = mean of (understood files / relevant files) and (understood bytes / relevant bytes).
 * U2: only what is not understood is an uncertainty; one uncertainty per kind, largest files named first.
 */
import { formatPath } from "./byte-paths.mjs";
import { insertLargest } from "./bounded-lists.mjs";
import { VERY_LARGE_BYTES } from "./file-kinds.mjs";
import { formatBytes, formatCount, meanShare, share } from "./confidence.mjs";

const LISTED_MAX = 40;
const NAMED_MAX = 12;

const KINDS = {
  unreadable: "files that could not be read",
  binary: "binary files whose content was not analysed",
  oversized: "texts too large to be read whole",
  generated: "files marked as generated; their source was not identified",
  minified: "minified files; their structure was not analysed",
  undecodable: "texts in an unknown encoding",
  very_large: "very large texts; lines counted, structure not analysed",
};

/** The state of a measurement, plain enough for a milestone. */
export function createUnderstanding() {
  const apart = {};
  for (const kind of Object.keys(KINDS)) apart[kind] = { files: 0, bytes: 0, largest: [] };
  return { relevant: { files: 0, bytes: 0 }, understood: { files: 0, bytes: 0 }, apart };
}

/** What a file is set apart as, or `undefined` when it is understood or holds no source. */
export function reasonApart(file) {
  if (file.class === "generated" && file.reason === "source map") return undefined;
  if (file.class in KINDS) return file.class;
  if (file.isUndecodable) return "undecodable";
  return file.isVeryLarge && (file.class === "source" || file.class === "text") ? "very_large" : undefined;
}

/** Folds one file into the measurement. */
export function foldUnderstanding(state, file) {
  const isIrrelevant = file.class === "asset" || file.class === "empty" || file.reason === "source map";
  if (isIrrelevant) return;
  addTo(state.relevant, file.sizeBytes);
  const kind = reasonApart(file);
  if (kind === undefined) {
    addTo(state.understood, file.sizeBytes);
    return;
  }
  const apart = state.apart[kind];
  addTo(apart, file.sizeBytes);
  const reason =
    file.reason ||
    (kind === "undecodable" ? "neither UTF-8 nor marked UTF-16" : `over ${formatBytes(VERY_LARGE_BYTES)}`);
  insertLargest(apart.largest, { value: file.sizeBytes, path: formatPath(file.path), reason }, LISTED_MAX);
}

function addTo(sum, bytes) {
  sum.files++;
  sum.bytes += bytes;
}

/** The shares of files and bytes understood, and their mean (U1). */
export function measureUnderstanding({ relevant, understood }) {
  const files = share(understood.files, relevant.files);
  const bytes = share(understood.bytes, relevant.bytes);
  return { files, bytes, mean: meanShare([files, bytes]), relevant: { ...relevant }, understood: { ...understood } };
}

/** What was set apart, per kind, as it stands in outputs. */
export function listApart({ apart }) {
  return Object.fromEntries(
    Object.entries(apart).map(([kind, { files, bytes, largest }]) => [
      kind,
      {
        files,
        bytes,
        items: largest.map(({ value, path, reason }) => ({ path, size_bytes: value, reason })),
        cut: files - largest.length,
      },
    ]),
  );
}

/** The uncertainties of a measurement (U2), plus one for folders that could not be entered. */
export function listUncertainties({ apart }, walked) {
  const list = [];
  for (const [kind, { files, bytes, largest }] of Object.entries(apart)) {
    if (files === 0) continue;
    list.push({
      what: `${formatCount(files)} ${KINDS[kind]} (${formatBytes(bytes)})`,
      kind,
      files,
      bytes,
      paths: largest.slice(0, NAMED_MAX).map(({ path }) => path),
    });
  }
  const folders = walked.unreadable_folders;
  if (folders.total > 0) {
    list.push({
      what: `${formatCount(folders.total)} folders that could not be entered`,
      kind: "unreadable_folder",
      files: 0,
      bytes: 0,
      paths: folders.items.slice(0, NAMED_MAX).map(({ path }) => path),
    });
  }
  return list;
}
