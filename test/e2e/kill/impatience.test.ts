/**
 * The kill loop under a user without patience, in short: on files, and planted faults. The long form on the other stores is
 * SPLASHDOWN_TEST_STORES=all; `npm run proof -- kill-loop --impatient --store STORE` goes on for as long as it is told to.
 */
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { PROJECT_FOLDER, runCommand } from "../../support/built-program.js";
import { findPostgres } from "../../support/postgres-server.js";
import { withFolder } from "../../support/store-places.js";

const OTHERS = ["sqlite", ...(findPostgres() === undefined ? [] : ["postgres"])];
const STORES = ["file", ...(process.env["SPLASHDOWN_TEST_STORES"] === "all" ? OTHERS : [])];

function runLoop(...args: string[]) {
  const loop = join(PROJECT_FOLDER, "proof/kill-loop.mjs");
  const words = [loop, "--impatient", "--workers", "1", ...args];
  return withFolder((cwd) => {
    // A Postgres that root starts runs as another user, below this folder.
    chmodSync(cwd, 0o711);
    return runCommand(words, { cwd, program: process.execPath, env: { TMPDIR: cwd } });
  });
}

describe("the kill loop under a user who types again and again", () => {
  it.each(STORES)("finds no effect twice, no twin and no answer lost: %s", async (store) => {
    const { code, stdout } = await runLoop("--kills", "2", "--store", store);
    expect(stdout).not.toContain("FAULT");
    expect(stdout).toMatch(/^[2-9] kills, \d+ tasks, \d+ unknown outcomes reported, 0 violations/m);
    expect(code).toBe(0);
  });

  it.each([
    ["anew", "a twin: "],
    ["rerun", "happened 2 times"],
  ])("reports the planted violation %s", async (plant, text) => {
    const { code, stdout } = await runLoop("--kills", "2", "--plant", plant);
    expect(stdout).toContain(text);
    expect(code).toBe(1);
  });
});
