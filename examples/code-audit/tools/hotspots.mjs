/**
 * The specialist `hotspots`: where the code is hard to change, and where its authors left a marker.
 *
 * Looked at is source that is understood (lib/understanding.mjs), in the first iteration no more than `first_pass_files`. Files
 * left out are no uncertainty but work not done: they lower `implementation`, and Apollo asks for them. How functions, branches and
 * nesting are found is said in lib/braces.mjs and lib/indents.mjs; in other languages none is claimed.
 *
 * Confidence:
 *   knowledge       lines of code in languages whose functions can be found / lines of code examined
 *   information     mean of the shares of files and bytes understood (U1)
 *   implementation  files examined / files eligible
 *   validation      (files whose braces closed before the end / files measured by braces) × share of relevant bytes understood
 */
import { formatPath } from "../lib/byte-paths.mjs";
import { confidenceOf, count, formatPercent, share } from "../lib/figures.mjs";
import { appendCapped, capList, compareText, insertLargest } from "../lib/lists.mjs";
import { measureSource } from "../lib/measure.mjs";
import { redactSecrets } from "../lib/secrets.mjs";
import { createSample, describeCoverage, surveyFiles } from "../lib/survey.mjs";
import { createUnderstanding, foldUnderstanding, measureUnderstanding, reasonApart } from "../lib/understanding.mjs";

const MARKERS_MAX = 80;
const PER_FILE_MAX = 10;
const RANKED_MAX = 20;
const TEXT_MAX = 120;
const LIMITS = { long_lines: 70, many_branches: 15, deep_nesting: 5 };

export default function hotspots(request, channel) {
  const sample = createSample(request, "hotspots");
  const counts = { eligible: 0, examined: 0, balanced: 0, braced: 0, code: 0, codeWithFunctions: 0 };
  const state = {
    ...counts,
    markers: { TODO: 0, FIXME: 0, HACK: 0, XXX: 0, total: 0, files: 0, places: capList([]) },
    functions: { found: 0, module_wrappers: 0, long: 0, branchy: 0, deep: 0, lines: 0, longest: [], most_branches: [] },
    languages: {},
    understanding: createUnderstanding(),
  };
  const fold = (sums, file) => foldFile(sums, file, sample);
  const survey = surveyFiles(request, channel, { state, fold, limit: sample.limit });
  const output = summarise(survey, sample);
  return { output, ...judge(output, survey.state) };
}

function foldFile(state, file, sample) {
  foldUnderstanding(state.understanding, file);
  if (file.class !== "source" || reasonApart(file) !== undefined || !sample.take(state.eligible++)) return;
  const measured = measureSource(file);
  const path = formatPath(file.path);
  state.examined++;
  foldLanguage(state, file.language, measured);
  foldMarkers(state.markers, path, measured.markers);
  for (const found of measured.functions) foldFunction(state.functions, { path, ...found }, measured.counts.lines);
}

function foldLanguage(state, { name, functions: heuristic }, { counts, functions, openAtEnd }) {
  const sums = (state.languages[name] ??= { files: 0, code: 0, functions: 0, heuristic });
  sums.files++;
  sums.code += counts.code;
  sums.functions += functions.length;
  state.code += counts.code;
  if (heuristic !== "none") state.codeWithFunctions += counts.code;
  if (heuristic === "braces") state.braced++;
  if (openAtEnd === 0) state.balanced++;
}

function foldMarkers(markers, path, found) {
  if (found.length > 0) markers.files++;
  markers.total += found.length;
  found.forEach(({ marker, line, text }, at) => {
    markers[marker]++;
    const clean = redactSecrets(text.slice(0, 400));
    const shown = formatPath(clean.length > TEXT_MAX ? `${clean.slice(0, TEXT_MAX)}...` : clean);
    appendCapped(markers.places, { path, line, marker, text: shown }, at < PER_FILE_MAX ? MARKERS_MAX : 0);
  });
}

function foldFunction(functions, found, fileLines) {
  const { name, lines, branches, nesting } = found;
  // A nameless function around nearly the whole file, or a group of tests, is packaging and not a long function.
  const isWhole = name.startsWith("(") && lines >= LIMITS.long_lines && lines > fileLines * 0.9;
  if (isWhole || /^\(callback of (?:describe|suite|context)\b/.test(name)) {
    functions.module_wrappers++;
    return;
  }
  functions.found++;
  functions.lines += lines;
  if (lines >= LIMITS.long_lines) functions.long++;
  if (branches >= LIMITS.many_branches) functions.branchy++;
  if (nesting >= LIMITS.deep_nesting) functions.deep++;
  const entry = { ...found, name: formatPath(name) };
  insertLargest(functions.longest, { ...entry, value: lines }, RANKED_MAX);
  insertLargest(functions.most_branches, { ...entry, value: branches }, RANKED_MAX);
}

function summarise({ state, walked }, sample) {
  const { lines, longest, most_branches: branchiest, ...functions } = state.functions;
  const show = ({ value: _value, ...entry }) => entry;
  return {
    walked,
    coverage: describeCoverage(state, sample),
    markers: state.markers,
    functions: {
      ...functions,
      mean_lines: functions.found > 0 ? Math.round((lines / functions.found) * 10) / 10 : 0,
      longest: longest.map(show),
      most_branches: branchiest.map(show),
    },
    languages: Object.entries(state.languages)
      .map(([language, sums]) => ({ language, ...sums }))
      .sort((a, b) => b.code - a.code || compareText(a.language, b.language)),
    thresholds: LIMITS,
  };
}

function judge({ walked, coverage }, { balanced, braced, code, codeWithFunctions, understanding }) {
  const understood = measureUnderstanding(understanding);
  const known = share(codeWithFunctions, code);
  const validation = share(share(balanced, braced) * understood.bytes, 1);
  return {
    confidence: confidenceOf(walked.files, [known, understood.mean, coverage.share, validation]),
    factors: [
      `${coverage.examined} of ${count(coverage.eligible, "eligible file")} examined (${formatPercent(coverage.share)})`,
      `functions can be found in ${formatPercent(known)} of the lines of code`,
      `braces closed in ${balanced} of ${count(braced, "file")}, so the scanner read them right to the end`,
    ],
    assumptions: [
      "functions are found by braces or by indentation, not by a grammar",
      "a function's length includes the functions inside it; its branches do not",
    ],
  };
}
