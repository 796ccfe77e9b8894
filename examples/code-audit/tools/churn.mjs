/**
 * The specialist `churn`: which files change most, who changes them, and which of them are complex too.
 *
 * Without git, without a repository, or where no commit touches the folder, the output is `{available: false, reason}`:
 * an answer, not a failure. Looked at are the last `commit_limit` commits that touch the folder. A file keeps its history when it
 * is renamed. Heat of a file = commits that changed it × its branches; only files that still exist have one.
 *
 * Confidence:
 *   knowledge       1 when the question could be decided (also by "there is no repository"), else 0.5
 *   information     1; in a shallow clone 0.5, because the history is cut; 0.8 when more commits exist than were read
 *   implementation  changed files still there and measured / changed files still there that were to be measured
 *   validation      1: git's own record
 */
import { lstatSync } from "node:fs";
import { absolutePath, baseName, formatPath } from "../lib/byte-paths.mjs";
import { count, formatCount, share } from "../lib/figures.mjs";
import { inspectFile } from "../lib/files.mjs";
import { readCommits, runGit } from "../lib/git.mjs";
import { selectLanguage } from "../lib/languages.mjs";
import { compareText, countBy, insertLargest } from "../lib/lists.mjs";
import { measureSource } from "../lib/measure.mjs";
import { numberSetting } from "../lib/protocol.mjs";
import { resolveRoot } from "../lib/walk.mjs";

const COMMITS_MAX = 1000;
const RANKED_MAX = 25;
const MEASURED_MAX = 300;

export default function churn(request, channel) {
  const root = resolveRoot(request.folder);
  const inside = runGit(root, ["rev-parse", "--is-inside-work-tree", "--is-shallow-repository"]);
  if (inside.error) return unavailable(inside.error, /not a git repository|not installed/.test(inside.error));
  const [isInside, isShallow] = inside.text.trim().split("\n");
  if (isInside !== "true") return unavailable("the folder is not part of a work tree", true);
  const { text, error: noCommit } = runGit(root, ["rev-list", "--count", "HEAD", "--", "."]);
  if (noCommit) return unavailable("the repository has no commit yet", true);
  const total = Number(text.trim());
  if (total === 0) return unavailable("the folder lies in a repository, but no commit touches it", true);
  const { commits, error } = readCommits(root, numberSetting(request, "commit_limit", COMMITS_MAX));
  if (error || commits.length === 0) return unavailable(error ?? "git listed no commit", false);
  channel.progress(0.6, `${count(commits.length, "commit")} read`);
  return summarise({ root, commits, total, isShallow: isShallow === "true" });
}

function unavailable(why, isDecided) {
  const reason = `no git history: ${why.replace(/ \(or any .*/, "")}`;
  const confidence = { knowledge: isDecided ? 1 : 0.5, information: 1, implementation: 1, validation: 1 };
  return { output: { available: false, reason }, confidence, factors: [reason], assumptions: [] };
}

/** The changed files under the names they have last, the most changed first. Commits come newest first. */
function countChanges(commits) {
  const files = new Map();
  const laterName = new Map();
  for (const { author, changes } of commits) {
    const ofCommit = changes.map((change) => ({ ...change, name: laterName.get(change.path) ?? change.path }));
    for (const { name, path, from, isNew } of ofCommit) {
      const entry = files.get(name) ?? { path: name, commits: 0, authors: new Set() };
      files.set(name, entry);
      entry.commits++;
      entry.authors.add(author);
      if (isNew || from !== undefined) laterName.delete(path);
    }
    for (const { name, from } of ofCommit) if (from !== undefined) laterName.set(from, name);
  }
  return [...files.values()].sort((a, b) => b.commits - a.commits || compareText(a.path, b.path));
}

/** Measures the most changed source files that still exist. */
function measureHeat(root, files) {
  const isSource = ({ path }) => selectLanguage(baseName(path)).kind === "code" && statusOf(root, path)?.isFile();
  const wanted = files.filter(isSource).slice(0, MEASURED_MAX);
  const hot = [];
  let measured = 0;
  for (const { path, commits, authors } of wanted) {
    inspectFile(root, { path }, (file) => {
      if (file.class !== "unreadable") measured++;
      if (file.class !== "source") return;
      const { branches, counts } = measureSource(file);
      const entry = { path: formatPath(path), commits, authors: authors.size, branches, code: counts.code };
      if (branches > 0) insertLargest(hot, { ...entry, value: commits * branches }, RANKED_MAX);
    });
  }
  return { hot: hot.map(({ value, ...entry }) => ({ ...entry, heat: value })), done: share(measured, wanted.length) };
}

function statusOf(root, path) {
  try {
    return lstatSync(absolutePath(root, path), { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function summarise({ root, commits, total, isShallow }) {
  const files = countChanges(commits);
  const { hot, done } = measureHeat(root, files);
  const days = commits.map(({ seconds }) => new Date(seconds * 1000).toISOString().slice(0, 10)).sort();
  const authors = countBy(commits, ({ author }) => author);
  const of = { read: commits.length, touching_folder: total, is_shallow: isShallow, head: commits[0].hash };
  const cut = { what: "history before the shallow boundary", kind: "shallow_history", files: 0, bytes: 0, paths: [] };
  return {
    output: {
      available: true,
      commits: { ...of, first_day: days[0], last_day: days.at(-1) },
      authors: {
        total: authors.length,
        items: authors
          .slice(0, RANKED_MAX)
          .map(([name, times]) => ({ author: formatPath(name).slice(0, 80), commits: times })),
      },
      files_changed: files.length,
      most_changed: files.slice(0, RANKED_MAX).map(({ path, commits: times, authors: who }) => {
        return {
          path: formatPath(path),
          commits: times,
          authors: who.size,
          exists: statusOf(root, path) !== undefined,
        };
      }),
      hot,
    },
    confidence: {
      knowledge: 1,
      information: isShallow ? 0.5 : total > commits.length ? 0.8 : 1,
      implementation: done,
      validation: 1,
    },
    factors: [
      `${formatCount(commits.length)} of ${count(total, "commit")} that touch the folder were read`,
      ...(isShallow ? ["the clone is shallow: older history is not here"] : []),
    ],
    uncertainties: isShallow ? [cut] : [],
    assumptions: ["names of authors are taken as git records them (.mailmap applied)"],
  };
}
