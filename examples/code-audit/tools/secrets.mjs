#!/usr/bin/env node
/**
 * The specialist `secrets`: suspected secrets in text files, by pattern and by entropy; never a value.
 *
 * Every text is read, generated and minified ones included, up to 64 MiB each. A finding is *likely* when its shape is
 * specific and neither its path nor its value says test, example or documentation; else it is *doubtful*.
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
import { findSecrets } from "../lib/secret-patterns.mjs";
import { surveyFiles } from "../lib/survey.mjs";
import { createUnderstanding, foldUnderstanding } from "../lib/understanding.mjs";

const LISTED_MAX = 120;
const PER_FILE_MAX = 20;
const FIXTURE_PATH =
  /(?:^|[/._-])(?:tests?|specs?|__tests__|__mocks__|fixtures?|mocks?|examples?|samples?|demos?|docs?|testdata|e2e|cypress|stories|golden|vectors)(?=[/._-])|\.(?:md|markdown|rst|adoc|txt|d\.ts|d\.mts|d\.cts)$/i;
const SETTINGS_NAME =
  /(?:^|\/)(?:\.env[^/]*|[^/]*\.(?:env|ini|cfg|conf|properties|toml|npmrc|ya?ml|sh|tfvars))$|(?:^|\/)(?:\.npmrc|\.pypirc|\.netrc|credentials)$/i;

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
  const isMap = file.reason === "source map";
  if (!isMap) state.textBytes += file.sizeBytes;
  const isSettings = SETTINGS_NAME.test(file.path);
  const seen = new Set();
  const doubtfulBefore = state.doubtful.total;
  for (const { text, line } of file.chunks()) {
    let counted = { line, index: 0 };
    for (const finding of findSecrets(text, isSettings)) {
      counted = advance(text, counted, finding.index);
      const key = `${counted.line} ${finding.kind} ${finding.fingerprint}`;
      if (seen.has(key)) continue;
      seen.add(key);
      addFinding(state, { file, finding, line: counted.line, count: seen.size });
    }
  }
  if (seen.size > 0) state.filesWithFindings++;
  if (state.doubtful.total > doubtfulBefore) state.filesInDoubt++;
  if (isMap) return;
  state.searchedFiles++;
  state.searchedBytes += Math.min(file.sizeBytes, FULL_READ_BYTES_MAX);
}

function advance(text, { line, index }, until) {
  let number = line;
  for (let at = text.indexOf("\n", index); at >= 0 && at < until; at = text.indexOf("\n", at + 1)) number++;
  return { line: number, index: until };
}

function addFinding(state, { file, finding, line, count }) {
  const reasons = [];
  if (FIXTURE_PATH.test(file.path)) reasons.push("path of a test, an example, documentation or declarations");
  if (finding.isPlaceholder) reasons.push("value looks like a placeholder");
  if (!finding.isSpecific) reasons.push("no specific shape");
  const kind = (state.kinds[finding.kind] ??= { likely: 0, doubtful: 0 });
  const list = reasons.length === 0 ? "likely" : "doubtful";
  kind[list]++;
  if (finding.isSpecific || Object.keys(state.fingerprints).length < 400) {
    state.fingerprints[finding.fingerprint] = (state.fingerprints[finding.fingerprint] ?? 0) + 1;
  }
  if (count > PER_FILE_MAX) {
    state.overflow++;
    state[list].total++;
    return;
  }
  appendCapped(
    state[list],
    {
      path: formatPath(file.path),
      line,
      kind: finding.kind,
      fingerprint: finding.fingerprint,
      ...(reasons.length > 0 ? { doubts: reasons } : {}),
    },
    LISTED_MAX,
  );
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
  return {
    output,
    confidence: {
      knowledge: share(state.searchedFiles - state.filesInDoubt, state.searchedFiles),
      information: meanShare([share(state.searchedFiles, relevant.files), share(state.searchedBytes, relevant.bytes)]),
      implementation: share(state.searchedBytes, state.textBytes),
      validation: share(state.searchedBytes, relevant.bytes),
    },
    factors: [
      `${formatCount(specific)} of ${formatCount(total)} findings have the specific shape of a known key`,
      `${formatPercent(share(state.searchedBytes, relevant.bytes))} of the relevant bytes are text and were searched`,
    ],
    uncertainties: [],
    blockers: [],
    assumptions: ["a secret stands on one line and in clear; encoded, split or encrypted secrets are not found"],
  };
}

await runTool((request, channel) => {
  const survey = surveyFiles(request, channel, { createState, fold: foldFile });
  return judge(summarise(survey), survey.state);
});
