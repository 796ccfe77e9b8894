/**
 * A SQL store as rows: all of them are read, and put back or put otherwise.
 *
 * Owns: the columns as they stand in sql-tables.ts, and how rows are the files of a folder. What is to become of them is
 * row-attacks.ts.
 */
import { sha256Hex } from "../../src/base/digest.js";
import { readClearHeader } from "../../src/store/contract/plaintext-header.js";
import type { SqlDatabase, SqlValue } from "../../src/store/sql/sql-database.js";

/** Of a task's folder, by path below it; of a task's rows the same, as they would stand in a folder. */
export type Files = ReadonlyMap<string, Buffer>;

/** Of a table, by column; what is null is not there. */
export interface Row {
  readonly table: Table;
  readonly values: Readonly<Record<string, SqlValue>>;
}

/** In an order in which they can be written. */
const COLUMNS = {
  migrations: ["version"],
  tasks: ["id", "name", "epoch", "trashed_at"],
  segments: ["task", "epoch", "idx"],
  lines: ["task", "epoch", "idx", "n", "bytes"],
  objects: ["task", "key", "size", "digest", "header", "bytes"],
} as const;
export type Table = keyof typeof COLUMNS;
const TABLES = Object.keys(COLUMNS) as Table[];
const PREFIX = "splashdown_";
/** Names a row among all of them. */
const KEYS: Readonly<Record<Table, readonly string[]>> = {
  migrations: ["version"],
  tasks: ["id"],
  segments: ["task", "epoch", "idx"],
  lines: ["task", "epoch", "idx", "n"],
  objects: ["task", "key"],
};

export function nameRow({ table, values }: Row): string {
  return `${table} ${KEYS[table].map((column) => String(values[column])).join("/")}`;
}

export async function readRows(database: SqlDatabase): Promise<Row[]> {
  const rows: Row[] = [];
  for (const table of TABLES) {
    const order = KEYS[table].join(", ");
    for (const found of await database.query(
      `SELECT ${COLUMNS[table].join(", ")} FROM ${PREFIX}${table} ORDER BY ${order}`,
    )) {
      const present = Object.entries(found).filter(([, value]) => value !== null);
      rows.push({ table, values: Object.fromEntries(present.map(([column, value]) => [column, toValue(value)])) });
    }
  }
  return rows;
}

function toValue(value: unknown): SqlValue {
  if (value instanceof Uint8Array) return Buffer.from(value);
  return typeof value === "bigint" ? Number(value) : (value as SqlValue);
}

/** All rows are these; false, and nothing has changed, where the database takes no such rows. */
export async function writeRows(database: SqlDatabase, rows: readonly Row[]): Promise<boolean> {
  const numbered = database.dialect.lock === "" ? "" : "OVERRIDING SYSTEM VALUE ";
  try {
    await database.transaction(async (query) => {
      for (const table of TABLES.toReversed()) await query(`DELETE FROM ${PREFIX}${table}`);
      for (const { table, values } of rows) {
        const columns = Object.keys(values);
        const marks = columns.map(() => "?").join(", ");
        await query(
          `INSERT INTO ${PREFIX}${table} (${columns.join(", ")}) ${numbered}VALUES (${marks})`,
          Object.values(values),
        );
      }
    });
    return true;
  } catch {
    return false;
  }
}

const segmentPath = ({ epoch, idx }: Row["values"]): string =>
  `journal/${String(epoch).padStart(8, "0")}-${String(idx).padStart(4, "0")}.jsonl`;

/** Of another type than bytes it is nothing. */
function bytesOf({ values: { bytes } }: Row): Buffer {
  return bytes instanceof Uint8Array ? Buffer.from(bytes) : Buffer.alloc(0);
}

/** As the same task would stand in a folder. */
export function filesOfRows(rows: readonly Row[]): Files {
  const files = new Map<string, Buffer>();
  for (const { table, values } of rows) if (table === "segments") files.set(segmentPath(values), Buffer.alloc(0));
  for (const row of rows) {
    if (row.table === "objects") files.set(String(row.values["key"]), bytesOf(row));
    if (row.table !== "lines") continue;
    const path = segmentPath(row.values);
    files.set(path, Buffer.concat([files.get(path) ?? Buffer.alloc(0), bytesOf(row)]));
  }
  return files;
}

/** The rows as they are when a file of the folder is another one, or is taken away; all clear columns fit. */
export function withFile(rows: readonly Row[], path: string, bytes: Buffer | undefined): readonly Row[] {
  const [, epoch, idx] = /^journal\/(\d{8})-(\d{4})\.jsonl$/.exec(path) ?? [];
  const task = rows.find(({ table }) => table === "tasks")?.values["id"] ?? 1;
  if (epoch === undefined) {
    const others = rows.filter(({ table, values }) => table !== "objects" || values["key"] !== path);
    return bytes === undefined ? others : [...others, createObject(task, path, bytes)];
  }
  const place = { task, epoch: Number(epoch), idx: Number(idx) };
  const others = rows.filter(
    ({ table, values }) =>
      !["segments", "lines"].includes(table) || values["epoch"] !== place.epoch || values["idx"] !== place.idx,
  );
  if (bytes === undefined) return others;
  const segment: Row = { table: "segments", values: place };
  return bytes.length === 0
    ? [...others, segment]
    : [...others, segment, { table: "lines", values: { ...place, n: 0, bytes } }];
}

export function createObject(task: SqlValue, key: string, bytes: Buffer): Row {
  const header = readClearHeader(bytes);
  const values = { task, key, size: bytes.length, digest: sha256Hex(bytes), bytes };
  return { table: "objects", values: header === undefined ? values : { ...values, header } };
}

/** The task's epoch is the highest of its segments, as the store leaves it. */
export function withFittingEpoch(rows: readonly Row[]): readonly Row[] {
  const epochs = rows.flatMap(({ table, values }) => (table === "segments" ? [Number(values["epoch"])] : []));
  const epoch = Math.max(0, ...epochs);
  return rows.map((row) => (row.table === "tasks" ? { ...row, values: { ...row.values, epoch } } : row));
}
