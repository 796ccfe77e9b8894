/**
 * The loop that most specialists share: walk, open, fold, report progress, set milestones, resume.
 *
 * S1: the state after file n depends on files 1..n alone, so a run resumed from any milestone ends with the same state as an
 *     undisturbed one (as long as the tree has not changed).
 * S2: the walk itself is repeated on resume (it is cheap and gives the tally); files up to the milestone are not opened.
 */
import { baseName, comparePaths, formatPath, parsePath } from "./byte-paths.mjs";
import { inspectFile } from "./files.mjs";
import { count, formatCount, share } from "./figures.mjs";
import { selectLanguage } from "./languages.mjs";
import { numberSetting } from "./protocol.mjs";
import { createWalk, resolveRoot } from "./walk.mjs";

const MILESTONE = "walked";
const MILESTONE_FILES = 2000;
const PROGRESS_FILES = 500;
const FIRST_PASS_FILES = 5000;

/**
 * Folds every file of the audited folder into a state: `{root, state, walked}`. A `state` that is plain JSON is kept in milestones;
 * with `isPlain` false a crashed search begins afresh.
 */
export function surveyFiles(request, channel, { state: fresh, fold, limit = null, isPlain = true, countSkipped }) {
  const root = resolveRoot(request.folder);
  const { includeSkipped } = request;
  const total = knownTotal(request) ?? countFiles(root, includeSkipped);
  const plan = JSON.stringify([formatPath(root), includeSkipped, limit]);
  const resumed = isPlain ? resumedFrom(request, plan) : undefined;
  const state = resumed?.sums ?? fresh;
  const every = isPlain ? numberSetting(request, "milestone_files", MILESTONE_FILES) : Number.POSITIVE_INFINITY;
  const walk = createWalk(root, { includeSkipped, countSkipped });
  let files = 0;
  for (const file of walk.files()) {
    files++;
    if (isBefore(file, resumed)) continue;
    inspectFile(root, file, (opened) => fold(state, opened));
    if (files % every === 0)
      channel.milestone(MILESTONE, { position: formatPath(file.path), files, plan, sums: state });
    if (files % PROGRESS_FILES === 0) tellProgress(channel, files, total);
  }
  tellProgress(channel, files, files);
  return { root, state, walked: walk.summarise() };
}

const knownTotal = ({ outputs }) => outputs.inventory?.walked?.files;

function tellProgress(channel, files, total) {
  channel.progress(Math.min(share(files, total), 1), `${formatCount(files)} of ${count(total, "file")}`);
}

const isBefore = ({ path }, resumed) => resumed !== undefined && comparePaths(path, resumed.position) <= 0;

/** The sums and the place of the milestone to go on from; one of another plan (folder, limit) is not taken up. */
function resumedFrom({ resume }, plan) {
  const { name, state } = resume?.milestone ?? {};
  return name === MILESTONE && state?.plan === plan ? { ...state, position: parsePath(state.position) } : undefined;
}

function countFiles(root, includeSkipped, isWanted = () => true) {
  let files = 0;
  for (const file of createWalk(root, { includeSkipped }).files()) if (isWanted(file)) files++;
  return files;
}

/** The words by which scorer and specialist understand each other. */
export function coverageFeedback(name) {
  return `${name}: look at every file`;
}

/**
 * Which source files an expensive specialist looks at: in the first iteration no more than `first_pass_files`, spread evenly
 * over the walk; all of them once the evaluator's feedback asks for it. `take(seen)` is asked once per candidate, in walk order.
 */
export function createSample(request, name) {
  const isFull = request.feedback.some((text) => String(text).includes(coverageFeedback(name)));
  if (isFull) return { limit: null, take: () => true };
  const limit = numberSetting(request, "first_pass_files", FIRST_PASS_FILES);
  const isSource = ({ path }) => selectLanguage(baseName(path)).kind === "code";
  const known = request.outputs.inventory?.classes?.source?.files;
  const expected = known ?? countFiles(resolveRoot(request.folder), request.includeSkipped, isSource);
  const upTo = (seen) => Math.floor((seen * limit) / expected);
  return { limit, take: (seen) => expected <= limit || upTo(seen + 1) > upTo(seen) };
}

/** How many of the files that a specialist could look at it did look at. */
export function describeCoverage({ eligible, examined }, { limit }) {
  return { eligible, examined, share: share(examined, eligible), limit };
}
