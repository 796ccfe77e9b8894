/** The kill loop in short on every database: the process dies at statements as it does at file operations elsewhere. */
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { PROJECT_FOLDER, runCommand } from "../../support/built-program.js";
import { findPostgres, PostgresServer } from "../../support/postgres-server.js";
import { withFolder } from "../../support/store-places.js";

const POINTS = ["intent", "half-snapshot", "effect", "done", "recovery", "spawned"];

function runLoop(store: string) {
  const loop = join(PROJECT_FOLDER, "proof/kill-loop.mjs");
  const args = [loop, "--kills", "6", "--points", POINTS.join(","), "--store", store];
  return withFolder((cwd) => runCommand(args, { cwd, program: process.execPath, env: { TMPDIR: cwd } }));
}

async function startServer(): Promise<string> {
  const server = await PostgresServer.start();
  onTestFinished(() => server.remove());
  return server.url;
}

const LOCAL = async (): Promise<string> => "sqlite";
// Without its binaries on this machine there is no server to run it on.
const STORES = [
  { store: "sqlite", addressOf: LOCAL },
  ...(findPostgres() === undefined ? [] : [{ store: "postgres", addressOf: startServer }]),
];

describe("the kill loop", () => {
  it.each(STORES)("finds no violation on $store, with kills at every kind of point", async (given) => {
    const { code, stdout } = await runLoop(await given.addressOf());
    expect(stdout).not.toContain("FAULT");
    expect([code, /\d+ violations/.exec(stdout)?.[0]]).toEqual([0, "0 violations"]);
    for (const point of POINTS) expect(stdout).toMatch(new RegExp(`^${point} +\\d`, "m"));
  });
});
