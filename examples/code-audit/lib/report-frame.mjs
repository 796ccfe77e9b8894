/**
 * Owns the frame of the written report: title and summary, what was not looked at, how sure it is, how it came about.
 */
import { compareText } from "./bounded-lists.mjs";
import { formatBytes, formatCount, formatPercent } from "./confidence.mjs";
import { escapeText, formatCode, formatCut, formatList, formatTable, joinParts } from "./markdown.mjs";

const APART_TITLES = {
  unreadable: "could not be read",
  binary: "binary",
  oversized: "too large to be read whole",
  generated: "marked as generated",
  minified: "minified",
  undecodable: "in an unknown encoding",
  very_large: "very large; lines counted only",
};

/** Title and the most important findings. */
export function writeSummary(folder, findings) {
  const points = findings.map(({ severity, text, where }) => {
    const places = where.length > 0 ? ` — ${where.map(formatCode).join(", ")}` : "";
    return `**${severity}** · ${escapeText(text)}${places}`;
  });
  return joinParts([
    `# Code audit of ${formatCode(folder)}`,
    "## Summary",
    points.map((point, at) => `${at + 1}. ${point}`).join("\n") ||
      "There is nothing to report: no specialist delivered an output.",
  ]);
}

/** What the audit did not look at, with counts. */
export function writeLimits({ inventory, duplicates, hotspots }) {
  if (!inventory) return "";
  const { walked, set_apart: apart, assets } = inventory;
  const { skipped_folders: skipped, skipped_by_name: byName } = walked;
  const rows = Object.entries(apart)
    .filter(([, { files }]) => files > 0)
    .map(([kind, { files, bytes, items }]) => [
      APART_TITLES[kind] ?? kind,
      formatCount(files),
      formatBytes(bytes),
      items
        .slice(0, 2)
        .map(({ path, reason }) => `${formatCode(path)} (${escapeText(reason)})`)
        .join("<br>"),
    ]);
  const assetFiles = Object.values(assets).reduce((a, b) => a + b, 0);
  return joinParts([
    "## What was not looked at",
    formatSkipped(skipped.total),
    formatTable(
      ["folders named", "#folders", "#files in them", "why", "for example"],
      byName.items
        .slice(0, 20)
        .map(({ name, folders, files, counted_all: isAll, reason, example }) => [
          formatCode(name),
          formatCount(folders),
          `${isAll ? "" : "more than "}${formatCount(files)}`,
          escapeText(reason),
          formatCode(example),
        ]),
    ),
    formatCut({ cut: byName.total - Math.min(20, byName.items.length) }, "names"),
    rows.length === 0
      ? "Every file that could hold source was read as text."
      : "Files set apart, because their content is not readable source:",
    formatTable(["kind", "#files", "#size", "for example, largest first"], rows),
    formatList([
      ...(assetFiles > 0
        ? [
            `${formatCount(assetFiles)} images, fonts, sounds, films and documents: recognised, not opened further (${escapeText(
              Object.entries(assets)
                .sort(([a], [b]) => compareText(a, b))
                .map(([type, files]) => `${type} ${files}`)
                .join(", "),
            )})`,
          ]
        : []),
      ...(walked.symlinks.total > 0 ? [`${formatCount(walked.symlinks.total)} symbolic links: not followed`] : []),
      ...(walked.special.total > 0
        ? [
            `${formatCount(walked.special.total)} FIFOs, sockets or devices: not opened (${walked.special.items
              .slice(0, 3)
              .map(({ path }) => formatCode(path))
              .join(", ")})`,
          ]
        : []),
      ...(walked.unreadable_folders.total > 0
        ? [
            `${formatCount(walked.unreadable_folders.total)} folders that could not be entered (${walked.unreadable_folders.items
              .slice(0, 3)
              .map(({ path }) => formatCode(path))
              .join(", ")})`,
          ]
        : []),
      ...sampled("duplicates", duplicates),
      ...sampled("hot spots", hotspots),
      "the network: no registry, no advisory database and no remote repository was asked",
    ]),
  ]);
}

function formatSkipped(folders) {
  if (folders === 0) return "No folder was skipped.";
  return folders === 1 ? "1 folder was skipped:" : `${formatCount(folders)} folders were skipped:`;
}

function sampled(name, output) {
  if (!output || output.coverage.share >= 1) return [];
  const { eligible, examined } = output.coverage;
  return [
    `${formatCount(eligible - examined)} of ${formatCount(eligible)} source files in the search for ${name}, because of its limit`,
  ];
}

/** How sure the report is, in measured shares. */
export function writeConfidence({ inventory, dependencies, duplicates, hotspots }, confidence) {
  const points = [];
  for (const [phase, value] of Object.entries(confidence ?? {})) {
    if (typeof value === "number") points.push(`phase ${formatCode(phase)}: confidence ${value.toFixed(2)} of 1`);
  }
  if (inventory?.totals.files === 0) points.push("no file was read, so nothing below says more than that");
  else if (inventory)
    points.push(
      `${formatPercent(inventory.understood.files)} of the files that could hold source, and ${formatPercent(inventory.understood.bytes)} of their bytes, were read and understood as text`,
    );
  if (dependencies && dependencies.licences.counted > 0)
    points.push(
      `the licence of ${formatCount(dependencies.licences.counted - dependencies.licences.unknown.total)} of ${formatCount(dependencies.licences.counted)} packages is stated by files in the tree`,
    );
  if (duplicates) points.push(`duplicates: ${formatPercent(duplicates.coverage.share)} of the eligible files compared`);
  if (hotspots)
    points.push(
      `hot spots: ${formatPercent(hotspots.coverage.share)} of the eligible files measured, by heuristics and not by a grammar`,
    );
  return joinParts(["## How sure this is", formatList(points)]);
}

/** How the report came about: verdicts and decisions, if they were handed over. */
export function writeOrigin(evaluations, decisions) {
  const verdicts = evaluations.map((entry) => [
    escapeText(entry.phase ?? ""),
    String(entry.iteration ?? ""),
    escapeText(entry.verdict ?? ""),
    formatScore(entry.score),
    escapeText(formatDimensions(entry.dimensions)),
  ]);
  const issues = evaluations.flatMap(({ iteration, issues: list }) =>
    (Array.isArray(list) ? list : []).map(
      (issue) => `iteration ${iteration}: ${escapeText(typeof issue === "string" ? issue : (issue.text ?? ""))}`,
    ),
  );
  const steps = decisions.map(
    ({ type, description, rationale }) =>
      `${formatCode(type ?? "decision")} ${escapeText(description ?? "")}${rationale ? ` — ${escapeText(rationale)}` : ""}`,
  );
  if (verdicts.length + steps.length === 0) return "";
  return joinParts([
    "## How this report came about",
    formatTable(["phase", "#iteration", "verdict", "#score", "dimensions"], verdicts),
    formatList(issues.slice(0, 20)),
    steps.length > 0 ? "Decisions:" : "",
    formatList(steps.slice(0, 40)),
    steps.length > 40 ? formatCut({ cut: steps.length - 40 }, "decisions") : "",
  ]);
}

const formatScore = (score) => (typeof score === "number" ? String(Math.round(score * 10) / 10) : "");

function formatDimensions(dimensions) {
  if (dimensions === null || typeof dimensions !== "object") return "";
  return Object.entries(dimensions)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name} ${typeof value === "number" ? formatScore(value) : formatScore(value?.score)}`)
    .join(", ");
}
