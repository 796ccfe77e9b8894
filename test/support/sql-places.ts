/** Databases for tests of stores, each as an opener of new data in it: SQLite, PGlite, Postgres. */
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CachePort } from "../../src/store/cache/cache-port.js";
import type { Store } from "../../src/store/contract/contract.js";
import { createNodeFileSystem } from "../../src/base/node-file-system.js";
import { CachedStore, type CacheRules } from "../../src/store/cache/cached-store.js";
import { openStore } from "../../src/store/open-store.js";
import type { OpenStoreParts } from "../../src/store/open-store.js";
import { openRedis } from "../../src/store/cache/redis-cache.js";
import { createOwnerFolder } from "../../src/store/presence/owner-place.js";
import { openPglite } from "../../src/store/sql/pglite-database.js";
import { formatChannel } from "../../src/store/sql/postgres-dialect.js";
import { createSocketPresence } from "../../src/store/presence/socket-presence.js";
import type { SqlDatabase } from "../../src/store/sql/sql-database.js";
import { openSqlite } from "../../src/store/sql/sqlite-database.js";
import { SqlStore } from "../../src/store/sql/sql-store.js";
import { PostgresServer } from "./postgres-server.js";
import { realClock } from "./real-clock.js";
import { RedisServer } from "./redis-server.js";
import { createSeededRandom } from "./seeded-random.js";
import type { Instance, Opener } from "./store-suite-run.js";
import { placeOf } from "./places.js";

/** What stores of one process on this machine are built from. */
export function createStoreParts(workingFolder: string, seed = workingFolder): OpenStoreParts {
  return {
    fileSystem: createNodeFileSystem(),
    clock: realClock,
    random: createSeededRandom(seed),
    platform: process.platform,
    userId: process.getuid?.(),
    machine: placeOf("boot-a", { namespace: "pid:[1]" }),
    workingFolder,
    reserveBytes: 4096,
  };
}

/** Everything goes into it. */
const ALL_HOT: CacheRules = { isHot: () => true, isSealed: () => true, sizeBytesMin: 0 };

/** The store behind a cache that every case meets. */
export function openBehind(store: Store, open: () => Promise<CachePort>): Store {
  return new CachedStore({ store, open, clock: realClock, rules: ALL_HOT, onTrouble: () => undefined });
}

/** Folders, servers and databases of a test file; `close` when it ends. */
export class SqlPlaces {
  readonly #folders: string[] = [];
  readonly #shared: SqlDatabase[] = [];
  #server: Promise<PostgresServer> | undefined;
  #redis: Promise<RedisServer> | undefined;
  #pglite: Promise<SqlDatabase> | undefined;
  #count = 0;

  async sqlite(instance: Instance): Promise<Opener> {
    const folder = await this.folder();
    const path = instance === "prefixed" ? "deep/below/tasks.db" : "tasks.db";
    return async () => openStore(`sqlite:${path}`, this.#partsIn(folder));
  }

  /** All in one server, under a prefix of their own. */
  async postgres(instance: Instance): Promise<Opener> {
    const { url } = await this.server();
    const folder = await this.folder();
    const prefix = this.#drawPrefix(instance);
    return async () => openStore(`${url}?table_prefix=${prefix}`, this.#partsIn(folder));
  }

  /** All in one database, under a prefix of their own: to make one takes seconds. */
  async pglite(instance: Instance): Promise<Opener> {
    this.#pglite ??= this.#openPglite();
    const database = await this.#pglite;
    const folder = await this.folder();
    const tablePrefix = this.#drawPrefix(instance);
    const parts = { ...this.#partsIn(folder), presence: createSocketPresence(this.#partsIn(folder)) };
    return async () =>
      new SqlStore({
        address: "pglite:shared",
        traits: { kind: "pglite", multiProcess: false, durable: false, reserve: true },
        tablePrefix,
        connect: async () => shareDatabase(database),
        deliverablesRoot: join(folder, "outputs"),
        ownerPlace: (task) => createOwnerFolder({ root: join(folder, "owners"), task, store: parts }),
        parts,
      });
  }

  async postgresBehindRedis(instance: Instance): Promise<Opener> {
    const open = await this.postgres(instance);
    this.#redis ??= RedisServer.start();
    const { url } = await this.#redis;
    return async () => openBehind(await open(), () => openRedis(url));
  }

  /** One that many stores share, and whose end is ours; nothing in it has to outlive a power cut. */
  async database(kind: "sqlite" | "pglite"): Promise<SqlDatabase> {
    if (kind === "pglite") return (this.#pglite ??= this.#openPglite());
    const database = await openSqlite({ path: join(await this.folder(), "shared.db"), clock: realClock });
    await database.query("PRAGMA synchronous=OFF");
    this.#shared.push(database);
    return database;
  }

  server(): Promise<PostgresServer> {
    this.#server ??= PostgresServer.start();
    return this.#server;
  }

  async folder(): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), "splashdown-sql-"));
    this.#folders.push(folder);
    return folder;
  }

  async close(): Promise<void> {
    for (const database of this.#shared) await database.close();
    await (await this.#pglite)?.close();
    await (await this.#server)?.remove();
    await (await this.#redis)?.remove();
    for (const folder of this.#folders) await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }

  #partsIn(folder: string): OpenStoreParts {
    return createStoreParts(folder, `${folder} ${(this.#count += 1)}`);
  }

  #drawPrefix(instance: Instance): string {
    return `${instance === "prefixed" ? "a_team_s_" : "s"}${(this.#count += 1)}_`;
  }

  async #openPglite(): Promise<SqlDatabase> {
    const folder = await this.folder();
    const { fileSystem } = this.#partsIn(folder);
    return openPglite({
      folder: join(folder, "data"),
      place: "pglite:shared",
      channel: formatChannel("splashdown_"),
      isThere: async () => false,
      move: (from, to) => fileSystem.rename(from, to),
      createTemp: () => join(folder, "made"),
      makeFolder: (path) => mkdir(path, { mode: 0o700 }).then(() => undefined),
      makePrivate: () => Promise.resolve(),
      release: async () => undefined,
    });
  }
}

/** Its end is the affair of whoever opened it. */
export function shareDatabase(database: SqlDatabase): SqlDatabase {
  return {
    dialect: database.dialect,
    query: database.query,
    transaction: (work) => database.transaction(work),
    close: async () => undefined,
  };
}
