#!/usr/bin/env node
/**
 * A scorer (dimension `evidence`): do the claims hold when someone looks again?
 *
 * The score is the share of claims that hold, of each kind, averaged over the kinds that have claims
 * (lib/evidence-checks.mjs), so that many easy claims do not hide a few that fail. A report without any claim that
 * could be checked scores 50.
 */
import { share } from "../lib/confidence.mjs";
import {
  checkBlocks,
  checkEmptiness,
  checkLicences,
  checkMarkers,
  checkPaths,
  checkSecrets,
  checkSizes,
} from "../lib/evidence-checks.mjs";
import { requestedFolder, runTool } from "../lib/protocol.mjs";
import { resolveRoot } from "../lib/walk.mjs";

const CHECKS = {
  emptiness: checkEmptiness,
  paths: checkPaths,
  sizes: checkSizes,
  secrets: checkSecrets,
  markers: checkMarkers,
  blocks: checkBlocks,
  licences: checkLicences,
};
const ISSUES_MAX = 20;
const SCORE_WITHOUT_CLAIMS = 50;

await runTool((request) => {
  const root = resolveRoot(requestedFolder(request));
  const kinds = Object.entries(CHECKS)
    .map(([kind, check]) => ({ kind, claims: check(root, request.outputs) }))
    .filter(({ claims }) => claims.length > 0);
  const failed = kinds.flatMap(({ claims }) => claims.filter(({ holds }) => !holds));
  const shares = kinds.map(({ claims }) => share(claims.filter(({ holds }) => holds).length, claims.length));
  const score =
    shares.length === 0
      ? SCORE_WITHOUT_CLAIMS
      : Math.round((shares.reduce((a, b) => a + b, 0) / shares.length) * 1000) / 10;
  return {
    score,
    issues: failed
      .slice(0, ISSUES_MAX)
      .map(({ claim, where }) => ({ text: `does not hold: ${claim}`, severity: "high", where })),
    feedback: failed.length === 0 ? "" : `${failed.length} claims do not hold when the files are read again`,
    evidence: kinds
      .map(({ kind, claims }) => `${kind}: ${claims.filter(({ holds }) => holds).length} of ${claims.length} hold`)
      .join("; "),
  };
});
