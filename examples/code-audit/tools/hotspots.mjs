#!/usr/bin/env node
/**
 * The specialist `hotspots`: where the code is hard to change, and where its authors left a marker.
 *
 * Looked at are source files that are neither generated nor minified nor very large nor undecodable; in the first
 * iteration at most `first_pass_files` of them (lib/sampling.mjs). How functions, branches and nesting are found is said in
 * lib/brace-functions.mjs and lib/indent-functions.mjs; for other languages only branches per line of code are counted.
 *
 * What cannot be understood at all is the inventory's to name; this specialist names no uncertainty of its own. Files
 * left out by the first pass are no uncertainty but work not done: they lower `implementation`, and Apollo asks for them.
 *
 * Confidence:
 *   knowledge       lines of code in languages whose functions can be found / lines of code examined
 *   information     mean of the shares of files and bytes understood (lib/understanding.mjs, U1)
 *   implementation  files examined / files eligible
 *   validation      (files whose braces closed before the end / files measured by braces) × share of relevant bytes understood
 */
import { formatPath } from "../lib/byte-paths.mjs";
import { appendCapped, createCapped, insertLargest, sealCapped } from "../lib/bounded-lists.mjs";
import { measureComplexity } from "../lib/complexity.mjs";
import { formatCount, formatPercent, share } from "../lib/confidence.mjs";
import { runTool } from "../lib/protocol.mjs";
import { createSample } from "../lib/sampling.mjs";
import { redactSecrets } from "../lib/secret-patterns.mjs";
import { surveyFiles } from "../lib/survey.mjs";
import { createUnderstanding, foldUnderstanding, measureUnderstanding, reasonApart } from "../lib/understanding.mjs";

const MARKERS_MAX = 80;
const PER_FILE_MAX = 10;
const RANKED_MAX = 20;
const TEXT_MAX = 120;
const LONG_LINES = 70;
const MANY_BRANCHES = 15;
const DEEP_NESTING = 5;
const DENSITY_CODE_MIN = 50;

function createState() {
  return {
    counts: { eligible: 0, examined: 0, balanced: 0, braced: 0, code: 0, codeWithFunctions: 0 },
    markers: { TODO: 0, FIXME: 0, HACK: 0, XXX: 0 },
    places: createCapped(),
    markedFiles: 0,
    functions: { found: 0, wrappers: 0, long: 0, branchy: 0, deep: 0, lines: 0 },
    longest: [],
    branchiest: [],
    deepest: [],
    dense: [],
    heavy: [],
    longestFiles: [],
    languages: {},
    understanding: createUnderstanding(),
  };
}

function createFold(sample) {
  return (state, file) => {
    foldUnderstanding(state.understanding, file);
    if (file.class !== "source" || reasonApart(file) !== undefined) return;
    if (!sample.take(state.counts.eligible++)) return;
    const measured = measureComplexity(file);
    const path = formatPath(file.path);
    state.counts.examined++;
    foldLanguage(state, file.language, measured);
    foldMarkers(state, path, measured.markers);
    for (const found of measured.functions) {
      if (isWrapper(found, measured.counts.lines)) state.functions.wrappers++;
      else foldFunction(state, path, found);
    }
    foldFileRanks(state, path, measured);
  };
}

function foldLanguage(state, language, { counts, functions, openAtEnd }) {
  const sums = (state.languages[language.name] ??= { files: 0, code: 0, functions: 0, heuristic: language.functions });
  sums.files++;
  sums.code += counts.code;
  sums.functions += functions.length;
  state.counts.code += counts.code;
  if (language.functions !== "none") state.counts.codeWithFunctions += counts.code;
  if (language.functions === "braces") {
    state.counts.braced++;
    if (openAtEnd === 0) state.counts.balanced++;
  }
}

function foldMarkers(state, path, markers) {
  if (markers.length > 0) state.markedFiles++;
  markers.forEach(({ marker, line, text }, at) => {
    state.markers[marker]++;
    if (at < PER_FILE_MAX) appendCapped(state.places, { path, line, marker, text: showText(text) }, MARKERS_MAX);
    else state.places.total++;
  });
}

function showText(text) {
  const clean = redactSecrets(text.slice(0, 400));
  return formatPath(clean.length > TEXT_MAX ? `${clean.slice(0, TEXT_MAX)}...` : clean);
}

