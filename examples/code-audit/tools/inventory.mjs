#!/usr/bin/env node
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
import { insertLargest } from "../lib/bounded-lists.mjs";
import { formatBytes, formatCount, formatPercent, share } from "../lib/confidence.mjs";
import { forEachLine } from "../lib/file-reader.mjs";
import { createLineCounter } from "../lib/line-counter.mjs";
import { languageNamed } from "../lib/languages.mjs";
import { runTool } from "../lib/protocol.mjs";
import { surveyFiles } from "../lib/survey.mjs";
import {
  createUnderstanding,
  foldUnderstanding,
  listApart,
  listUncertainties,
  measureUnderstanding,
} from "../lib/understanding.mjs";

const LISTED_MAX = 25;
const CLASSES = ["source", "text", "empty", "asset", "binary", "generated", "minified", "oversized", "unreadable"];

function createState() {
  return {
    classes: Object.fromEntries(CLASSES.map((name) => [name, { files: 0, bytes: 0 }])),
    languages: {},
    assets: {},
    largest: [],
    longest: [],
    countedBytes: 0,
    understanding: createUnderstanding(),
  };
}

function foldFile(state, file) {
  const path = formatPath(file.path);
  state.classes[file.class].files++;
  state.classes[file.class].bytes += file.sizeBytes;
  insertLargest(state.largest, { value: file.sizeBytes, path, class: file.class }, LISTED_MAX);
  foldUnderstanding(state.understanding, file);
  if (file.class === "asset") state.assets[file.reason] = (state.assets[file.reason] ?? 0) + 1;
  if (file.class !== "source" && file.class !== "text") return;
  const counter = createLineCounter(file.language);
  forEachLine(file, (line, _number, isContinuation) => {
    if (!isContinuation) counter.add(line);
  });
  state.countedBytes += file.sizeBytes;
  addLanguage(state, file, counter.counts);
  if (file.class === "source") {
    insertLargest(state.longest, { value: counter.counts.lines, path, language: file.language.name }, LISTED_MAX);
  }
}

function addLanguage(state, file, counts) {
  const sums = (state.languages[file.language.name] ??= {
    files: 0,
    bytes: 0,
    lines: 0,
    code: 0,
    comment: 0,
    blank: 0,
  });
  sums.files++;
  sums.bytes += file.sizeBytes;
  for (const key of ["lines", "code", "comment", "blank"]) sums[key] += counts[key];
}

function summarise({ state, walked }) {
  const languages = Object.entries(state.languages)
    .map(([language, sums]) => ({ language, kind: languageNamed(language).kind, ...sums }))
    .sort((a, b) => b.code - a.code || (a.language < b.language ? -1 : 1));
  const sum = (key) => languages.reduce((total, entry) => total + entry[key], 0);
  const bytes = CLASSES.reduce((total, name) => total + state.classes[name].bytes, 0);
  const understood = measureUnderstanding(state.understanding);
  return {
    walked,
    totals: {
      files: walked.files,
      bytes,
      text_files: sum("files"),
      lines: sum("lines"),
      code: sum("code"),
      comment: sum("comment"),
      blank: sum("blank"),
    },
    classes: state.classes,
    languages,
    assets: state.assets,
    largest_files: state.largest.map(({ value, path, class: name }) => ({ path, size_bytes: value, class: name })),
    longest_sources: state.longest.map(({ value, path, language }) => ({ path, lines: value, language })),
    set_apart: listApart(state.understanding),
    understood,
  };
}

function judge(output, state) {
  const { totals, walked, understood } = output;
  const other = output.languages.find(({ language }) => language === "Other text");
  const notOpened = output.classes.unreadable.files + walked.unreadable_folders.total;
  return {
    output,
    confidence: {
      knowledge: share(totals.text_files - (other?.files ?? 0), totals.text_files),
      information: understood.mean,
      implementation: share(
        totals.files - output.classes.unreadable.files,
        totals.files + walked.unreadable_folders.total,
      ),
      validation: share(state.countedBytes, understood.relevant.bytes),
    },
    factors: [
      `${formatPercent(understood.files)} of the relevant files and ${formatPercent(understood.bytes)} of their bytes are text that was understood`,
      `${formatCount(other?.files ?? 0)} of ${formatCount(totals.text_files)} text files are in no known language`,
      `${formatCount(notOpened)} files or folders could not be opened`,
      `${formatCount(totals.files)} files, ${formatBytes(totals.bytes)}`,
    ],
    uncertainties: listUncertainties(state.understanding, walked),
    blockers: [],
    assumptions: [
      "the language of a file follows from its name, or from its #! line",
      "a line counts as comment only when nothing else stands on it; strings over several lines are not followed",
    ],
  };
}

await runTool((request, channel) => {
  const survey = surveyFiles(request, channel, { createState, fold: foldFile, countSkipped: true });
  return judge(summarise(survey), survey.state);
});
