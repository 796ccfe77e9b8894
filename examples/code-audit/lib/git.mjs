/**
 * Talks to git: read-only, without network, without running anything the repository asks for.
 *
 * G1: no transport is allowed, and a partial clone fetches nothing.
 * G2: hooks, file system monitors, external diffs and signature programs of the repository are switched off.
 * G3: what git refuses is an answer with the reason, not a failure.
 */
import { spawnSync } from "node:child_process";
import { absolutePath, formatPath, toByteString } from "./byte-paths.mjs";

const QUIET = ["core.fsmonitor=false", "core.hooksPath=/dev/null", "log.showSignature=false", "protocol.allow=never"];
const SETTINGS = [...QUIET, "diff.external=", "core.pager=cat"].flatMap((setting) => ["-c", setting]);
const ANSWER_BYTES_MAX = 256 * 1024 * 1024;
const FOREIGN = ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_EXTERNAL_DIFF", "GIT_TRACE"];
const ENVIRONMENT = {
  GIT_ALLOW_PROTOCOL: "none",
  GIT_NO_LAZY_FETCH: "1",
  GIT_OPTIONAL_LOCKS: "0",
  GIT_TERMINAL_PROMPT: "0",
  LC_ALL: "C",
};

/** Runs git in the audited folder: `{text}` as latin1, or `{error}` with one line of reason. */
export function runGit(root, args) {
  const env = { ...process.env, ...ENVIRONMENT };
  for (const name of FOREIGN) delete env[name];
  const folder = absolutePath(root, "").toString("utf8");
  const { status, stdout, stderr, error } = spawnSync("git", ["-C", folder, ...SETTINGS, ...args], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
    maxBuffer: ANSWER_BYTES_MAX,
  });
  if (error?.code === "ENOENT") return { error: "git is not installed" };
  if (error) return { error: error.code === "ENOBUFS" ? "git's answer is too large" : `git fails: ${error.code}` };
  if (status === 0) return { text: stdout.toString("latin1") };
  const complaint =
    stderr
      .toString("utf8")
      .split("\n")
      .find((line) => line.trim() !== "") ?? `status ${status}`;
  return { error: formatPath(toByteString(complaint.replace(/^fatal: /, "").slice(0, 160))) };
}

/**
 * What git says of the folders below the audited one: those that hold tracked files, those it ignores, and submodules.
 * `undefined` where git tracks nothing here.
 */
export function readIndex(root) {
  const { text } = runGit(root, ["ls-files", "-z", "--stage"]);
  if (!text) return undefined;
  const tracked = new Set();
  const submodules = new Set();
  for (const entry of text.split("\0")) {
    const path = entry.slice(entry.indexOf("\t") + 1);
    if (entry.startsWith("160000")) submodules.add(path);
    for (let cut = path.lastIndexOf("/"); cut > 0; cut = path.lastIndexOf("/", cut - 1)) {
      const folder = path.slice(0, cut);
      if (tracked.has(folder)) break;
      tracked.add(folder);
    }
  }
  const others = runGit(root, ["ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"]).text;
  const folders = (others ?? "").split("\0").filter((path) => path.endsWith("/"));
  return { tracked, submodules, ignored: new Set(folders.map((path) => path.slice(0, -1))) };
}

/**
 * Reads the last commits that touched the audited folder, newest first: `{commits: [{hash, author, seconds, changes}]}`
 * with a change `{path, from?}` for each file, paths relative to the folder; or `{error}`.
 * In a partial clone only files that were renamed without a change are known as renamed, for the others' content is not here.
 */
export function readCommits(root, commitsMax) {
  const isPartial = runGit(root, ["config", "--get-regexp", "^remote\\..*\\.promisor$"]).text !== undefined;
  const format = "--format=%x01%H%x02%aN%x02%ct";
  const quiet = ["--no-ext-diff", "--no-textconv", "--no-show-signature", "-l2000"];
  const wanted = ["-z", "--relative", "--name-status", isPartial ? "-M100%" : "-M", format, "-n", String(commitsMax)];
  const { text, error } = runGit(root, ["log", ...quiet, ...wanted, "--", "."]);
  if (error) return { error };
  const commits = [];
  const tokens = text.split("\0");
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at].replace(/^\n/, "");
    const record = /^\u0001([0-9a-f]{40,64})\u0002([^\u0002]*)\u0002(\d+)$/.exec(token);
    if (record) commits.push({ hash: record[1], author: record[2], seconds: Number(record[3]), changes: [] });
    else if (/^[RC]\d*$/.test(token)) {
      const [from, path] = [tokens[++at], tokens[++at]];
      commits.at(-1)?.changes.push(token.startsWith("R") ? { path, from } : { path });
    } else if (token !== "") commits.at(-1)?.changes.push({ path: tokens[++at], isNew: token === "A" });
  }
  return { commits };
}
