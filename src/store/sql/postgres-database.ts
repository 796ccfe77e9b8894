/**
 * A Postgres server as a SqlDatabase, through the optional package `pg`.
 *
 * Durable on return: a server that acknowledges before it has synced (`synchronous_commit` or `fsync` off) is refused.
 * A statement whose connection ends is an unknown outcome: only what reads, and what was never sent, is tried again, and
 * so is a transaction until its commit is sent; a server with too many connections is asked for one again. Tries end after
 * `LIMITS.storeRetryMs`.
 */
import type { Client, Pool, PoolClient } from "pg";
import type { Clock } from "../../base/clock.js";
import { SplashdownError, isErrorCode } from "../../base/errors.js";
import { LIMITS } from "../../base/limits.js";
import { computePostgresError, isToTryAgain, numberParameters, POSTGRES } from "./postgres-dialect.js";
import { PostgresSession } from "./postgres-session.js";
import type { SqlDatabase, SqlQuery, SqlRow, SqlValue } from "./sql-database.js";

const CONNECTIONS_MAX = 4;
const RETRY_PAUSE_MS = 50;
const READS = /^\s*SELECT\b/i;

export interface PostgresParts {
  readonly url: string;
  /** The address as people see it: without a password. */
  readonly place: string;
  readonly clock: Clock;
  readonly channel: string;
  readonly load?: (() => Promise<PostgresDriver>) | undefined;
}

export interface PostgresDriver {
  readonly Pool: typeof Pool;
  readonly Client: typeof Client;
}

/** Errors: STORE_UNSUPPORTED without the package or with a server that does not sync; the STORE_* codes. */
export async function openPostgres(parts: PostgresParts): Promise<PostgresDatabase> {
  const driver = await loadDriver(parts.load);
  const database = new PostgresDatabase(driver, parts);
  try {
    await database.requireSync();
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

async function loadDriver(load = () => import("pg") as Promise<PostgresDriver>): Promise<PostgresDriver> {
  try {
    return await load();
  } catch (error) {
    throw new SplashdownError("STORE_UNSUPPORTED", "postgres stores need a package: npm install pg", {
      details: { package: "pg" },
      cause: error,
    });
  }
}

export class PostgresDatabase implements SqlDatabase {
  readonly dialect = POSTGRES;
  readonly session: PostgresSession;
  readonly query: SqlQuery = (sql, params) => {
    const run = () => this.#withClient((client) => this.#run(client, sql, params));
    return this.#patiently(run, { isHarmless: () => READS.test(sql) });
  };
  readonly #parts: PostgresParts;
  readonly #pool: Pool;
  /** Connected at least once: a refusal is then worth waiting for. */
  #isKnown = false;

  constructor(driver: PostgresDriver, parts: PostgresParts) {
    const options = {
      connectionString: parts.url,
      application_name: "splashdown",
      connectionTimeoutMillis: LIMITS.databaseConnectMs,
      statement_timeout: LIMITS.databaseStatementMs,
      query_timeout: LIMITS.databaseStatementMs + LIMITS.storeRetryMs,
      keepAlive: true,
    };
    this.#parts = parts;
    this.#pool = new driver.Pool({ ...options, max: CONNECTIONS_MAX, allowExitOnIdle: true });
    // An idle connection that ends is replaced by the next use.
    this.#pool.on("error", () => undefined);
    this.session = new PostgresSession({ ...parts, createClient: () => new driver.Client(options) });
  }

  /** Errors: STORE_UNSUPPORTED naming the setting. */
  async requireSync(): Promise<void> {
    for (const setting of ["synchronous_commit", "fsync"]) {
      const [row] = await this.query(`SELECT current_setting('${setting}') AS value`);
      if (row?.["value"] !== "off") continue;
      throw new SplashdownError(
        "STORE_UNSUPPORTED",
        `${this.#parts.place} acknowledges what is not on the disk yet: ${setting} is off, and must be on`,
        { details: { store: this.#parts.place, setting } },
      );
    }
  }

  transaction<T>(work: (query: SqlQuery) => Promise<T>): Promise<T> {
    let isCommitting = false;
    const run = () =>
      this.#withClient(async (client) => {
        isCommitting = false;
        await client.query("BEGIN ISOLATION LEVEL READ COMMITTED");
        try {
          const result = await work((sql, params) => this.#run(client, sql, params));
          isCommitting = true;
          await client.query("COMMIT");
          return result;
        } catch (error) {
          await client.query("ROLLBACK").catch(() => undefined);
          throw error;
        }
      });
    return this.#patiently(run, { isHarmless: () => !isCommitting });
  }

  listen(hint: (text: string) => void): () => void {
    return this.session.listen(hint);
  }

  async close(): Promise<void> {
    await this.session.close();
    await this.#pool.end().catch(() => undefined);
  }

  async #withClient<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    const client = await this.#connect();
    let failure: unknown;
    // Without it, a connection that ends while nothing is asked of it would end the process.
    const note = (error: unknown) => (failure = error);
    client.on("error", note);
    try {
      return await work(client);
    } catch (error) {
      const coded = computePostgresError(error, this.#parts.place);
      if (isErrorCode(coded, "STORE_UNREACHABLE")) failure = coded;
      throw isToTryAgain(error) ? error : coded;
    } finally {
      client.off("error", note);
      client.release(failure !== undefined);
    }
  }

  async #connect(): Promise<PoolClient> {
    try {
      const client = await this.#pool.connect();
      this.#isKnown = true;
      return client;
    } catch (error) {
      throw new NotSent(computePostgresError(error, this.#parts.place));
    }
  }

  async #patiently<T>(run: () => Promise<T>, { isHarmless }: { isHarmless: () => boolean }): Promise<T> {
    const { clock, place } = this.#parts;
    const end = clock.monotonicMs() + LIMITS.storeRetryMs;
    for (;;) {
      try {
        return await run();
      } catch (error) {
        const coded = error instanceof NotSent ? error.reason : computePostgresError(error, place);
        const isSent = !(error instanceof NotSent);
        const isCrowded = !isSent && isErrorCode(coded, "STORE_BUSY");
        const isLost = isErrorCode(coded, "STORE_UNREACHABLE") && this.#isKnown;
        const isWorthIt = isToTryAgain(error) || isCrowded || (isLost && (!isSent || isHarmless()));
        if (!isWorthIt || clock.monotonicMs() >= end) throw coded;
      }
      await clock.sleep(RETRY_PAUSE_MS);
    }
  }

  async #run(client: PoolClient, sql: string, params: readonly SqlValue[] = []): Promise<readonly SqlRow[]> {
    const { rows } = await client.query<SqlRow>(numberParameters(sql), [...params]);
    return rows;
  }
}

/** Nothing was asked of the database: there was no connection. */
class NotSent {
  readonly reason: unknown;

  constructor(reason: unknown) {
    this.reason = reason;
  }
}
