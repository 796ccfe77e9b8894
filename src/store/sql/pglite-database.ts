/**
 * PGlite, a Postgres inside this process, as a SqlDatabase over a folder; the optional package @electric-sql/pglite.
 *
 * Its log is written but not synced: what it acknowledged outlives the process and not a power cut. One process at a time
 * may open the folder (FAULTS 25). A new database is made beside its place and moved there whole. Its files are its
 * owner's alone, and what it makes while it is open lies in a folder that is (it knows no modes).
 */
import type { PGlite, Transaction } from "@electric-sql/pglite";
import { SplashdownError } from "../../base/errors.js";
import { computePgliteError, numberParameters, PGLITE } from "./postgres-dialect.js";
import type { SqlDatabase, SqlQuery, SqlRow, SqlValue } from "./sql-database.js";

export interface PgliteParts {
  /** Absolute. */
  readonly folder: string;
  readonly place: string;
  readonly channel: string;
  /** There is a database in the folder; false also where nothing is. */
  readonly isThere: () => Promise<boolean>;
  readonly move: (from: string, to: string) => Promise<void>;
  /** Makes a folder for its owner alone. */
  readonly makeFolder: (path: string) => Promise<void>;
  /** Takes from others what the database, which has no modes of its own, let them do with a folder and its files. */
  readonly makePrivate: (folder: string) => Promise<void>;
  /** A path beside the folder that nothing has. */
  readonly createTemp: () => string;
  /** Called when it is closed. */
  readonly release: () => Promise<void>;
  readonly load?: (() => Promise<PgliteDriver>) | undefined;
}

export interface PgliteDriver {
  readonly PGlite: typeof PGlite;
}

/** Errors: STORE_UNSUPPORTED without the package; the STORE_* codes. */
export async function openPglite(parts: PgliteParts): Promise<SqlDatabase> {
  const driver = await loadDriver(parts.load);
  try {
    if (!(await parts.isThere())) await makeDatabase(driver, parts);
    // Of one that others made, or whose owner was killed.
    await parts.makePrivate(parts.folder);
    const connection = await driver.PGlite.create(parts.folder);
    const database = new PgliteDatabase(connection, parts);
    await connection.listen(parts.channel, database.tell);
    return database;
  } catch (error) {
    throw computePgliteError(error, parts.place);
  }
}

async function loadDriver(load = () => import("@electric-sql/pglite") as Promise<PgliteDriver>): Promise<PgliteDriver> {
  try {
    return await load();
  } catch (error) {
    throw new SplashdownError("STORE_UNSUPPORTED", "pglite stores need a package: npm install @electric-sql/pglite", {
      details: { package: "@electric-sql/pglite" },
      cause: error,
    });
  }
}

async function makeDatabase(
  { PGlite: Driver }: PgliteDriver,
  { folder, createTemp, makeFolder, makePrivate, move }: PgliteParts,
): Promise<void> {
  const temp = createTemp();
  await makeFolder(temp);
  const made = await Driver.create(temp);
  await made.close();
  await makePrivate(temp);
  await move(temp, folder);
}

class PgliteDatabase implements SqlDatabase {
  readonly dialect = PGLITE;
  readonly query: SqlQuery = (sql, params) => this.#coded(() => run(this.#connection, sql, params));
  readonly tell = (text: string): void => {
    for (const hint of this.#hints) hint(text);
  };
  readonly #connection: PGlite;
  readonly #parts: PgliteParts;
  readonly #hints = new Set<(text: string) => void>();

  constructor(connection: PGlite, parts: PgliteParts) {
    this.#connection = connection;
    this.#parts = parts;
  }

  transaction<T>(work: (query: SqlQuery) => Promise<T>): Promise<T> {
    return this.#coded(() => this.#connection.transaction((tx) => work((sql, params) => run(tx, sql, params))));
  }

  listen(hint: (text: string) => void): () => void {
    this.#hints.add(hint);
    return () => void this.#hints.delete(hint);
  }

  async close(): Promise<void> {
    this.#hints.clear();
    try {
      await this.#connection.close();
      await this.#parts.makePrivate(this.#parts.folder);
    } finally {
      await this.#parts.release();
    }
  }

  async #coded<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw computePgliteError(error, this.#parts.place);
    }
  }
}

async function run(
  at: PGlite | Transaction,
  sql: string,
  params: readonly SqlValue[] = [],
): Promise<readonly SqlRow[]> {
  const { rows } = await at.query<SqlRow>(numberParameters(sql), [...params]);
  return rows;
}
