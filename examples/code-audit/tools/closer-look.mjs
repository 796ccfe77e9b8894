#!/usr/bin/env node
/**
 * The further specialist `closer-look`: examines what the others could not understand, one path at a time.
 *
 * It gets the uncertainties of the phase, `{what, kind, bytes, paths}`, merges those of the same kind, and examines every
 * named path (lib/close-examination.mjs). An uncertainty without paths, or a plain text, is listed as not examinable.
 *
 * Confidence:
 *   knowledge       paths explained, partly explained counting half / paths examined
 *   information     bytes of the paths examined / bytes of all files the uncertainties speak of
 *   implementation  paths examined / paths named
 *   validation      paths whose findings rest on recognised content, not unknown / paths examined
 * With nothing to examine all four are 0: whoever could clear up nothing must not lift another's confidence.
 */
import { lstatSync } from "node:fs";
import { compareText } from "../lib/bounded-lists.mjs";
import { absolutePath, comparePaths, formatPath, parsePath } from "../lib/byte-paths.mjs";
import { examinePath, isExaminable } from "../lib/close-examination.mjs";
import { formatBytes, formatCount, share } from "../lib/confidence.mjs";
import { requestedFolder, runTool } from "../lib/protocol.mjs";
import { resolveRoot } from "../lib/walk.mjs";

const PATHS_MAX = 120;

/** Merges uncertainties by kind, so that no path is examined twice for the same doubt. */
function mergeByKind(uncertainties) {
  const kinds = new Map();
  const others = new Set();
  for (const entry of uncertainties) {
    if (isUsable(entry)) mergeInto(kinds, entry);
    else others.add(typeof entry === "string" ? entry : String(entry?.what ?? JSON.stringify(entry)));
  }
  return {
    kinds: [...kinds.values()].sort((a, b) => compareText(a.kind, b.kind)),
    others: [...others].sort(compareText),
  };
}

function isUsable(entry) {
  if (entry === null || typeof entry !== "object" || !Array.isArray(entry.paths)) return false;
  return isExaminable(entry.kind) && entry.paths.length > 0;
}

function mergeInto(kinds, { kind, what, files, bytes, paths }) {
  const merged = kinds.get(kind) ?? { kind, what: new Set(), files: 0, bytes: 0, paths: new Set() };
  merged.what.add(String(what));
  merged.files = Math.max(merged.files, Number(files) || 0);
  merged.bytes = Math.max(merged.bytes, Number(bytes) || 0);
  for (const path of paths) merged.paths.add(String(path));
  kinds.set(kind, merged);
}

function examineAll({ root, kinds, channel }) {
  const items = [];
  const named = kinds.reduce((sum, { paths }) => sum + paths.size, 0);
  for (const { kind, paths } of kinds) {
    for (const path of [...paths].map(parsePath).sort(comparePaths)) {
      if (items.length >= PATHS_MAX || isOutside(path)) continue;
      const { findings, verdict, remains } = examinePath(root, path, kind);
      items.push({ path: formatPath(path), kind, size_bytes: sizeOf(root, path), verdict, findings, remains });
      channel.progress(items.length / named, `${items.length} of ${named} examined`);
    }
  }
  return { items, named };
}

/** A path from outside stays outside: absolute paths and `..` are not followed. */
function isOutside(path) {
  return path.startsWith("/") || path.split("/").includes("..");
}

function sizeOf(root, path) {
  try {
    const status = lstatSync(absolutePath(root, path));
    return status.isFile() ? status.size : 0;
  } catch {
    return 0;
  }
}

function summariseKind({ kind, what, files, bytes }, items) {
  const own = items.filter((item) => item.kind === kind);
  const count = (verdict) => own.filter((item) => item.verdict === verdict).length;
  const examinedBytes = own.reduce((sum, item) => sum + item.size_bytes, 0);
  return {
    kind,
    what: [...what].sort(compareText),
    files,
    bytes,
    examined: own.length,
    examined_bytes: examinedBytes,
    explained: count("explained"),
    partly: count("partly"),
    unknown: count("unknown"),
    not_examined: Math.max(0, files - own.length),
  };
}

function judge({ kinds, others, items, named }) {
  const summaries = kinds.map((kind) => summariseKind(kind, items));
  const sum = (key) => summaries.reduce((total, entry) => total + entry[key], 0);
  const confidence =
    items.length === 0
      ? { knowledge: 0, information: 0, implementation: 0, validation: 0 }
      : {
          knowledge: share(sum("explained") + sum("partly") / 2, items.length),
          information: share(sum("examined_bytes"), sum("bytes")),
          implementation: share(items.length, named),
          validation: share(items.length - sum("unknown"), items.length),
        };
  return {
    output: { examined: items.length, named, kinds: summaries, items, not_examinable: others },
    confidence,
    factors: [
      `${formatCount(items.length)} paths examined, with ${formatBytes(sum("examined_bytes"))} of the ${formatBytes(sum("bytes"))} in doubt`,
      `${sum("explained")} explained, ${sum("partly")} partly, ${sum("unknown")} not at all`,
    ],
    uncertainties:
      sum("unknown") === 0
        ? []
        : [
            {
              what: `${formatCount(sum("unknown"))} paths of which nothing could be learnt`,
              kind: "unknown_content",
              files: sum("unknown"),
              bytes: 0,
              paths: items
                .filter(({ verdict }) => verdict === "unknown")
                .slice(0, 12)
                .map(({ path }) => path),
            },
          ],
    blockers: [],
    assumptions: ["the first bytes of a file tell its format"],
  };
}

await runTool((request, channel) => {
  const root = resolveRoot(requestedFolder(request));
  const { kinds, others } = mergeByKind(request.uncertainties);
  return judge({ kinds, others, ...examineAll({ root, kinds, channel }) });
});
