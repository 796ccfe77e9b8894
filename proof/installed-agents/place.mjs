/** A folder in which the built program runs, with a home for the agents, and what is left of them. */
import { spawn } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { BIN_FOLDER, PROGRAMS, writeFiles } from "./programs.mjs";

const PROGRAM = join(import.meta.dirname, "..", "..", "dist", "cli", "main.js");
const LOOK_MS = 50;
const LOOK_MS_MAX = 120_000;

/** `names`: the agents that are told to ask `server`, with `key`. */
export function openPlace(folder, { names, server, key }) {
  const home = join(folder, "home");
  const work = join(folder, "work");
  for (const inner of ["home", "work", "config", "state", "tmp"]) mkdirSync(join(folder, inner), { recursive: true });
  const asked = { url: server.url, key };
  for (const name of names) writeFiles(name, home, asked);
  const environment = {
    ...Object.assign({}, ...names.map((name) => PROGRAMS[name].variables(asked))),
    PATH: `${BIN_FOLDER}:${process.env.PATH}`,
    HOME: home,
    TMPDIR: join(folder, "tmp"),
    SPLASHDOWN_CONFIG_DIR: join(folder, "config"),
    SPLASHDOWN_STATE_DIR: join(folder, "state"),
    SPLASHDOWN_TRUST: "1",
  };
  const heard = [];
  return {
    work,
    /** All that the program printed. */
    heard,
    write: (name, text) => writeFileSync(join(work, name), text),
    start: (...args) => start(args, { work, environment, heard }),
    run: async (...args) => {
      const end = await start(args, { work, environment, heard }).ended;
      return {
        ...end,
        json: end.stdout.startsWith("{") || end.stdout.startsWith("[") ? JSON.parse(end.stdout) : undefined,
      };
    },
    listProcesses: () => listProcesses(`HOME=${home}`),
    listFilesWith: (text) => ["work", "state", "config"].flatMap((inner) => listFilesWith(join(folder, inner), text)),
  };
}

function start(args, { work, environment, heard }) {
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    cwd: work,
    env: environment,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const said = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"]) child[name].setEncoding("utf8").on("data", (text) => (said[name] += text));
  const ended = new Promise((resolve, reject) => {
    child.on("error", reject).on("close", (status, signal) => {
      heard.push(said.stdout, said.stderr);
      resolve({ ...said, status, signal });
    });
  });
  return { child, ended };
}

/** Processes whose environment holds an entry; the program itself is no such: it is asked after its end. */
function listProcesses(entry) {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((id) => {
      try {
        return readFileSync(`/proc/${id}/environ`, "utf8").split("\0").includes(entry);
      } catch {
        return false;
      }
    });
}

function listFilesWith(folder, text) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => {
      const bytes = readFileSync(file).toString("latin1");
      return bytes.includes(text) || bytes.includes(Buffer.from(text).toString("base64"));
    });
}

export async function until(what, isTrue) {
  const endMs = performance.now() + LOOK_MS_MAX;
  while (!(await isTrue())) {
    if (performance.now() > endMs) throw new Error(`not within ${LOOK_MS_MAX / 1_000} s: ${what}`);
    await sleep(LOOK_MS);
  }
}
