/**
 * How Postgres says what every SQL store says, and what its failures mean; PGlite is Postgres too.
 *
 * Sealed bytes are not compressed again. Who makes an object tells everybody who listens. An owner's row names the
 * advisory lock that its session holds.
 */
import type { ErrorCode } from "../../base/error-table.js";
import { SplashdownError, errorCodeOf, messageOf } from "../../base/errors.js";
import type { SqlDialect } from "./sql-database.js";

export const POSTGRES: SqlDialect = {
  serial: "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
  bytes: "BYTEA",
  text: 'TEXT COLLATE "C"',
  // Waits for a claim that is under way, and looks at the epoch again after it; a later claim waits for us.
  lock: "FOR SHARE",
  lockMigrations: "SELECT pg_advisory_xact_lock(hashtext('splashdown migrations'))",
  // Not to_regclass: that may still remember that there was none.
  findTable: "SELECT relname FROM pg_catalog.pg_class WHERE relname = ? AND pg_table_is_visible(oid)",
  // Rewriting the table would hold up every task in it; the server's log is its administrator's affair.
  forget: () => [],
  remains: () =>
    "the table's pages until they are used again, the server's write-ahead log, and its archives, replicas and backups may hold them",
  member: (column, name) => `(${column}::json ->> '${name}')`,
  sha256: (text) => `encode(sha256(convert_to(${text}, 'UTF8')), 'hex')`,
  extras: (prefix) => [
    ...["lines", "objects"].map((table) => `ALTER TABLE ${prefix}${table} ALTER COLUMN bytes SET STORAGE EXTERNAL`),
    `CREATE TABLE ${prefix}owners (task BIGINT NOT NULL REFERENCES ${prefix}tasks (id) ON DELETE CASCADE, epoch INTEGER NOT NULL,
      facts TEXT NOT NULL, counter INTEGER NOT NULL, lock BIGINT NOT NULL, PRIMARY KEY (task, epoch))`,
    `CREATE FUNCTION ${prefix}tell() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN PERFORM pg_notify('${formatChannel(prefix)}', NEW.task || '/' || NEW.key); RETURN NULL; END $$`,
    `CREATE TRIGGER ${prefix}told AFTER INSERT ON ${prefix}objects FOR EACH ROW EXECUTE FUNCTION ${prefix}tell()`,
  ],
};

/** The same inside this process, where no other session is: its table is rewritten, and its log begins anew. */
export const PGLITE: SqlDialect = {
  ...POSTGRES,
  forget: (prefix) => [
    `VACUUM FULL ${prefix}objects`,
    // Segments of the log that are not needed any more are removed, not renamed to be written again.
    "SET wal_recycle = off",
    "SELECT pg_switch_wal()",
    "CHECKPOINT",
  ],
  remains: () => undefined,
};

export function formatChannel(prefix: string): string {
  return `${prefix}objects`;
}

const numbered = new Map<string, string>();

/** `?` as `$1`, `$2`, … Our statements have no other question mark. */
export function numberParameters(sql: string): string {
  const known = numbered.get(sql);
  if (known !== undefined) return known;
  let count = 0;
  const text = sql.replaceAll("?", () => `$${(count += 1)}`);
  numbered.set(sql, text);
  return text;
}

/** Of SQLSTATE; the rest by class below. Source: PostgreSQL documentation, appendix A. */
const CODE_OF_STATE: Readonly<Record<string, ErrorCode>> = {
  "53100": "STORE_FULL",
  "42501": "STORE_UNWRITABLE",
  "25006": "STORE_UNWRITABLE",
  "40001": "STORE_BUSY",
  "40P01": "STORE_BUSY",
  "53300": "STORE_BUSY",
  "53400": "STORE_BUSY",
  "55P03": "STORE_BUSY",
  "57014": "STORE_BUSY",
};
/** No connection, no right to one, a server that ends, starts or was told to end us. */
const UNREACHABLE_STATE = /^(?:08|28|3D|57P)/;
const STATE = /^[0-9A-Z]{5}$/;
/** The database asks for the same again. */
const TRY_AGAIN = new Set(["40001", "40P01"]);

export function stateOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" && STATE.test(code) && !code.startsWith("E") ? code : undefined;
}

export function isToTryAgain(error: unknown): boolean {
  return TRY_AGAIN.has(stateOf(error) ?? "");
}

/**
 * The coded error for a failure of the database or of the way to it.
 *
 * Shape: what carries a code of ours comes back unchanged. `place` has no password in it.
 */
export function computePostgresError(error: unknown, place: string): unknown {
  if (errorCodeOf(error) !== undefined) return error;
  const state = stateOf(error);
  const isUnreachable = state === undefined || UNREACHABLE_STATE.test(state);
  return describe(error, place, CODE_OF_STATE[state ?? ""] ?? (isUnreachable ? "STORE_UNREACHABLE" : "STORE_FAILED"));
}

/** As `computePostgresError`, where there is no way on which a connection could end. */
export function computePgliteError(error: unknown, place: string): unknown {
  if (errorCodeOf(error) !== undefined) return error;
  return describe(error, place, CODE_OF_STATE[stateOf(error) ?? ""] ?? "STORE_FAILED");
}

function describe(error: unknown, place: string, code: ErrorCode): SplashdownError {
  const state = stateOf(error);
  const what = code === "STORE_UNREACHABLE" ? `${place} cannot be reached` : `using ${place} failed`;
  return new SplashdownError(code, `${what}: ${messageOf(error)}${state === undefined ? "" : ` (${state})`}`, {
    details: { store: place, ...(state === undefined ? {} : { sqlstate: state }) },
    cause: error,
  });
}
