/**
 * The store in a SQL database: tasks, segments, lines and objects as rows, the law S1 kept by conditional inserts.
 *
 * A task is known by its row's id, so who still writes to a removed task reaches nothing of the next one of its name.
 * Deliverables are files; where the owner's presence and the reserve are is the owner place's affair.
 */
import { join } from "node:path";
import { SplashdownError, assert } from "../../base/errors.js";
import { LIMITS } from "../../base/limits.js";
import type { Store, StoreManifest, TaskStore, TrashedTask } from "../contract/contract.js";
import { OBJECT_BYTES_MAX } from "../directory/directory-objects.js";
import { isTaskName } from "../contract/object-key.js";
import type { OwnerPlace, TaskRow } from "../presence/owner-place.js";
import type { SqlDatabase, SqlValue } from "./sql-database.js";
import { migrateTables } from "./sql-tables.js";
import { SqlTask } from "./sql-task.js";
import type { StoreParts } from "../contract/store-parts.js";

const TABLE_PREFIX = /^[a-z][a-z0-9_]{0,30}$/;
export const DEFAULT_TABLE_PREFIX = "splashdown_";

export interface SqlStoreOptions {
  readonly address: string;
  readonly traits: Pick<StoreManifest, "kind" | "multiProcess" | "durable" | "reserve">;
  /** Called at first use. */
  readonly connect: () => Promise<SqlDatabase>;
  /** False while there is no database yet that reading could read; without it there always is one. */
  readonly isThere?: (() => Promise<boolean>) | undefined;
  readonly tablePrefix?: string | undefined;
  readonly deliverablesRoot: string;
  readonly ownerPlace: (task: TaskRow, database: SqlDatabase) => OwnerPlace;
  readonly parts: StoreParts;
}

export class SqlStore implements Store {
  readonly manifest: StoreManifest;
  readonly address: string;
  readonly #options: SqlStoreOptions;
  readonly #prefix: string;
  readonly #open = new Set<SqlTask>();
  #database: Promise<SqlDatabase> | undefined;

