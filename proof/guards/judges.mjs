/** The process that judges, begun anew where a removed guard made it hang or end. */
import { fork } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Test files run together, quickest first: most guards are missed at once. */
const TOGETHER = 6;
/** A removed guard may make tests loop for ever, or the machine is busy: nobody can tell, and the site stays open. */
const JUDGING_MS_MAX = 900_000;

export class Judges {
  #offFile;
  #child;

  /** @param {string} offFile Where the id of the site that is off stands. */
  constructor(offFile) {
    this.#offFile = offFile;
    writeFileSync(offFile, "");
  }

  /** Shape: `caughtBy`, the test that fails without the guard, absent when all pass; `isOver` where that took too long. */
  async judge(id, files) {
    if (files.length === 0) return {};
    this.#child ??= await this.#start();
    const batches = [];
    for (let at = 0; at < files.length; at += TOGETHER) batches.push(files.slice(at, at + TOGETHER));
    const child = this.#child;
    child.send({ id, batches });
    const answer = await new Promise((resolve) => {
      const timer = setTimeout(() => settle({ isOver: true }), JUDGING_MS_MAX);
      const settle = (found) => {
        clearTimeout(timer);
        child.removeAllListeners();
        resolve(found);
      };
      child.once("message", settle);
      child.once("exit", () => settle({ caughtBy: "the run ended by itself" }));
    });
    if (answer.id === undefined) this.close();
    return answer;
  }

  close() {
    const child = this.#child;
    this.#child = undefined;
    if (child?.pid !== undefined) for (const pid of [...listBelow(child.pid), child.pid]) end(pid);
  }

  async #start() {
    const child = fork(join(import.meta.dirname, "judge.mjs"), [], {
      env: { ...process.env, SPLASHDOWN_GUARD_OFF: this.#offFile, SPLASHDOWN_PROOF_FACTOR: "0.2" },
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    await new Promise((resolve, reject) => {
      child.once("message", resolve);
      child.once("exit", (code) => reject(new Error(`the judging process ended with ${code}`)));
    });
    child.removeAllListeners();
    return child;
  }
}

function end(pid) {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended.
  }
}

/** Processes below one; only Linux tells, and elsewhere they end by themselves. */
function listBelow(pid) {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number);
    return children.flatMap((child) => [...listBelow(child), child]);
  } catch {
    return [];
  }
}
