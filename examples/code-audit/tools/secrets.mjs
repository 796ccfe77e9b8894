/**
 * The specialist `secrets`: suspected secrets in text files, by pattern and by entropy; never a value.
 *
 * Every text is read, generated and minified ones included, up to 64 MiB each. A finding is *likely* when its shape is
 * specific and its path says neither test, example nor documentation; else it is *doubtful*.
 *
 * Confidence:
 *   knowledge       text files without a doubtful finding / text files searched
 *   information     mean of the shares of relevant files and of relevant bytes that were searched
 *   implementation  text bytes searched / text bytes met
 *   validation      relevant bytes that are text, so that a search can be repeated on them / relevant bytes
 */
import { formatPath } from "../lib/byte-paths.mjs";
import { confidenceOf, count, formatPercent, meanShare, share } from "../lib/figures.mjs";
import { READ_BYTES_MAX } from "../lib/files.mjs";
import { appendCapped, capList, compareText } from "../lib/lists.mjs";
import { searchFile } from "../lib/secrets.mjs";
import { surveyFiles } from "../lib/survey.mjs";
import { createUnderstanding, foldUnderstanding } from "../lib/understanding.mjs";

const LISTED_MAX = 120;
const PER_FILE_MAX = 20;
const FINGERPRINTS_MAX = 400;
const FIXTURE_PATH =
  /(?:^|[/._-])(?:tests?|specs?|__tests__|__mocks__|fixtures?|mocks?|examples?|samples?|demos?|docs?|man|manual|testdata|e2e|cypress|stories|golden|vectors)(?=[/._-])|\.(?:md|markdown|rst|adoc|txt|html?|[1-9]|d\.ts|d\.mts|d\.cts)$/i;

export default function secrets(request, channel) {
  const lists = { likely: capList([]), doubtful: capList([]), kinds: {}, fingerprints: {}, filesInDoubt: 0 };
  const searched = { files: 0, bytes: 0, text_bytes: 0 };
  const state = { ...lists, searched, filesWithFindings: 0, understanding: createUnderstanding() };
  const { walked, state: found } = surveyFiles(request, channel, { state, fold });
  return { output: summarise(found, walked), ...judge(found, walked) };
}

function fold(state, file) {
  foldUnderstanding(state.understanding, file);
  if (["empty", "asset", "binary", "unreadable"].includes(file.class)) return;
  const doubtfulBefore = state.doubtful.total;
  const found = searchFile(file);
  found.forEach((finding, at) => addFinding(state, file.path, { ...finding, isListed: at < PER_FILE_MAX }));
  if (found.length > 0) state.filesWithFindings++;
  if (state.doubtful.total > doubtfulBefore) state.filesInDoubt++;
  if (file.reason === "source map") return;
  state.searched.files++;
  state.searched.text_bytes += file.sizeBytes;
  state.searched.bytes += Math.min(file.sizeBytes, READ_BYTES_MAX);
}

function addFinding(state, path, { line, kind, fingerprint, isSpecific, isListed }) {
  const doubts = [];
  if (FIXTURE_PATH.test(path)) doubts.push("in a test, an example, documentation or declarations");
  if (!isSpecific) doubts.push("no specific shape");
  const list = doubts.length === 0 ? "likely" : "doubtful";
  (state.kinds[kind] ??= { likely: 0, doubtful: 0 })[list]++;
  if (isSpecific || Object.keys(state.fingerprints).length < FINGERPRINTS_MAX)
    state.fingerprints[fingerprint] = (state.fingerprints[fingerprint] ?? 0) + 1;
  const entry = { path: formatPath(path), line, kind, fingerprint, ...(doubts.length > 0 ? { doubts } : {}) };
  appendCapped(state[list], entry, isListed ? LISTED_MAX : 0);
}

function summarise({ likely, doubtful, kinds, fingerprints, searched, filesWithFindings }, walked) {
  const repeated = Object.entries(fingerprints)
    .filter(([, places]) => places > 1)
    .map(([fingerprint, places]) => ({ fingerprint, places }))
    .sort((a, b) => b.places - a.places || compareText(a.fingerprint, b.fingerprint));
  const sorted = Object.fromEntries(Object.entries(kinds).sort(([a], [b]) => compareText(a, b)));
  const lists = { likely, doubtful, kinds: sorted, repeated_values: repeated.slice(0, 20) };
  return { walked, searched, ...lists, files_with_findings: filesWithFindings };
}

function judge({ likely, doubtful, searched, filesInDoubt, understanding: { relevant } }, walked) {
  const bytes = share(searched.bytes, relevant.bytes);
  return {
    confidence: confidenceOf(walked.files, [
      share(searched.files - filesInDoubt, searched.files),
      meanShare([share(searched.files, relevant.files), bytes]),
      share(searched.bytes, searched.text_bytes),
      bytes,
    ]),
    factors: [
      `${count(likely.total, "likely finding")} and ${count(doubtful.total, "doubtful one")}`,
      `${formatPercent(bytes)} of the relevant bytes are text and were searched`,
    ],
    assumptions: ["a secret stands in clear and, but for private keys, on one line; encrypted secrets are not found"],
  };
}
