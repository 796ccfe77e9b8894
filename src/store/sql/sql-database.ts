/**
 * What a SQL store asks of a database: statements, transactions, and a few words that differ between dialects.
 *
 * Statements have `?` for each parameter and are the same for every database but for the words of `SqlDialect`.
 * Errors: the STORE_* codes; STORE_UNREACHABLE and every other failure of a change leave its outcome unknown.
 */
export type SqlValue = string | number | Uint8Array;
export type SqlRow = Readonly<Record<string, unknown>>;
export type SqlQuery = (sql: string, params?: readonly SqlValue[]) => Promise<readonly SqlRow[]>;

export interface SqlDialect {
  /** Type and properties of a primary key that counts up and is never given twice. */
  readonly serial: string;
  readonly bytes: string;
  /** A text compared byte by byte. */
  readonly text: string;
  /** Ends a SELECT whose rows may not change until the transaction ends; empty where all writers are alone. */
  readonly lock: string;
  /** Statement that lets one migration run at a time; empty where all writers are alone. */
  readonly lockMigrations: string;
  /** Statement with a table's name as its parameter; a row when the table is there. */
  readonly findTable: string;
  /** Statements after which a removed object's bytes stand nowhere that we can reach, in this order, outside a transaction. */
  readonly forget: (prefix: string) => readonly string[];
  /** What may hold them all the same, in a sentence, by the row that the last of these statements gave. */
  readonly remains: (row: SqlRow | undefined) => string | undefined;
  /** Member of a JSON object that is kept as text, as text. */
  readonly member: (column: string, name: string) => string;
  /** SHA-256 of a text as hex digits; absent where the database knows none. */
  readonly sha256?: (text: string) => string;
  /** Statements that go with the tables, for this dialect alone. */
  readonly extras: (prefix: string) => readonly string[];
}

export interface SqlDatabase {
  readonly dialect: SqlDialect;
  /** One statement, atomic and durable on return. */
  readonly query: SqlQuery;
  /** All of the statements or none; durable on return. Runs the work again when the database asks for it. */
  transaction<T>(work: (query: SqlQuery) => Promise<T>): Promise<T>;
  /**
   * Calls back with `<task id>/<key>` when an object was made or removed, by whomever. A hint: some may be lost.
   * Absent: nobody tells, and who wants to know looks now and then.
   */
  listen?(hint: (text: string) => void): () => void;
  close(): Promise<void>;
}
