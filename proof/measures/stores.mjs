// A task on each store, the bare driver of the same database beside it, and the commands on a task of many checkpoints.
import { constants, fdatasyncSync, closeSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { openSplashdown } from "../../dist/index.js";
import { createEnvironment } from "../../dist/runtime/platform/environment.js";
import { systemClock } from "../../dist/runtime/platform/system-clock.js";
import { openCachedStore } from "../../dist/store/cache/cached-store.js";
import { listKinds, openServers } from "../stores/servers.mjs";
import { makeManyCheckpoints, measureMany } from "./many-checkpoints.mjs";
import { makeManyTasks, measureTasks } from "./many-tasks.mjs";
import { inPlace, openIn, timed, waitingChainOf } from "./place.mjs";

/** What a step of the chain writes to the journal, about. */
const STEP_BYTES = 1_500;
/** So often a snapshot file is read. */
const READS = 50;

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
    const { DatabaseSync } = await import("node:sqlite").catch(() => import("@photostructure/sqlite"));
    const database = new DatabaseSync(join(folder, "bare.db"));
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

const driverOf = (kind) => BARE[kind.split(" ")[0]];

async function timeBare(kind, place, count) {
  const { insert, close } = await driverOf(kind)(place);
  const bytes = Buffer.alloc(STEP_BYTES, 97);
  const [totalMs] = await timed(async () => {
    for (let at = 0; at < count; at += 1) await insert(bytes);
  });
  await close();
  return totalMs / count;
}

const LOCAL = { file: "file:outputs", sqlite: "sqlite:tasks.db", pglite: "pglite:data" };

function variablesOf(servers, { kind, prefix = "bench_" }) {
  const address = LOCAL[kind] ?? `${servers.store}?table_prefix=${prefix}`;
  return { SPLASHDOWN_STORE: address, ...(servers.cache === undefined ? {} : { SPLASHDOWN_CACHE: servers.cache }) };
}

/** The newest snapshot file as the store gives it, again and again; from its cache where there is one. */
async function timeReads(folder, { SPLASHDOWN_STORE: address, SPLASHDOWN_CACHE: cache }) {
  const behind = openIn(folder, address);
  const onTrouble = (reason) => {
    throw new Error(`the cache does not answer: ${reason}`);
  };
  const store = cache === undefined ? behind : openCachedStore(cache, { store: behind, clock: systemClock, onTrouble });
  const task = await store.task("bench");
  const { key } = (await task.list("checkpoint_phase")).at(-1);
  const { length: sizeBytes } = await task.get(key);
  const [totalMs] = await timed(async () => {
    for (let at = 0; at < READS; at += 1) await task.get(key);
  });
  await store.close();
  return { readMs: totalMs / READS, readBytes: sizeBytes };
}

/** The chain waits at its end, so that it can be taken up again. */
async function measureStore(kind, { folder, servers, steps }) {
  const variables = variablesOf(servers, { kind });
  const all = { PATH: process.env.PATH, HOME: join(folder, "home"), ...variables };
  const open = () => openSplashdown({ environment: createEnvironment(all, folder) });
  const splashdown = await open();
  const ends = [];
  const stop = splashdown.on("step_finished", () => ends.push(performance.now()));
  await splashdown.run({ workflow: waitingChainOf(steps), task: "bench" });
  stop();
  const stepMs = (ends.at(-1) - ends[0]) / (ends.length - 1);
  const bareMs = await timeBare(kind, { folder, url: servers.store }, steps);
  await splashdown.close();
  const again = await open();
  const [resumeMs] = await timed(() => again.resume({ task: "bench" }));
  const [listMs] = await timed(() => again.list());
  await again.close();
  const read = await timeReads(folder, variables);
  const last = await open();
  const [pruneMs] = await timed(() => last.checkpoints.prune({ task: "bench", keep: 2 }));
  await last.close();
  return { store: kind, stepMs, bareMs, resumeMs, listMs, ...read, pruneMs };
}

/**
 * A row per store to `onRow`, in the order of `kinds`; what cannot be started here is left out. `files`: checkpoints of a task
 * to be pruned; `tasks`: to be looked at. 0 for none.
 */
export async function measureStores({ steps, kinds, files = 0, tasks = 0, onRow }) {
  for (const kind of kinds) if (driverOf(kind) === undefined) throw new Error(`no such store: ${kind}`);
  const here = await listKinds();
  await inPlace(async (origin) => {
    const many = files === 0 ? undefined : await makeManyCheckpoints(origin, files);
    await inPlace(async (other) => {
      const more = tasks === 0 ? undefined : await makeManyTasks(other, tasks);
      for (const kind of kinds.filter((each) => here.includes(each)))
        onRow(await measureKind(kind, { steps, many: withHome(origin, many), more: withHome(other, more) }));
    });
  });
}

/** Where tasks were made, and whose key is theirs. */
const withHome = ({ folder }, from) => from && { from, home: join(folder, "home") };

async function measureKind(kind, { steps, many, more }) {
  const servers = await openServers(kind);
  try {
    return await inPlace(async ({ folder }) => {
      const row = await measureStore(kind, { folder, servers, steps });
      const place = (prefix) => ({ folder, variables: variablesOf(servers, { kind, prefix }) });
      if (many !== undefined) row.many = await measureMany({ ...place("many_"), ...many });
      if (more !== undefined) row.tasks = await measureTasks({ ...place("tasks_"), ...more });
      return row;
    });
  } finally {
    await servers.close();
  }
}
