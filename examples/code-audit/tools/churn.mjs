#!/usr/bin/env node
/**
 * The specialist `churn`: which files change most, who changes them, and which of them are complex too.
 *
 * Without git, without a repository, or where no commit touches the folder, the output is `{available: false, reason}`:
 * an answer, not a failure. Looked at are the last `commit_limit` commits that touch the folder (default 1000).
 * Heat of a file = commits that changed it × its branches (lib/complexity.mjs); only files that still exist have one.
 *
 * Confidence:
 *   knowledge       1 when the question could be decided (also by "there is no repository"), else 0.5
 *   information     1; in a shallow clone 0.5, because the history is cut; 0.8 when more commits exist than were read
 *   implementation  changed files still there and measured / changed files still there that were to be measured
 *   validation      1: git's own record
 */
import { lstatSync } from "node:fs";
import { absolutePath, baseName, formatPath } from "../lib/byte-paths.mjs";
import { insertLargest } from "../lib/bounded-lists.mjs";
import { measureComplexity } from "../lib/complexity.mjs";
import { formatCount, share } from "../lib/confidence.mjs";
import { inspectFile } from "../lib/file-reader.mjs";
import { readCommits, runGit } from "../lib/git-log.mjs";
import { selectLanguage } from "../lib/languages.mjs";
import { requestedFolder, requestedNumber, runTool } from "../lib/protocol.mjs";
import { resolveRoot } from "../lib/walk.mjs";

const COMMITS_MAX = 1000;
const RANKED_MAX = 25;
const MEASURED_MAX = 300;
const LARGE_COMMIT_FILES = 200;

function unavailable(reason, isDecided) {
  return {
    output: { available: false, reason },
    confidence: { knowledge: isDecided ? 1 : 0.5, information: 1, implementation: 1, validation: 1 },
    factors: [reason],
    uncertainties: [],
    blockers: [],
    assumptions: [],
  };
}

function countChanges(commits) {
  const files = new Map();
  const authors = new Map();
  for (const { author, paths } of commits) {
    authors.set(author, (authors.get(author) ?? 0) + 1);
    for (const path of paths) {
      const entry = files.get(path) ?? { path, commits: 0, authors: new Set() };
      entry.commits++;
      entry.authors.add(author);
      files.set(path, entry);
    }
  }
  return { authors, files: [...files.values()].sort((a, b) => b.commits - a.commits || (a.path < b.path ? -1 : 1)) };
}

/** Measures the most changed source files that still exist. */
function measureHeat(root, files) {
  const hot = [];
  const wanted = files
    .filter(({ path }) => selectLanguage(baseName(path)).kind === "code" && sizeOf(root, path) !== undefined)
    .slice(0, MEASURED_MAX);
  let measured = 0;
  for (const { path, commits, authors } of wanted) {
    inspectFile(root, { path, sizeBytes: sizeOf(root, path) ?? 0 }, (file) => {
      if (file.class === "unreadable") return;
      measured++;
      if (file.class !== "source") return;
      const { branches, counts } = measureComplexity(file);
      insertLargest(
        hot,
        {
          value: commits * branches,
          path: formatPath(path),
          commits,
          authors: authors.size,
          branches,
          code: counts.code,
        },
        RANKED_MAX,
      );
    });
  }
  return {
    hot: hot.filter(({ value }) => value > 0).map(({ value, ...entry }) => ({ ...entry, heat: value })),
    wanted: wanted.length,
    measured,
  };
}

function sizeOf(root, path) {
  try {
    const status = lstatSync(absolutePath(root, path));
    return status.isFile() ? status.size : undefined;
  } catch {
    return undefined;
  }
}

const dayOf = (seconds) => new Date(seconds * 1000).toISOString().slice(0, 10);
const shown = (author) => formatPath(author).slice(0, 80);

function summarise({ root, commits, total, isShallow }) {
  const { authors, files } = countChanges(commits);
  const heat = measureHeat(root, files);
  const seconds = commits.map((commit) => commit.seconds);
  const output = {
    available: true,
    commits: {
      read: commits.length,
      touching_folder: total,
      is_shallow: isShallow,
      head: commits[0].hash,
      first_day: dayOf(Math.min(...seconds)),
      last_day: dayOf(Math.max(...seconds)),
    },
    large_commits: commits.filter(({ paths }) => paths.length > LARGE_COMMIT_FILES).length,
    authors: {
      total: authors.size,
      items: [...authors]
        .map(([author, count]) => ({ author: shown(author), commits: count }))
        .sort((a, b) => b.commits - a.commits || (a.author < b.author ? -1 : 1))
        .slice(0, RANKED_MAX),
    },
    files_changed: files.length,
    most_changed: files.slice(0, RANKED_MAX).map(({ path, commits: count, authors: who }) => ({
      path: formatPath(path),
      commits: count,
      authors: who.size,
      exists: sizeOf(root, path) !== undefined,
    })),
    hot: heat.hot,
    single_author_files: files.filter(({ authors: who, commits: count }) => who.size === 1 && count > 1).length,
  };
  return {
    output,
    confidence: {
      knowledge: 1,
      information: isShallow ? 0.5 : total > commits.length ? 0.8 : 1,
      implementation: share(heat.measured, heat.wanted),
      validation: 1,
    },
    factors: [
      `${formatCount(commits.length)} of ${formatCount(total)} commits that touch the folder were read`,
      ...(isShallow ? ["the clone is shallow: older history is not here"] : []),
    ],
    uncertainties: isShallow
      ? [{ what: "history before the shallow boundary", kind: "shallow_history", files: 0, bytes: 0, paths: [] }]
      : [],
    blockers: [],
    assumptions: ["a rename counts as a new file", "names of authors are taken as git records them (.mailmap applied)"],
  };
}

await runTool(async (request, channel) => {
  const root = resolveRoot(requestedFolder(request));
  const inside = await runGit(root, ["rev-parse", "--is-inside-work-tree", "--is-shallow-repository"]);
  if (inside.error)
    return unavailable(`no git history: ${inside.error}`, /not a git repository|not installed/.test(inside.error));
  const [isInside, isShallow] = inside.text.trim().split("\n");
  if (isInside !== "true") return unavailable("no git history: the folder is not part of a work tree", true);
  channel.progress(0.2, "repository found");
  const counted = await runGit(root, ["rev-list", "--count", "HEAD", "--", "."]);
  if (counted.error) return unavailable("no git history: the repository has no commit yet", true);
  const total = Number(counted.text.trim());
  if (total === 0)
    return unavailable("no git history: the folder lies in a repository, but no commit touches it", true);
  const { commits, error } = await readCommits(root, requestedNumber(request, "commit_limit", COMMITS_MAX));
  if (error || commits.length === 0) return unavailable(`no git history: ${error ?? "git listed no commit"}`, false);
  channel.progress(0.6, `${formatCount(commits.length)} commits read`);
  return summarise({ root, commits, total, isShallow: isShallow === "true" });
});