  constructor(options: SqlStoreOptions) {
    this.#prefix = options.tablePrefix ?? DEFAULT_TABLE_PREFIX;
    assert(isTablePrefix(this.#prefix), "a table prefix is lower case letters, digits and _");
    this.#options = options;
    this.address = options.address;
    this.manifest = { ...options.traits, objectBytesMax: OBJECT_BYTES_MAX, lineBytesMax: LIMITS.recordBytesMax };
  }

  async tasks(): Promise<string[]> {
    if (!(await this.#isThere())) return [];
    const rows = await (await this.#connect()).query(`SELECT name FROM ${this.#prefix}tasks WHERE trashed_at IS NULL`);
    return rows.map((row) => String(row["name"])).sort();
  }

  async task(name: string): Promise<TaskStore | undefined> {
    if (!isTaskName(name) || !(await this.#isThere())) return undefined;
    const database = await this.#connect();
    const [row] = await database.query(`SELECT id FROM ${this.#prefix}tasks WHERE name = ? AND trashed_at IS NULL`, [
      name,
    ]);
    return row && this.#openTask(database, { name, id: Number(row["id"]) });
  }

  async createTask(name: string): Promise<TaskStore | undefined> {
    if (!isTaskName(name)) {
      throw new SplashdownError("TASK_NAME_INVALID", `not a task name: ${JSON.stringify(name.slice(0, 100))}`, {
        details: { name: name.slice(0, 100) },
      });
    }
    const database = await this.#connect();
    const sql = `INSERT INTO ${this.#prefix}tasks (name, epoch) VALUES (?, 0) ON CONFLICT DO NOTHING RETURNING id`;
    const [row] = await database.query(sql, [name]);
    return row && this.#openTask(database, { name, id: Number(row["id"]) });
  }

  async removeTask(name: string): Promise<void> {
    await this.#delete(name, "trashed_at IS NULL");
  }

  async trash(): Promise<TrashedTask[]> {
    if (!(await this.#isThere())) return [];
    const sum = (table: string, what: string) =>
      `(SELECT COALESCE(SUM(${what}), 0) FROM ${this.#prefix}${table} x WHERE x.task = t.id)`;
    const sql = `SELECT t.name AS name, t.trashed_at AS at, ${sum("objects", "size")} + ${sum("lines", "LENGTH(bytes)")} AS size
      FROM ${this.#prefix}tasks t WHERE t.trashed_at IS NOT NULL`;
    const rows = await (await this.#connect()).query(sql);
    const found = rows.map((row) => ({
      name: String(row["name"]),
      trashedAtMs: Number(row["at"]),
      sizeBytes: Number(row["size"]),
    }));
    return found.sort((first, second) => (first.name < second.name ? -1 : 1));
  }

  async trashTask(name: string, atMs: number): Promise<boolean> {
    return this.#mark("trashed_at = ? WHERE name = ? AND trashed_at IS NULL", [atMs, name]);
  }

  async restoreTask(name: string): Promise<boolean> {
    return this.#mark("trashed_at = NULL WHERE name = ? AND trashed_at IS NOT NULL", [name]);
  }

  purgeTask(name: string): Promise<boolean> {
    return this.#delete(name, "trashed_at IS NOT NULL");
  }

  async probe(): Promise<void> {
    const database = await this.#connect();
    const sql = `INSERT INTO ${this.#prefix}probes (at) VALUES (?) RETURNING id`;
    const [row] = await database.query(sql, [this.#options.parts.clock.nowMs()]);
    await database.query(`DELETE FROM ${this.#prefix}probes WHERE id = ?`, [Number(row?.["id"])]);
  }

  async close(): Promise<void> {
    for (const task of this.#open) await task.close();
    const database = await this.#database?.catch(() => undefined);
    this.#database = undefined;
    await database?.close();
  }

  async #mark(change: string, values: readonly SqlValue[]): Promise<boolean> {
    if (!(await this.#isThere())) return false;
    const database = await this.#connect();
    return (await database.query(`UPDATE ${this.#prefix}tasks SET ${change} RETURNING id`, values)).length > 0;
  }

  async #delete(name: string, where: string): Promise<boolean> {
    if (!(await this.#isThere())) return false;
    const database = await this.#connect();
    const sql = `DELETE FROM ${this.#prefix}tasks WHERE name = ? AND ${where} RETURNING id`;
    const [row] = await database.query(sql, [name]);
    if (row !== undefined) await this.#options.ownerPlace({ name, id: Number(row["id"]) }, database).clear();
    return row !== undefined;
  }

  async #isThere(): Promise<boolean> {
    return this.#database !== undefined || ((await this.#options.isThere?.()) ?? true);
  }

  /** A failed attempt is forgotten: the next use tries again. */
  #connect(): Promise<SqlDatabase> {
    this.#database ??= this.#start().catch((error: unknown) => {
      this.#database = undefined;
      throw error;
    });
    return this.#database;
  }

  async #start(): Promise<SqlDatabase> {
    const database = await this.#options.connect();
    try {
      await migrateTables(database, this.#prefix);
      return database;
    } catch (error) {
      await database.close().catch(() => undefined);
      throw error;
    }
  }

  #openTask(database: SqlDatabase, row: TaskRow): TaskStore {
    const { deliverablesRoot, ownerPlace, parts } = this.#options;
    const task = new SqlTask({
      row,
      database,
      prefix: this.#prefix,
      deliverablesFolder: join(deliverablesRoot, row.name),
      owners: ownerPlace(row, database),
      clock: parts.clock,
      onClose: () => void this.#open.delete(task),
    });
    this.#open.add(task);
    return task;
  }
}

export function isTablePrefix(text: string): boolean {
  return TABLE_PREFIX.test(text);
}
