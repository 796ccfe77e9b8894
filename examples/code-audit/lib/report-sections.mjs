/**
 * Owns the sections of the written report about what was measured. `report-frame` owns the summary, the limits and how the
 * report came about; `report-dependencies` the section on dependencies.
 *
 * A section is a function from outputs to Markdown; without its output it says that the specialist delivered nothing.
 */
import { formatBytes, formatCount, formatPercent, share } from "./confidence.mjs";
import { escapeText, formatCode, formatCut, formatTable, joinParts } from "./markdown.mjs";

const SHOWN = 12;
/** A place as code. */
export const place = ({ path, line }) => formatCode(line === undefined ? path : `${path}:${line}`);
/** The beginning of a list, with what it then leaves out. */
export const head = (list, max = SHOWN) => ({
  items: list.items.slice(0, max),
  cut: list.total - Math.min(max, list.items.length),
});

/** The section of a specialist that delivered nothing. */
export function missing(title, name) {
  return `## ${title}\n\nThe specialist \`${name}\` delivered nothing.`;
}

/** What there is: languages, classes, largest files. */
export function writeInventory({ inventory }) {
  if (!inventory) return missing("What there is", "inventory");
  const { totals, languages, classes, walked } = inventory;
  return joinParts([
    "## What there is",
    `${formatCount(totals.files)} files in ${formatCount(walked.folders)} folders, ${formatBytes(totals.bytes)}; ${formatCount(totals.lines)} lines of text, of which ${formatCount(totals.code)} hold content, ${formatCount(totals.comment)} only comment, ${formatCount(totals.blank)} nothing.`,
    formatTable(
      ["language", "kind", "#files", "#size", "#content lines", "#comment", "#blank"],
      languages
        .slice(0, 20)
        .map((entry) => [
          escapeText(entry.language),
          entry.kind,
          formatCount(entry.files),
          formatBytes(entry.bytes),
          formatCount(entry.code),
          formatCount(entry.comment),
          formatCount(entry.blank),
        ]),
    ),
    formatCut({ cut: Math.max(0, languages.length - 20) }, "languages"),
    "Largest files and longest sources:",
    formatTable(
      ["file", "#size", "what it is"],
      inventory.largest_files.slice(0, 10).map((file) => [place(file), formatBytes(file.size_bytes), file.class]),
    ),
    formatTable(
      ["source", "#lines", "language"],
      inventory.longest_sources
        .slice(0, 10)
        .map((file) => [place(file), formatCount(file.lines), escapeText(file.language)]),
    ),
    "Every file falls into one class:",
    formatTable(
      ["class", "#files", "#size"],
      Object.entries(classes)
        .filter(([, { files }]) => files > 0)
        .map(([name, { files, bytes }]) => [name, formatCount(files), formatBytes(bytes)]),
    ),
  ]);
}

/** Secrets: places and kinds, never values. */
export function writeSecrets({ secrets }) {
  if (!secrets) return missing("Suspected secrets", "secrets");
  const table = (list) =>
    formatTable(
      ["place", "kind", "fingerprint", "doubts"],
      list.items.map((entry) => [
        place(entry),
        escapeText(entry.kind),
        formatCode(entry.fingerprint),
        escapeText((entry.doubts ?? []).join("; ")),
      ]),
    );
  const likely = head(secrets.likely, 40);
  const doubtful = head(secrets.doubtful, 25);
  return joinParts([
    "## Suspected secrets",
    `${formatCount(secrets.searched.files)} text files (${formatBytes(secrets.searched.bytes)}) were searched by pattern and by entropy. Values are not recorded; a fingerprint is the beginning of a SHA-256, the same for the same value.`,
    secrets.likely.total === 0 ? "**Likely:** none." : `**Likely:** ${formatCount(secrets.likely.total)}`,
    table(likely),
    formatCut(likely, "likely places"),
    secrets.doubtful.total === 0
      ? "**Doubtful:** none."
      : `**Doubtful** (tests, examples, documentation, placeholders, or no specific shape): ${formatCount(secrets.doubtful.total)}`,
    table(doubtful),
    formatCut(doubtful, "doubtful places"),
  ]);
}

/** Duplicates: equal files and repeated blocks. */
export function writeDuplicates({ duplicates }) {
  if (!duplicates) return missing("Duplicates", "duplicates");
  const { lines, blocks, identical_files: identical, coverage } = duplicates;
  const shown = head(blocks);
  const groups = head(identical);
  return joinParts([
    "## Duplicates",
    `${formatCount(coverage.examined)} of ${formatCount(coverage.eligible)} source and style files compared (${formatPercent(coverage.share)}): ${formatCount(lines.duplicated)} of ${formatCount(lines.meaningful)} meaningful lines (${formatPercent(lines.ratio)}) repeat lines that stand elsewhere, in blocks of at least ${duplicates.window}.`,
    identical.total === 0
      ? "No two files are equal."
      : `${formatCount(identical.files)} files equal another one, in ${formatCount(identical.total)} groups:`,
    formatTable(
      ["#lines", "#copies", "files"],
      groups.items.map((group) => [
        formatCount(group.lines),
        formatCount(group.copies),
        group.paths.slice(0, 3).map(formatCode).join(" ") + (group.copies > 3 ? " …" : ""),
      ]),
    ),
    formatCut(groups, "groups"),
    blocks.total === 0 ? "No block is repeated." : `${formatCount(blocks.total)} blocks are repeated; the heaviest:`,
    formatTable(
      ["#lines", "#copies", "places"],
      shown.items.map((block) => [
        formatCount(block.lines),
        formatCount(block.copies),
        block.places
          .slice(0, 3)
          .map(({ path, from, to }) => formatCode(`${path}:${from}-${to}`))
          .join(" ") + (block.copies > 3 ? " …" : ""),
      ]),
    ),
    formatCut(shown, "blocks"),
  ]);
}

