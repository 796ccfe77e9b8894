/**
 * Owns the limit on how many source files an expensive specialist looks at, and how it is lifted.
 *
 * The first iteration looks at no more than `first_pass_files` files, spread evenly over the walk. When the evaluator's
 * feedback says of this specialist that its coverage is too small, the next iteration looks at every file.
 */
import { baseName } from "./byte-paths.mjs";
import { selectLanguage } from "./languages.mjs";
import { requestedFolder, requestedIncludeSkipped, requestedNumber } from "./protocol.mjs";
import { createWalk, resolveRoot } from "./walk.mjs";

export const FIRST_PASS_FILES = 5000;

/** Whether the feedback asks this specialist to look at everything; the scorer writes exactly this form. */
export function isFullPassRequested(request, name) {
  return request.feedback.some((text) => String(text).includes(coverageFeedback(name)));
}

/** The words by which scorer and specialist understand each other. */
export function coverageFeedback(name) {
  return `${name}: look at every file`;
}

/**
 * Creates the choice of files for one specialist.
 *
 * Shape: `take()` is called once per candidate in walk order and answers whether to look at it; `limit` is null when all are.
 */
export function createSample(request, name) {
  const limit = isFullPassRequested(request, name)
    ? Number.POSITIVE_INFINITY
    : requestedNumber(request, "first_pass_files", FIRST_PASS_FILES);
  const expected = Number.isFinite(limit) ? countCandidates(request) : 0;
  return {
    limit: Number.isFinite(limit) ? limit : null,
    take: (seen) => expected <= limit || isTaken(seen, limit, expected),
  };
}

/** Even spread: of `expected` candidates, `limit` are taken; `seen` counts those before this one. */
function isTaken(seen, limit, expected) {
  return Math.floor(((seen + 1) * limit) / expected) > Math.floor((seen * limit) / expected);
}

function countCandidates(request) {
  const known = request.outputs.inventory?.classes?.source?.files;
  if (Number.isInteger(known)) return known;
  let count = 0;
  for (const file of createWalk(resolveRoot(requestedFolder(request)), {
    includeSkipped: requestedIncludeSkipped(request),
  }).files()) {
    if (selectLanguage(baseName(file.path)).kind === "code") count++;
  }
  return count;
}
