/**
 * SQLite as a SqlDatabase: `node:sqlite` where this Node has it, else the optional package @photostructure/sqlite, the same
 * interface for Node 20. The package brings its binaries with it: nothing compiles and nothing is downloaded elsewhere.
 *
 * The drivers block, so nobody waits inside SQLite: a locked file is asked again after a pause (`LIMITS.storeRetryMs`).
 * Calls of one connection go one after the other. Write-ahead log with full sync: what returned is durable.
 */
import type { Clock } from "../../base/clock.js";
import type { ErrorCode } from "../../base/error-table.js";
import { SplashdownError, errorCodeOf, messageOf } from "../../base/errors.js";
import { LIMITS } from "../../base/limits.js";
import type { SqlDatabase, SqlDialect, SqlQuery, SqlRow, SqlValue } from "./sql-database.js";

const PACKAGE = "@photostructure/sqlite";
/** SQLITE_ERROR. */
const OTHER_CODE = 1;
const RETRY_PAUSE_MS = 5;
/** SQLite's primary result codes. */
const BUSY = new Set<number | undefined>([5, 6]);
const CODES = new Map<number | undefined, ErrorCode>([
  [13, "STORE_FULL"],
  [8, "STORE_UNWRITABLE"],
  [14, "STORE_UNWRITABLE"],
]);
/** The texts of sqlite3_errstr, which is all that the package says of a statement that failed while it ran. */
const TEXTS = new Map<string, number>([
  ["database is locked", 5],
  ["database table is locked", 6],
  ["attempt to write a readonly database", 8],
  ["database or disk is full", 13],
  ["unable to open database file", 14],
]);

const DIALECT: SqlDialect = {
  serial: "INTEGER PRIMARY KEY AUTOINCREMENT",
  bytes: "BLOB",
  text: "TEXT",
  lock: "",
  lockMigrations: "",
  findTable: "SELECT name FROM sqlite_master WHERE type = 'table' AND name = ?",
  // With secure_delete: the file has zeros there, and the log is empty.
  forget: () => ["PRAGMA wal_checkpoint(TRUNCATE)"],
  remains: (row) =>
    Number(row?.["busy"]) === 0
      ? undefined
      : "another process reads the database: its write-ahead log (-wal) may hold them until the verb is given again without one",
  member: (column, name) => `json_extract(${column}, '$.${name}')`,
  extras: () => [],
};

interface Statement {
  all(...params: readonly SqlValue[]): unknown[];
}
interface Connection {
  exec(sql: string): unknown;
  prepare(sql: string): Statement;
  close(): unknown;
}
type ConnectionClass = new (path: string, options: { readonly timeout: number }) => Connection;
export type ModuleLoader = (name: string) => Promise<unknown>;

export interface SqliteParts {
  readonly path: string;
  readonly clock: Clock;
  readonly load?: ModuleLoader | undefined;
}

/** Errors: STORE_UNSUPPORTED with the install command when no driver is there; the STORE_* codes. */
export async function openSqlite(parts: SqliteParts): Promise<SqlDatabase> {
  const Driver = await loadDriver(parts.load ?? ((name) => import(name)));
  let connection: Connection;
  try {
    connection = new Driver(parts.path, { timeout: 0 });
  } catch (error) {
    if (primaryCodeOf(error) === undefined) throw driverMissing(messageOf(error));
    throw computeSqliteError(error, parts.path, "STORE_UNWRITABLE");
  }
  const database = new SqliteDatabase(connection, parts);
  try {
    await database.configure();
  } catch (error) {
    await database.close();
    throw error;
  }
  return database;
}

async function loadDriver(load: ModuleLoader): Promise<ConnectionClass> {
  for (const name of ["node:sqlite", PACKAGE]) {
    const found = (await load(name).catch(() => undefined)) as { DatabaseSync?: ConnectionClass } | undefined;
    if (typeof found?.DatabaseSync === "function") return found.DatabaseSync;
  }
  throw driverMissing(`neither node:sqlite nor ${PACKAGE} is there`);
}

