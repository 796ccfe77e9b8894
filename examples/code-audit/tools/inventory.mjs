/**
 * The specialist `inventory`: which files there are, in which languages, and what is set apart and why.
 *
 * Confidence:
 *   knowledge       text files in a known language / all text files
 *   information     mean of the shares of files and bytes understood (lib/understanding.mjs, U1)
 *   implementation  files opened / files walked; each folder that cannot be entered counts as one file not opened
 *   validation      share of relevant bytes whose lines were counted, so that anyone can count again
 */
import { formatPath } from "../lib/byte-paths.mjs";
import { confidenceOf, count, formatBytes, formatPercent, share } from "../lib/figures.mjs";
import { languageNamed } from "../lib/languages.mjs";
import { compareText, insertLargest } from "../lib/lists.mjs";
import { countLines } from "../lib/measure.mjs";
import { surveyFiles } from "../lib/survey.mjs";
import {
  createUnderstanding,
  foldUnderstanding,
  listApart,
  listUncertainties,
  measureUnderstanding,
} from "../lib/understanding.mjs";

const LISTED_MAX = 25;
const CLASSES = ["source", "text", "empty", "asset", "binary", "generated", "minified", "unreadable"];

export default function inventory(request, channel) {
  const classes = Object.fromEntries(CLASSES.map((name) => [name, { files: 0, bytes: 0 }]));
  const fresh = { classes, languages: {}, assets: {}, largest: [], longest: [], countedBytes: 0 };
  const state = { ...fresh, understanding: createUnderstanding() };
  const survey = surveyFiles(request, channel, { state, fold, countSkipped: true });
  const output = summarise(survey);
  return { output, ...judge(output, survey.state) };
}

function fold(state, file) {
  const path = formatPath(file.path);
  state.classes[file.class].files++;
  state.classes[file.class].bytes += file.sizeBytes;
  insertLargest(state.largest, { value: file.sizeBytes, path, class: file.class }, LISTED_MAX);
  foldUnderstanding(state.understanding, file);
  if (file.class === "asset") state.assets[file.reason] = (state.assets[file.reason] ?? 0) + 1;
  if (file.class !== "source" && file.class !== "text") return;
  const counts = { files: 1, bytes: file.sizeBytes, ...countLines(file) };
  const { name } = file.language;
  const sums = (state.languages[name] ??= { files: 0, bytes: 0, lines: 0, code: 0, comment: 0, blank: 0 });
  for (const [key, value] of Object.entries(counts)) sums[key] += value;
  state.countedBytes += file.sizeBytes;
  if (file.class === "source") insertLargest(state.longest, { value: counts.lines, path, language: name }, LISTED_MAX);
}

function summarise({ state, walked }) {
  const languages = Object.entries(state.languages)
    .map(([language, sums]) => ({ language, kind: languageNamed(language).kind, ...sums }))
    .sort((a, b) => b.code - a.code || compareText(a.language, b.language));
  const sum = (key) => languages.reduce((total, entry) => total + entry[key], 0);
  const bytes = Object.values(state.classes).reduce((total, entry) => total + entry.bytes, 0);
  const lines = { lines: sum("lines"), code: sum("code"), comment: sum("comment"), blank: sum("blank") };
  return {
    walked,
    totals: { files: walked.files, bytes, text_files: sum("files"), ...lines },
    classes: state.classes,
    languages,
    assets: state.assets,
    largest_files: state.largest.map(({ value, path, class: name }) => ({ path, size_bytes: value, class: name })),
    longest_sources: state.longest.map(({ value, path, language }) => ({ path, lines: value, language })),
    set_apart: listApart(state.understanding),
    understood: measureUnderstanding(state.understanding),
  };
}

function judge({ totals, walked, understood, classes, languages }, { countedBytes, understanding }) {
  const other = languages.find(({ language }) => language === "Other text")?.files ?? 0;
  const closed = walked.unreadable_folders.total;
  return {
    confidence: confidenceOf(totals.files + closed, [
      share(totals.text_files - other, totals.text_files),
      understood.mean,
      share(totals.files - classes.unreadable.files, totals.files + closed),
      share(countedBytes, understood.relevant.bytes),
    ]),
    factors: [
      `${count(totals.files, "file")}, ${formatBytes(totals.bytes)}`,
      `${formatPercent(understood.files)} of the relevant files and ${formatPercent(understood.bytes)} of their bytes are text that was understood`,
      `${count(other, "text file")} of ${totals.text_files} in no known language`,
      `${count(classes.unreadable.files + closed, "file or folder", "files or folders")} that could not be opened`,
    ],
    uncertainties: listUncertainties(understanding, walked),
    assumptions: [
      "the language of a file follows from its name, or from its #! line",
      "a line counts as comment only when nothing else stands on it",
    ],
  };
}