const functionRow = (entry) => [
  place(entry),
  formatCode(entry.name),
  formatCount(entry.lines),
  formatCount(entry.branches),
  formatCount(entry.nesting),
];
const FUNCTION_TITLES = ["place", "function", "#lines", "#branches", "#nesting"];

/** Hot spots: functions, dense files, markers. */
export function writeHotspots({ hotspots }) {
  if (!hotspots) return missing("Hot spots", "hotspots");
  const { functions, markers, coverage, thresholds, languages, files } = hotspots;
  const blind = languages.filter(({ heuristic }) => heuristic === "none");
  const shown = head(markers.places, 25);
  return joinParts([
    "## Hot spots",
    `${formatCount(coverage.examined)} of ${formatCount(coverage.eligible)} source files measured (${formatPercent(coverage.share)}): ${formatCount(functions.found)} functions, ${functions.mean_lines} lines on average; ${formatCount(functions.long)} of ${thresholds.long_lines} lines or more, ${formatCount(functions.branchy)} with ${thresholds.many_branches} branches or more, ${formatCount(functions.deep)} nested ${thresholds.deep_nesting} deep or more.`,
    blind.length === 0
      ? ""
      : `In ${escapeText(blind.map(({ language }) => language).join(", "))} functions cannot be found by the heuristic; only branches per line are counted there.`,
    functions.found === 0
      ? ""
      : joinParts([
          "Most branches:",
          formatTable(FUNCTION_TITLES, functions.most_branches.slice(0, SHOWN).map(functionRow)),
          "Longest:",
          formatTable(FUNCTION_TITLES, functions.longest.slice(0, SHOWN).map(functionRow)),
        ]),
    functions.deepest.length === 0
      ? ""
      : joinParts(["Deepest nesting:", formatTable(FUNCTION_TITLES, functions.deepest.slice(0, 6).map(functionRow))]),
    files.densest.length === 0
      ? ""
      : joinParts([
          "Most branches per line of code (files of 50 lines or more):",
          formatTable(
            ["file", "#code lines", "#branches", "#per line"],
            files.densest
              .slice(0, 8)
              .map((entry) => [
                place(entry),
                formatCount(entry.code),
                formatCount(entry.branches),
                String(entry.branches_per_line),
              ]),
          ),
        ]),
    markers.total === 0
      ? "No TODO, FIXME, HACK or XXX stands in a comment."
      : `${formatCount(markers.total)} markers in ${formatCount(markers.files)} files (TODO ${markers.TODO}, FIXME ${markers.FIXME}, HACK ${markers.HACK}, XXX ${markers.XXX}):`,
    formatTable(
      ["place", "marker", "text"],
      shown.items.map((entry) => [place(entry), entry.marker, escapeText(entry.text)]),
    ),
    formatCut(shown, "markers"),
  ]);
}

/** History. */
export function writeChurn({ churn }) {
  if (!churn) return missing("History", "churn");
  if (!churn.available) return `## History\n\nNot available: ${escapeText(churn.reason)}.`;
  const { commits, authors } = churn;
  return joinParts([
    "## History",
    `${commits.read < commits.touching_folder ? `The last ${formatCount(commits.read)} of ` : "All "}${formatCount(commits.touching_folder)} commits that touch this folder, ${commits.first_day} to ${commits.last_day}, by ${formatCount(authors.total)} ${authors.total === 1 ? "author" : "authors"}, changed ${formatCount(churn.files_changed)} files.${commits.is_shallow ? " The clone is shallow: older history is not here." : ""}`,
    formatTable(
      ["author", "#commits", "#share"],
      authors.items
        .slice(0, 10)
        .map(({ author, commits: count }) => [
          escapeText(author),
          formatCount(count),
          formatPercent(share(count, commits.read)),
        ]),
    ),
    churn.hot.length === 0 ? "" : "Hot files (commits × branches):",
    formatTable(
      ["file", "#commits", "#authors", "#branches", "#code lines", "#heat"],
      churn.hot
        .slice(0, SHOWN)
        .map((entry) => [
          place(entry),
          formatCount(entry.commits),
          formatCount(entry.authors),
          formatCount(entry.branches),
          formatCount(entry.code),
          formatCount(entry.heat),
        ]),
    ),
    "Changed most:",
    formatTable(
      ["file", "#commits", "#authors", "still there"],
      churn.most_changed
        .slice(0, SHOWN)
        .map((entry) => [
          place(entry),
          formatCount(entry.commits),
          formatCount(entry.authors),
          entry.exists ? "yes" : "no",
        ]),
    ),
  ]);
}

/** The closer look, if one was taken. */
export function writeCloserLook({ closer }) {
  if (!closer) return "";
  return joinParts([
    "## A closer look at what was not understood",
    `Confidence was low, so a further specialist examined ${formatCount(closer.examined)} of the doubtful files, the largest of each kind.`,
    formatTable(
      ["kind", "#files", "#examined", "#explained", "#partly", "#unknown"],
      closer.kinds.map((kind) => [
        kind.kind.replaceAll("_", " "),
        formatCount(kind.files),
        formatCount(kind.examined),
        formatCount(kind.explained),
        formatCount(kind.partly),
        formatCount(kind.unknown),
      ]),
    ),
    formatTable(
      ["file", "kind", "what was found", "what stays unknown"],
      closer.items
        .slice(0, 60)
        .map((item) => [
          place(item),
          item.kind.replaceAll("_", " "),
          escapeText(item.findings.join("; ")),
          escapeText(item.remains || "nothing"),
        ]),
    ),
    closer.items.length > 60 ? formatCut({ cut: closer.items.length - 60 }, "files") : "",
  ]);
}