function driverMissing(reason: string): SplashdownError {
  return new SplashdownError(
    "STORE_UNSUPPORTED",
    `sqlite stores need Node 22.13 or a package: npm install ${PACKAGE} (${reason.split("\n")[0]})`,
    { details: { package: PACKAGE } },
  );
}

class SqliteDatabase implements SqlDatabase {
  readonly dialect = DIALECT;
  readonly query: SqlQuery = (sql, params) => this.#inTurn(() => this.#patiently(() => this.#run(sql, params)));
  readonly #connection: Connection;
  readonly #parts: SqliteParts;
  /** By their text, of which there are few: values are parameters. */
  readonly #prepared = new Map<string, Statement>();
  #tail: Promise<unknown> = Promise.resolve();

  constructor(connection: Connection, parts: SqliteParts) {
    this.#connection = connection;
    this.#parts = parts;
  }

  async configure(): Promise<void> {
    await this.query("PRAGMA busy_timeout=0");
    await this.query("PRAGMA journal_mode=WAL");
    await this.query("PRAGMA synchronous=FULL");
    await this.query("PRAGMA foreign_keys=ON");
    await this.query("PRAGMA secure_delete=ON");
    const [mode] = await this.query("PRAGMA journal_mode");
    const [sync] = await this.query("PRAGMA synchronous");
    if (mode?.["journal_mode"] === "wal" && Number(sync?.["synchronous"]) === 2) return;
    throw new SplashdownError("STORE_FAILED", `${this.#parts.path} takes no write-ahead log with full sync`, {
      details: { path: this.#parts.path },
    });
  }

  transaction<T>(work: (query: SqlQuery) => Promise<T>): Promise<T> {
    return this.#inTurn(async () => {
      await this.#patiently(() => this.#run("BEGIN IMMEDIATE"));
      try {
        const result = await work((sql, params) => this.#patiently(() => this.#run(sql, params)));
        await this.#patiently(() => this.#run("COMMIT"));
        return result;
      } catch (error) {
        this.#rollBack();
        throw error;
      }
    });
  }

  async close(): Promise<void> {
    await this.#inTurn(async () => void this.#connection.close());
  }

  /** SQLite rolls back by itself after some failures; there is then nothing to end. */
  #rollBack(): void {
    try {
      this.#connection.exec("ROLLBACK");
    } catch {
      // Ended already.
    }
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#tail.then(work);
    this.#tail = done.catch(() => undefined);
    return done;
  }

  async #patiently<T>(work: () => T): Promise<T> {
    const { clock, path } = this.#parts;
    const end = clock.monotonicMs() + LIMITS.storeRetryMs;
    for (;;) {
      try {
        return work();
      } catch (error) {
        if (!BUSY.has(primaryCodeOf(error))) throw computeSqliteError(error, path);
        if (clock.monotonicMs() >= end) throw computeSqliteError(error, path, "STORE_BUSY");
      }
      await clock.sleep(RETRY_PAUSE_MS);
    }
  }

  #run(sql: string, params: readonly SqlValue[] = []): readonly SqlRow[] {
    const statement = this.#prepared.get(sql) ?? this.#connection.prepare(sql);
    if (sql.includes("?")) this.#prepared.set(sql, statement);
    return statement.all(...params) as SqlRow[];
  }
}

/** SQLite's primary result code of a failure; `undefined` where the driver itself failed. */
function primaryCodeOf(error: unknown): number | undefined {
  const { errcode, code, message } = error as { errcode?: unknown; code?: unknown; message?: unknown };
  if (typeof errcode === "number") return errcode & 0xff;
  if (code !== "ERR_SQLITE_ERROR" || typeof message !== "string") return undefined;
  const text = [...TEXTS.keys()].find((candidate) => message.startsWith(candidate));
  return text === undefined ? OTHER_CODE : TEXTS.get(text);
}

function computeSqliteError(error: unknown, path: string, otherwise: ErrorCode = "STORE_FAILED"): unknown {
  if (errorCodeOf(error)?.startsWith("STORE_") === true) return error;
  const code = CODES.get(primaryCodeOf(error)) ?? otherwise;
  const reason = error instanceof Error ? error.message : String(error);
  return new SplashdownError(code, `using ${path} failed: ${reason}`, { details: { path }, cause: error });
}
