/**
 * Owns the loop that most specialists share: walk, open, classify, fold, report progress, set milestones, resume.
 *
 * A specialist gives a plain JSON state and a fold over files; this module owns everything else.
 *
 * S1: the state after file n depends on files 1..n alone, so that a run resumed from any milestone ends with the same
 *     state as an undisturbed one (as long as the tree has not changed).
 * S2: the walk itself is repeated on resume (it is cheap and gives the tally); files up to the milestone are not opened.
 */
import { comparePaths, formatPath, parsePath } from "./byte-paths.mjs";
import { formatCount } from "./confidence.mjs";
import { inspectFile } from "./file-reader.mjs";
import { requestedFolder, requestedIncludeSkipped, requestedNumber, resumedState } from "./protocol.mjs";
import { countWalk, createWalk, resolveRoot, summariseTally } from "./walk.mjs";

const MILESTONE_NAME = "walked";
const MILESTONE_FILES = 2000;
const PROGRESS_FILES = 500;

/**
 * Folds every file of the audited folder into a state.
 *
 * Shape: `{root, state, walked}`; `walked` is the tally as it stands in outputs.
 * @param {object} request from `parseRequest`
 * @param {object} channel from `openChannel`
 * @param {{createState: () => object, fold: (state: object, file: object, root: string) => void, countSkipped?: boolean,
 *   limit?: number | null, save?: (state: object) => object, restore?: (sums: object) => object | undefined}} survey `save` and `restore` turn a
 *   state that is no plain JSON into one and back; a `restore` without answer starts afresh
 */
export function surveyFiles(request, channel, survey) {
  const root = resolveRoot(requestedFolder(request));
  const options = { includeSkipped: requestedIncludeSkipped(request), countSkipped: survey.countSkipped };
  const total = request.outputs.inventory?.walked?.files ?? countWalk(root, { includeSkipped: options.includeSkipped });
  const every = requestedNumber(request, "milestone_files", MILESTONE_FILES);
  const plan = JSON.stringify([formatPath(root), options.includeSkipped, survey.limit ?? null]);
  const { state, position } = startingPoint(request, survey, plan);
  const walk = createWalk(root, options);
  let seen = 0;
  for (const file of walk.files()) {
    seen++;
    if (position !== undefined && comparePaths(file.path, position) <= 0) continue;
    inspectFile(root, file, (opened) => survey.fold(state, opened, root));
    if (seen % PROGRESS_FILES === 0) {
      channel.progress(Math.min(seen / total, 1), `${formatCount(seen)} of ${formatCount(total)} files`);
    }
    if (seen % every === 0) {
      const sums = survey.save ? survey.save(state) : state;
      channel.milestone(MILESTONE_NAME, { position: formatPath(file.path), files: seen, plan, sums });
    }
  }
  channel.progress(1, `${formatCount(seen)} files`);
  return { root, state, walked: summariseTally(walk.tally) };
}

/** The state to begin with; a milestone of another plan (folder, limit) is not taken up. */
function startingPoint(request, survey, plan) {
  const milestone = resumedState(request, MILESTONE_NAME);
  const resumed = milestone?.plan === plan ? milestone : undefined;
  const state = resumed && survey.restore ? survey.restore(resumed.sums) : resumed?.sums;
  return state
    ? { state, position: parsePath(resumed.position) }
    : { state: survey.createState(), position: undefined };
}
