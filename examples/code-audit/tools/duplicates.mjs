/**
 * The specialist `duplicates`: blocks of at least six meaningful lines that occur more than once, and files with the same ones.
 *
 * Looked at are source and style files that are understood (lib/understanding.mjs), in the first iteration no more than
 * `first_pass_files`. Files left out are no uncertainty but work not done: they lower `implementation`, and Apollo asks for them.
 *
 * Confidence:
 *   knowledge       1: equality of lines needs no knowledge of a language
 *   information     mean of the shares of files and bytes understood (U1)
 *   implementation  files examined / files eligible
 *   validation      share of the relevant bytes that are understood text, so that a comparison can be repeated on them
 */
import { formatPath } from "../lib/byte-paths.mjs";
import { appendFile, createIndex, fileAt, findClones, meaningfulLines, WINDOW } from "../lib/clones.mjs";
import { confidenceOf, count, formatPercent, share } from "../lib/figures.mjs";
import { capList } from "../lib/lists.mjs";
import { createSample, describeCoverage, surveyFiles } from "../lib/survey.mjs";
import { createUnderstanding, foldUnderstanding, measureUnderstanding, reasonApart } from "../lib/understanding.mjs";

const BLOCKS_MAX = 40;
const PLACES_MAX = 8;

export default function duplicates(request, channel) {
  const sample = createSample(request, "duplicates");
  const state = { index: createIndex(), eligible: 0, examined: 0, understanding: createUnderstanding() };
  const fold = (_state, file) => foldFile(state, file, sample);
  const { walked } = surveyFiles(request, channel, { state, fold, limit: sample.limit, isPlain: false });
  const output = { walked, coverage: describeCoverage(state, sample), window: WINDOW, ...summarise(state.index) };
  return { output, ...judge(output, state) };
}

function foldFile(state, file, sample) {
  foldUnderstanding(state.understanding, file);
  const isCode = file.class === "source" || (file.class === "text" && file.language.kind === "style");
  if (!isCode || reasonApart(file) !== undefined || !sample.take(state.eligible++)) return;
  if (appendFile(state.index, formatPath(file.path), meaningfulLines(file))) state.examined++;
}

function summarise(index) {
  const { duplicatedLines, blocks, identical } = findClones(index);
  const linesOf = ({ start, end }) => end - start;
  blocks.sort((a, b) => weightOf(b) - weightOf(a) || a.start - b.start);
  identical.sort((a, b) => linesOf(b[0]) * b.length - linesOf(a[0]) * a.length || a[0].start - b[0].start);
  return {
    lines: { meaningful: index.length, duplicated: duplicatedLines, ratio: share(duplicatedLines, index.length || 1) },
    blocks: {
      ...capList(blocks, BLOCKS_MAX),
      items: blocks.slice(0, BLOCKS_MAX).map((block) => showBlock(index, block)),
    },
    identical_files: {
      ...capList(
        identical.map((files) => showGroup(files, linesOf(files[0]))),
        BLOCKS_MAX,
      ),
      files: identical.reduce((sum, files) => sum + files.length - 1, 0),
      lines: identical.reduce((sum, files) => sum + (files.length - 1) * linesOf(files[0]), 0),
    },
  };
}

const weightOf = ({ length, copies }) => length * copies.length;

function showBlock(index, { start, length, copies }) {
  const places = [start, ...copies].map((at) => ({
    path: fileAt(index, at).path,
    from: index.numbers[at],
    to: index.numbers[at + length - 1],
  }));
  const cut = Math.max(0, places.length - PLACES_MAX);
  return { lines: length, copies: places.length, places: places.slice(0, PLACES_MAX), places_cut: cut };
}

function showGroup(files, lines) {
  const paths = files.slice(0, PLACES_MAX).map(({ path }) => path);
  return { lines, copies: files.length, paths, paths_cut: files.length - paths.length };
}

function judge({ walked, coverage }, { understanding }) {
  const understood = measureUnderstanding(understanding);
  return {
    confidence: confidenceOf(walked.files, [1, understood.mean, coverage.share, understood.bytes]),
    factors: [
      `${coverage.examined} of ${count(coverage.eligible, "eligible file")} examined (${formatPercent(coverage.share)})`,
      `${formatPercent(understood.bytes)} of the relevant bytes are text that can be compared`,
    ],
    assumptions: [
      "a duplicate repeats its lines word for word, white space aside",
      "imports, comments and lines without words are no duplicates",
    ],
  };
}
