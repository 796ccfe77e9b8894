#!/usr/bin/env node
/**
 * The specialist `duplicates`: blocks of at least six meaningful lines that occur more than once, and equal files.
 *
 * Looked at are source and style files that are neither generated nor minified nor very large nor undecodable; in the
 * first iteration at most `first_pass_files` of them (lib/sampling.mjs).
 *
 * What cannot be understood at all is the inventory's to name; this specialist names no uncertainty of its own. Files
 * left out by the first pass are no uncertainty but work not done: they lower `implementation`, and Apollo asks for them.
 *
 * Confidence:
 *   knowledge       1: equality of lines needs no knowledge of a language
 *   information     mean of the shares of files and bytes understood (lib/understanding.mjs, U1)
 *   implementation  files examined / files eligible
 *   validation      share of the relevant bytes that are understood text, so that a comparison can be repeated on them
 */
import { formatPath } from "../lib/byte-paths.mjs";
import { capList } from "../lib/bounded-lists.mjs";
import { appendFile, createCloneIndex, fileAt, findClones, WINDOW } from "../lib/clone-index.mjs";
import { forEachMeaningfulLine, hashLine } from "../lib/clone-lines.mjs";
import { createSpool, removeSpool, restoreFromSpool, saveToSpool } from "../lib/clone-spool.mjs";
import { formatCount, formatPercent, share } from "../lib/confidence.mjs";
import { runTool } from "../lib/protocol.mjs";
import { createSample } from "../lib/sampling.mjs";
import { surveyFiles } from "../lib/survey.mjs";
import { createUnderstanding, foldUnderstanding, measureUnderstanding, reasonApart } from "../lib/understanding.mjs";

const BLOCKS_MAX = 40;
const GROUPS_MAX = 25;
const PLACES_MAX = 8;

function createState() {
  return {
    index: createCloneIndex(),
    spool: createSpool(),
    counts: { eligible: 0, examined: 0, tooMany: 0 },
    understanding: createUnderstanding(),
  };
}

function createFold(sample) {
  return (state, file) => {
    foldUnderstanding(state.understanding, file);
    const isCode = file.class === "source" || (file.class === "text" && file.language.kind === "style");
    if (!isCode || reasonApart(file) !== undefined) return;
    if (!sample.take(state.counts.eligible++)) return;
    const lines = [];
    forEachMeaningfulLine(file, (text, number) => lines.push({ hash: hashLine(text), number }));
    if (appendFile(state.index, formatPath(file.path), lines)) state.counts.examined++;
    else state.counts.tooMany++;
  };
}

function saveState({ index, spool, counts, understanding }) {
  return { spool: saveToSpool(spool, index) ?? null, counts, understanding };
}

function restoreState(sums) {
  const index = sums.spool ? restoreFromSpool(sums.spool) : undefined;
  return index && { index, spool: { ...sums.spool }, counts: sums.counts, understanding: sums.understanding };
}

function summarise({ state, walked }, sample) {
  const { index, counts } = state;
  const clones = findClones(index);
  const blocks = clones.blocks
    .map((block) => ({ block, weight: block.length * block.copies.length }))
    .sort((a, b) => b.weight - a.weight || a.block.start - b.block.start);
  const identical = clones.identical
    .map(({ file, copies }) => ({ file, copies, lines: index.files[file].end - index.files[file].start }))
    .sort((a, b) => b.lines * b.copies.length - a.lines * a.copies.length || a.file - b.file);
  return {
    walked,
    coverage: {
      eligible: counts.eligible,
      examined: counts.examined,
      share: share(counts.examined, counts.eligible),
      limit: sample.limit,
      left_out_for_memory: counts.tooMany,
    },
    lines: {
      meaningful: index.length,
      duplicated: clones.duplicatedLines,
      ratio: share(clones.duplicatedLines, index.length || 1),
    },
    window: WINDOW,
    blocks: capList(
      blocks.slice(0, BLOCKS_MAX).map(({ block }) => showBlock(index, block)),
      BLOCKS_MAX,
      blocks.length,
    ),
    identical_files: {
      ...capList(
        identical.slice(0, GROUPS_MAX).map((group) => showGroup(index, group)),
        GROUPS_MAX,
        identical.length,
      ),
      files: identical.reduce((sum, { copies }) => sum + copies.length, 0),
      lines: identical.reduce((sum, { copies, lines }) => sum + copies.length * lines, 0),
    },
  };
}

function showBlock(index, { start, length, copies }) {
  const places = [start, ...copies].map((at) => ({
    path: index.files[fileAt(index, at)].path,
    from: index.numbers[at],
    to: index.numbers[at + length - 1],
  }));
  return {
    lines: length,
    copies: places.length,
    places: places.slice(0, PLACES_MAX),
    places_cut: Math.max(0, places.length - PLACES_MAX),
  };
}

function showGroup(index, { file, copies, lines }) {
  const paths = [file, ...copies].map((at) => index.files[at].path);
  return {
    lines,
    copies: paths.length,
    paths: paths.slice(0, PLACES_MAX),
    paths_cut: Math.max(0, paths.length - PLACES_MAX),
  };
}

function judge(output, { understanding }) {
  const { coverage } = output;
  const understood = measureUnderstanding(understanding);
  return {
    output,
    confidence: {
      knowledge: 1,
      information: understood.mean,
      implementation: coverage.share,
      validation: understood.bytes,
    },
    factors: [
      `${formatCount(coverage.examined)} of ${formatCount(coverage.eligible)} eligible files examined (${formatPercent(coverage.share)})`,
      `${formatPercent(understood.bytes)} of the relevant bytes are text that can be compared`,
    ],
    uncertainties: [],
    blockers: [],
    assumptions: [
      "a duplicate repeats its lines word for word, white space aside",
      "imports, comments and lines without words are no duplicates",
    ],
  };
}

await runTool((request, channel) => {
  const sample = createSample(request, "duplicates");
  const survey = surveyFiles(request, channel, {
    createState,
    fold: createFold(sample),
    limit: sample.limit,
    save: saveState,
    restore: restoreState,
  });
  const answer = judge(summarise(survey, sample), survey.state);
  removeSpool(survey.state.spool);
  return answer;
});