/** A nameless function around nearly the whole file, or a group of tests, is packaging and not a long function. */
function isWrapper({ name, lines }, fileLines) {
  if (/^\(callback of (?:describe|suite|context)\b/.test(name)) return true;
  return name.startsWith("(") && lines >= LONG_LINES && lines > fileLines * 0.9;
}

function foldFunction(state, path, { name, line, lines, branches, nesting }) {
  const { functions } = state;
  functions.found++;
  functions.lines += lines;
  if (lines >= LONG_LINES) functions.long++;
  if (branches >= MANY_BRANCHES) functions.branchy++;
  if (nesting >= DEEP_NESTING) functions.deep++;
  const entry = { path, line, name: formatPath(name), lines, branches, nesting };
  insertLargest(state.longest, { ...entry, value: lines }, RANKED_MAX);
  insertLargest(state.branchiest, { ...entry, value: branches }, RANKED_MAX);
  if (nesting >= DEEP_NESTING) insertLargest(state.deepest, { ...entry, value: nesting }, RANKED_MAX);
}

function foldFileRanks(state, path, { counts, branches, functions }) {
  const entry = { path, code: counts.code, branches, functions: functions.length };
  insertLargest(state.heavy, { ...entry, value: branches }, RANKED_MAX);
  insertLargest(state.longestFiles, { ...entry, value: counts.lines }, RANKED_MAX);
  if (counts.code >= DENSITY_CODE_MIN) {
    const density = Math.round((branches / counts.code) * 1000) / 1000;
    insertLargest(state.dense, { ...entry, value: density }, RANKED_MAX);
  }
}

const withoutValue = ({ value: _value, ...entry }) => entry;

function summarise({ state, walked }, sample) {
  const { counts, functions } = state;
  return {
    walked,
    coverage: {
      eligible: counts.eligible,
      examined: counts.examined,
      share: share(counts.examined, counts.eligible),
      limit: sample.limit,
    },
    markers: {
      ...state.markers,
      total: Object.values(state.markers).reduce((a, b) => a + b, 0),
      files: state.markedFiles,
      places: sealCapped(state.places),
    },
    functions: {
      found: functions.found,
      module_wrappers: functions.wrappers,
      long: functions.long,
      branchy: functions.branchy,
      deep: functions.deep,
      mean_lines: functions.found > 0 ? Math.round((functions.lines / functions.found) * 10) / 10 : 0,
      longest: state.longest.map(withoutValue),
      most_branches: state.branchiest.map(withoutValue),
      deepest: state.deepest.map(withoutValue),
    },
    files: {
      most_branches: state.heavy.map(withoutValue),
      densest: state.dense.map(({ value, ...entry }) => ({ ...entry, branches_per_line: value })),
      longest: state.longestFiles.map(({ value, ...entry }) => ({ ...entry, lines: value })),
    },
    languages: Object.entries(state.languages)
      .map(([language, sums]) => ({ language, ...sums }))
      .sort((a, b) => b.code - a.code || (a.language < b.language ? -1 : 1)),
    thresholds: { long_lines: LONG_LINES, many_branches: MANY_BRANCHES, deep_nesting: DEEP_NESTING },
  };
}

function judge(output, { counts, understanding }) {
  const { coverage } = output;
  const understood = measureUnderstanding(understanding);
  return {
    output,
    confidence: {
      knowledge: share(counts.codeWithFunctions, counts.code),
      information: understood.mean,
      implementation: coverage.share,
      validation: share(share(counts.balanced, counts.braced) * understood.bytes, 1),
    },
    factors: [
      `${formatCount(coverage.examined)} of ${formatCount(coverage.eligible)} eligible files examined (${formatPercent(coverage.share)})`,
      `functions can be found in ${formatPercent(share(counts.codeWithFunctions, counts.code))} of the lines of code`,
      `braces closed in ${formatCount(counts.balanced)} of ${formatCount(counts.braced)} files, so the scanner read them right to the end`,
    ],
    uncertainties: [],
    blockers: [],
    assumptions: [
      "functions are found by braces or by indentation, not by a grammar",
      "a function's length includes the functions inside it; its branches do not",
    ],
  };
}

await runTool((request, channel) => {
  const sample = createSample(request, "hotspots");
  const survey = surveyFiles(request, channel, { createState, fold: createFold(sample), limit: sample.limit });
  return judge(summarise(survey, sample), survey.state);
});
