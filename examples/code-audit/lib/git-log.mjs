/**
 * Owns talking to git: read-only, without network, without running anything the repository asks for.
 *
 * G1: no transport is allowed, and only names of changed files are asked for, so that a partial clone fetches nothing.
 * G2: hooks, file system monitors, external diffs and signature programs of the repository are switched off.
 * G3: what git refuses is an answer with the reason, not a failure.
 */
import { spawn } from "node:child_process";
import { Buffer } from "node:buffer";
import { absolutePath, formatPath } from "./byte-paths.mjs";

const QUIET_SETTINGS = [
  "core.fsmonitor=false",
  "core.hooksPath=/dev/null",
  "log.showSignature=false",
  "protocol.allow=never",
  "diff.external=",
  "core.pager=cat",
];
const ANSWER_BYTES_MAX = 256 * 1024 * 1024;
const RECORD = /^\n?\u0001([0-9a-f]{40,64})\u0002([^\u0002]*)\u0002(\d+)$/;

/**
 * Runs git in the audited folder and collects its answer.
 *
 * Shape: `{text}` as latin1, or `{error}` with one line of reason.
 */
export function runGit(root, args) {
  const environment = {
    ...process.env,
    GIT_ALLOW_PROTOCOL: "none",
    GIT_NO_LAZY_FETCH: "1",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_TERMINAL_PROMPT: "0",
    LC_ALL: "C",
  };
  for (const name of ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_EXTERNAL_DIFF", "GIT_TRACE"])
    delete environment[name];
  const settings = QUIET_SETTINGS.flatMap((setting) => ["-c", setting]);
  return new Promise((resolve) => {
    const child = spawn("git", [...settings, ...args], {
      cwd: absolutePath(root, "").toString("utf8"),
      env: environment,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const parts = [];
    let size = 0;
    let complaint = "";
    child.stdout.on("data", (part) => {
      size += part.length;
      if (size <= ANSWER_BYTES_MAX) parts.push(part);
      else child.kill();
    });
    child.stderr.on("data", (part) => {
      complaint = (complaint + part.toString("utf8")).slice(0, 2000);
    });
    child.on("error", (error) =>
      resolve({ error: error.code === "ENOENT" ? "git is not installed" : `git cannot be started: ${error.code}` }),
    );
    child.on("close", (status) => {
      if (size > ANSWER_BYTES_MAX) resolve({ error: "git's answer is too large" });
      else if (status === 0) resolve({ text: Buffer.concat(parts).toString("latin1") });
      else resolve({ error: firstLine(complaint) || `git ended with status ${status}` });
    });
  });
}

function firstLine(complaint) {
  const line = complaint.split("\n").find((text) => text.trim() !== "") ?? "";
  return formatPath(Buffer.from(line.replace(/^fatal: /, "").slice(0, 160), "utf8").toString("latin1"));
}

/**
 * Reads the last commits that touched the audited folder.
 *
 * Shape: `{commits: [{hash, author, seconds, paths}]}` newest first, paths relative to the folder, or `{error}`.
 */
export async function readCommits(root, commitsMax) {
  const { text, error } = await runGit(root, [
    "log",
    "-z",
    "--relative",
    "--no-renames",
    "--no-ext-diff",
    "--no-textconv",
    "--name-only",
    "--no-show-signature",
    "--format=%x01%H%x02%aN%x02%ct",
    "-n",
    String(commitsMax),
    "--",
    ".",
  ]);
  if (error) return { error };
  const commits = [];
  for (const token of text.split("\u0000")) {
    const record = RECORD.exec(token);
    if (record) commits.push({ hash: record[1], author: record[2], seconds: Number(record[3]), paths: [] });
    else {
      const path = token.replace(/^\n/, "");
      if (path !== "" && commits.length > 0) commits[commits.length - 1].paths.push(path);
    }
  }
  return { commits };
}
