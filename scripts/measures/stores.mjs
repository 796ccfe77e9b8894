// A task on each store, and the bare driver of the same database beside it.
import { constants, fdatasyncSync, closeSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { tsImport } from "tsx/esm/api";
import { openSplashdown } from "../../dist/index.js";
import { createEnvironment } from "../../dist/runtime/environment.js";
import { measureManyFiles } from "./many-files.mjs";
import { inPlace, waitingChainOf } from "./place.mjs";

/** What a step of the chain writes to the journal, about. */
const STEP_BYTES = 1_500;

const BARE = {
  file: ({ folder }) => {
    const file = openSync(join(folder, "bare"), constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND);
    const insert = async (bytes) => {
      writeSync(file, bytes);
      fdatasyncSync(file);
    };
    return { insert, close: () => closeSync(file) };
  },
  sqlite: async ({ folder }) => {
    const found = await import("node:sqlite").catch(() => import("better-sqlite3"));
    const database = new (found.DatabaseSync ?? found.default)(join(folder, "bare.db"));
    database.exec("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE t (b BLOB)");
    const statement = database.prepare("INSERT INTO t VALUES (?)");
    return { insert: async (bytes) => statement.run(bytes), close: () => database.close() };
  },
  pglite: async ({ folder }) => {
    const { PGlite } = await import("@electric-sql/pglite");
    const database = await PGlite.create(join(folder, "bare"));
    await database.exec("CREATE TABLE t (b BYTEA)");
    return { insert: (bytes) => database.query("INSERT INTO t VALUES ($1)", [bytes]), close: () => database.close() };
  },
  postgres: async ({ url }) => {
    const { Client } = await import("pg");
    const client = new Client({ connectionString: url });
    await client.connect();
    await client.query("CREATE TABLE IF NOT EXISTS bare (b BYTEA)");
    return { insert: (bytes) => client.query("INSERT INTO bare VALUES ($1)", [bytes]), close: () => client.end() };
  },
};

async function timeBare(kind, place, count) {
  const { insert, close } = await BARE[kind](place);
  const bytes = Buffer.alloc(STEP_BYTES, 97);
  const totalMs = await timed(async () => {
    for (let at = 0; at < count; at += 1) await insert(bytes);
  });
  await close();
  return totalMs / count;
}

async function timed(work) {
  const startedMs = performance.now();
  await work();
  return performance.now() - startedMs;
}

const addressOf = (kind, url) =>
  ({ file: "file:outputs", sqlite: "sqlite:tasks.db", pglite: "pglite:data", postgres: url })[kind];

/** The chain waits at its end, so that it can be taken up again. */
async function measureStore(kind, { folder, url, steps, files }) {
  const address = addressOf(kind, url);
  const variables = { PATH: process.env.PATH, HOME: join(folder, "home"), SPLASHDOWN_STORE: address };
  const open = () => openSplashdown({ environment: createEnvironment(variables, folder) });
  const splashdown = await open();
  const ends = [];
  const stop = splashdown.on("step_finished", () => ends.push(performance.now()));
  await splashdown.run({ workflow: waitingChainOf(steps), task: "bench" });
  stop();
  const stepMs = (ends.at(-1) - ends[0]) / (ends.length - 1);
  const bareMs = await timeBare(kind, { folder, url }, steps);
  await splashdown.close();
  const again = await open();
  const resumeMs = await timed(() => again.resume({ task: "bench" }));
  const listMs = await timed(() => again.list());
  const pruneMs = await timed(() => again.checkpoints.prune({ task: "bench", keep: 2 }));
  await again.close();
  const manyFiles = files === 0 ? undefined : await measureManyFiles({ folder, address, count: files });
  return { store: kind, stepMs, bareMs, resumeMs, listMs, pruneMs, manyFiles };
}

async function startServer() {
  const { findPostgres, PostgresServer } = await tsImport("../../test/support/postgres-server.ts", import.meta.url);
  return findPostgres() === undefined ? undefined : PostgresServer.start();
}

/** One row per store, in the order of `kinds`; Postgres is left out where it cannot be started. */
export async function* measureStores({ steps, kinds, files = 0 }) {
  for (const kind of kinds) {
    if (BARE[kind] === undefined) throw new Error(`no such store: ${kind}`);
    const server = kind === "postgres" ? await startServer() : undefined;
    if (kind === "postgres" && server === undefined) continue;
    try {
      yield await inPlace(({ folder }) => measureStore(kind, { folder, url: server?.url, steps, files }));
    } finally {
      await server?.remove();
    }
  }
}
