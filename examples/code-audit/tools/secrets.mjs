#!/usr/bin/env node
/**
 * The specialist `secrets`: suspected secrets in text files, by pattern and by entropy; never a value.
 *
 * Every text is read, generated and minified ones included, up to 64 MiB each. A finding is *likely* when its shape is
 * specific and its path says neither test, example nor documentation; else it is *doubtful*.
 *
 * What cannot be read as text is the inventory's to name; this specialist names no uncertainty of its own.
 *
 * Confidence:
 *   knowledge       text files without a doubtful finding / text files searched
 *   information     mean of the shares of relevant files and of relevant bytes that were searched
 *   implementation  text bytes searched / text bytes met
 *   validation      relevant bytes that are text, so that a search can be repeated on them / relevant bytes
 */
import { formatPath } from "../lib/byte-paths.mjs";
import { appendCapped, createCapped, sealCapped } from "../lib/bounded-lists.mjs";
import { formatCount, formatPercent, meanShare, share } from "../lib/confidence.mjs";
import { FULL_READ_BYTES_MAX } from "../lib/file-kinds.mjs";
import { runTool } from "../lib/protocol.mjs";
import { searchFile } from "../lib/secret-search.mjs";
import { surveyFiles } from "../lib/survey.mjs";
import { createUnderstanding, foldUnderstanding } from "../lib/understanding.mjs";

const LISTED_MAX = 120;
const PER_FILE_MAX = 20;
const FIXTURE_PATH =
  /(?:^|[/._-])(?:tests?|specs?|__tests__|__mocks__|fixtures?|mocks?|examples?|samples?|demos?|docs?|man|manual|testdata|e2e|cypress|stories|golden|vectors)(?=[/._-])|\.(?:md|markdown|rst|adoc|txt|html?|[1-9]|d\.ts|d\.mts|d\.cts)$/i;

function createState() {
  return {
    likely: createCapped(),
    doubtful: createCapped(),
    kinds: {},
    fingerprints: {},
    overflow: 0,
    textBytes: 0,
    searchedBytes: 0,
    searchedFiles: 0,
    filesWithFindings: 0,
    filesInDoubt: 0,
    understanding: createUnderstanding(),
  };
}

function foldFile(state, file) {
  foldUnderstanding(state.understanding, file);
  if (["empty", "asset", "binary", "unreadable"].includes(file.class)) return;
  const doubtfulBefore = state.doubtful.total;
  const found = searchFile(file);
  found.forEach((finding, at) => addFinding(state, { file, finding, isListed: at < PER_FILE_MAX }));
  if (found.length > 0) state.filesWithFindings++;
  if (state.doubtful.total > doubtfulBefore) state.filesInDoubt++;
  if (file.reason === "source map") return;
  state.textBytes += file.sizeBytes;
  state.searchedFiles++;
  state.searchedBytes += Math.min(file.sizeBytes, FULL_READ_BYTES_MAX);
}

function addFinding(state, { file, finding, isListed }) {
  const { line, kind, fingerprint, isSpecific } = finding;
  const doubts = [];
  if (FIXTURE_PATH.test(file.path)) doubts.push("path of a test, an example, documentation or declarations");
  if (!isSpecific) doubts.push("no specific shape");
  const list = doubts.length === 0 ? "likely" : "doubtful";
  (state.kinds[kind] ??= { likely: 0, doubtful: 0 })[list]++;
  if (isSpecific || Object.keys(state.fingerprints).length < 400) {
    state.fingerprints[fingerprint] = (state.fingerprints[fingerprint] ?? 0) + 1;
  }
  if (isListed) {
    const entry = { path: formatPath(file.path), line, kind, fingerprint, ...(doubts.length > 0 ? { doubts } : {}) };
    appendCapped(state[list], entry, LISTED_MAX);
  } else {
    state.overflow++;
    state[list].total++;
  }
}

function summarise({ state, walked }) {
  const repeated = Object.entries(state.fingerprints)
    .filter(([, places]) => places > 1)
    .map(([fingerprint, places]) => ({ fingerprint, places }))
    .sort((a, b) => b.places - a.places || (a.fingerprint < b.fingerprint ? -1 : 1));
  return {
    walked,
    searched: { files: state.searchedFiles, bytes: state.searchedBytes, text_bytes: state.textBytes },
    likely: sealCapped(state.likely),
    doubtful: sealCapped(state.doubtful),
    files_with_findings: state.filesWithFindings,
    cut_in_single_files: state.overflow,
    kinds: Object.fromEntries(Object.entries(state.kinds).sort(([a], [b]) => (a < b ? -1 : 1))),
    repeated_values: repeated.slice(0, 20),
    value_policy: "values are never recorded; a fingerprint is the start of a SHA-256",
  };
}

function judge(output, state) {
  const total = output.likely.total + output.doubtful.total;
  const specific = Object.entries(output.kinds)
    .filter(([kind]) => !kind.startsWith("assignment"))
    .reduce((sum, [, { likely, doubtful }]) => sum + likely + doubtful, 0);
  const { relevant } = state.understanding;
  const bytes = share(state.searchedBytes, relevant.bytes);
  return {
    output,
    confidence: {
      knowledge: share(state.searchedFiles - state.filesInDoubt, state.searchedFiles),
      information: meanShare([share(state.searchedFiles, relevant.files), bytes]),
      implementation: share(state.searchedBytes, state.textBytes),
      validation: bytes,
    },
    factors: [
      `${formatCount(specific)} of ${formatCount(total)} findings have the specific shape of a known key`,
      `${formatPercent(bytes)} of the relevant bytes are text and were searched`,
    ],
    uncertainties: [],
    blockers: [],
    assumptions: ["a secret stands in clear and, but for private keys, on one line; encrypted secrets are not found"],
  };
}

await runTool((request, channel) => {
  const survey = surveyFiles(request, channel, { createState, fold: foldFile });
  return judge(summarise(survey), survey.state);
});
