/**
 * One task of a SQL store: its log and objects are rows.
 *
 * S1: a claim raises the task's epoch while it holds the task's row; an append inserts only while its epoch is the highest, and holds
 * the task's row until it is durable. So a claim waits for the appends before it, and those after it are refused.
 */
import type { Clock } from "../../base/clock.js";
import { sha256Hex } from "../../base/digest.js";
import { SplashdownError, assert } from "../../base/errors.js";
import { readClearHeader } from "../contract/plaintext-header.js";
import type { ByteRange, Digests, ObjectEntry, OwnerFacts, OwnerState, PresenceHandle } from "../contract/contract.js";
import type { SegmentId, SegmentWriter, TaskStore } from "../contract/contract.js";
import { requireObjectSize } from "../directory/directory-objects.js";
import { assertObjectKey, assertObjectPrefix } from "../contract/object-key.js";
import type { OwnerPlace, TaskRow } from "../presence/owner-place.js";
import { joinLines } from "../files/segment-file.js";
import type { SqlDatabase, SqlQuery, SqlRow } from "./sql-database.js";
import { SqlSegment } from "./sql-segment.js";
import { LIMITS } from "../../base/limits.js";
import { EPOCH_MAX, isEpoch, isSegmentId } from "../contract/segment-name.js";
import { requireSegmentSize, unsafePlace } from "../contract/store-failure.js";

/** How often a watch looks where the database tells nothing: a person's answer may take this long to be seen. */
const WATCH_INTERVAL_MS = 500;
/** Of one statement: databases bound the number of its parameters. */
const KEYS_AT_ONCE = 200;
/** Sorts after every character of a key. */
const AFTER_KEYS = "\u007f";

export interface SqlTaskParts {
  readonly row: TaskRow;
  readonly database: SqlDatabase;
  readonly prefix: string;
  readonly deliverablesFolder: string;
  readonly owners: OwnerPlace;
  readonly clock: Clock;
  readonly onClose: () => void;
}

export class SqlTask implements TaskStore {
  readonly name: string;
  readonly deliverablesFolder: string;
  readonly digests: Digests;
  readonly #parts: SqlTaskParts;
  readonly #id: number;
  readonly #query: SqlQuery;
  /** Epochs claimed through this handle, each with the index of its next segment. */
  readonly #nextIndex = new Map<number, number>();
  readonly #watchers = new Set<() => void>();

  constructor(parts: SqlTaskParts) {
    this.#parts = parts;
    this.#id = parts.row.id;
    this.#query = parts.database.query;
    this.name = parts.row.name;
    this.deliverablesFolder = parts.deliverablesFolder;
    const { sha256 } = parts.database.dialect;
    this.digests = {
      ofObject: (key) => this.#digestOf(key),
      ...(sha256 === undefined ? {} : { ofList: (prefix: string) => this.#digestOfList(prefix, sha256) }),
    };
  }

  async claim(after?: number): Promise<number> {
    const { database, prefix } = this.#parts;
    const epoch = await database.transaction(async (query) => {
      const { told, highest } = await this.#lockHighest(query);
      if (after !== undefined && highest > after) throw this.#superseded(highest);
      const claimed = (isEpoch(told) ? Math.max(told, highest) : highest) + 1;
      if (claimed > EPOCH_MAX) throw unsafePlace(`the rows of ${this.name}`, "has no epoch left");
      await query(`UPDATE ${prefix}tasks SET epoch = ? WHERE id = ?`, [claimed, this.#id]);
      await query(`INSERT INTO ${prefix}segments (task, epoch, idx) VALUES (?, ?, 0)`, [this.#id, claimed]);
      return claimed;
    });
    this.#nextIndex.set(epoch, 0);
    return epoch;
  }

  async openSegment(epoch: number, header: Uint8Array, lines: readonly Uint8Array[] = []): Promise<SegmentWriter> {
    const index = this.#nextIndex.get(epoch);
    assert(index !== undefined, `epoch ${epoch} was not claimed here`);
    this.#nextIndex.set(epoch, index + 1);
    const { prefix, database } = this.#parts;
    const id = { epoch, index };
    const writer = new SqlSegment({ id, insert: (bytes, n) => this.#insertLines(this.#query, { id, bytes, n }) });
    const bytes = joinLines([header, ...lines]);
    await writer.begin(() =>
      database.transaction(async (query) => {
        const sql = `INSERT INTO ${prefix}segments (task, epoch, idx) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`;
        await query(sql, [this.#id, epoch, index]);
        await this.#insertLines(query, { id, bytes, n: 0 });
      }),
    );
    return writer;
  }

  async confirm(epoch: number): Promise<boolean> {
    return (await this.#readEpoch(this.#query)) <= epoch;
  }

  async segments(): Promise<(SegmentId & { readonly sizeBytes: number })[]> {
    const { prefix } = this.#parts;
    const sql = `SELECT s.epoch AS epoch, s.idx AS idx, COALESCE(SUM(LENGTH(l.bytes)), 0) AS size FROM ${prefix}segments s
      LEFT JOIN ${prefix}lines l ON l.task = s.task AND l.epoch = s.epoch AND l.idx = s.idx
      WHERE s.task = ? GROUP BY s.epoch, s.idx ORDER BY s.epoch, s.idx`;
    const rows = await this.#query(sql, [this.#id]);
    const found = rows.map((row) => ({
      epoch: Number(row["epoch"]),
      index: Number(row["idx"]),
      sizeBytes: Number(row["size"]),
    }));
    return found.filter(isSegmentId);
  }

  async read(segment: SegmentId): Promise<Uint8Array> {
    const { prefix } = this.#parts;
    const sql = `SELECT l.bytes AS bytes FROM ${prefix}segments s
      LEFT JOIN ${prefix}lines l ON l.task = s.task AND l.epoch = s.epoch AND l.idx = s.idx
      WHERE s.task = ? AND s.epoch = ? AND s.idx = ? AND (SELECT COALESCE(SUM(LENGTH(o.bytes)), 0) FROM ${prefix}lines o
        WHERE o.task = s.task AND o.epoch = s.epoch AND o.idx = s.idx) <= ? ORDER BY l.n`;
    const place = [this.#id, segment.epoch, segment.index];
    const rows = await this.#query(sql, [...place, LIMITS.segmentReadBytesMax]);
    if (rows.length > 0) return Buffer.concat(rows.map((row) => toBytes(row["bytes"])));
    const sized = `SELECT COALESCE(SUM(LENGTH(bytes)), 0) AS size FROM ${prefix}lines WHERE task = ? AND epoch = ? AND idx = ?`;
    const [row] = await this.#query(sized, place);
    requireSegmentSize(segment, Number(row?.["size"] ?? 0));
    throw new SplashdownError("STORE_FAILED", `segment ${segment.epoch}-${segment.index} does not exist`, {
      details: { epoch: segment.epoch, index: segment.index },
    });
  }

  async removeSegment(segment: SegmentId): Promise<void> {
    const { database, prefix } = this.#parts;
    await database.transaction(async (query) => {
      assert(segment.epoch < (await this.#readEpoch(query)), "a segment of the highest epoch stays");
      for (const table of ["lines", "segments"]) {
        const sql = `DELETE FROM ${prefix}${table} WHERE task = ? AND epoch = ? AND idx = ?`;
        await query(sql, [this.#id, segment.epoch, segment.index]);
      }
    });
  }

  async putOnce(key: string, bytes: Uint8Array): Promise<"created" | "exists"> {
    assertObjectKey(key);
    requireObjectSize(key, bytes);
    const { prefix } = this.#parts;
    const header = readClearHeader(bytes);
    const [column, mark] = header === undefined ? ["", ""] : [", header", ", ?"];
    const sql = `INSERT INTO ${prefix}objects (task, key, size, digest, bytes${column}) SELECT id, ?, ?, ?, ?${mark} FROM ${prefix}tasks
      WHERE id = ? ON CONFLICT DO NOTHING RETURNING key`;
    const kept = Buffer.from(bytes);
    const values = [key, kept.length, sha256Hex(kept), kept, ...(header === undefined ? [] : [header])];
    const rows = await this.#query(sql, [...values, this.#id]);
    if (rows.length > 0) return "created";
    await this.#readEpoch(this.#query);
    return "exists";
  }

  async get(key: string, range?: ByteRange): Promise<Uint8Array | undefined> {
    assertObjectKey(key);
    const { prefix } = this.#parts;
    const wanted = range === undefined ? "bytes" : "SUBSTR(bytes, ?, ?) AS bytes";
    const cut = range === undefined ? [] : [range.offset + 1, range.length];
    const sql = `SELECT ${wanted} FROM ${prefix}objects WHERE task = ? AND key = ?`;
    const [row] = await this.#query(sql, [...cut, this.#id, key]);
    return row && toBytes(row["bytes"]);
  }

  async list(prefix: string): Promise<ObjectEntry[]> {
    assertObjectPrefix(prefix);
    // Not the column `size`, which is for people: whoever reads judges by this what is read at all.
    const sql = `SELECT key, LENGTH(bytes) AS size FROM ${this.#parts.prefix}objects WHERE task = ? AND key >= ? AND key < ? ORDER BY key`;
    const rows = await this.#query(sql, [this.#id, prefix, prefix + AFTER_KEYS]);
    return rows.map((row) => ({ key: String(row["key"]), sizeBytes: Number(row["size"]) }));
  }

  async #digestOf(key: string): Promise<{ digest: string; sizeBytes: number } | undefined> {
    assertObjectKey(key);
    const sql = `SELECT digest, LENGTH(bytes) AS size FROM ${this.#parts.prefix}objects WHERE task = ? AND key = ?`;
    const [row] = await this.#query(sql, [this.#id, key]);
    return row && { digest: String(row["digest"]), sizeBytes: Number(row["size"]) };
  }

  async #digestOfList(prefix: string, sha256: (text: string) => string): Promise<string> {
    assertObjectPrefix(prefix);
    const text = "COALESCE(string_agg(key || ' ' || LENGTH(bytes), chr(10) ORDER BY key), '')";
    const sql = `SELECT ${sha256(text)} AS digest FROM ${this.#parts.prefix}objects WHERE task = ? AND key >= ? AND key < ?`;
    const [row] = await this.#query(sql, [this.#id, prefix, prefix + AFTER_KEYS]);
    return String(row?.["digest"]);
  }

  async remove(...keys: readonly string[]): Promise<void> {
    for (const key of keys) assertObjectKey(key);
    for (let at = 0; at < keys.length; at += KEYS_AT_ONCE) {
      const some = keys.slice(at, at + KEYS_AT_ONCE);
      const marks = some.map(() => "?").join(", ");
      const sql = `DELETE FROM ${this.#parts.prefix}objects WHERE task = ? AND key IN (${marks})`;
      await this.#query(sql, [this.#id, ...some]);
    }
  }

  async destroy(key: string): Promise<string | undefined> {
    await this.remove(key);
    const { database, prefix } = this.#parts;
    let last: SqlRow | undefined;
    for (const statement of database.dialect.forget(prefix)) [last] = await this.#query(statement);
    return database.dialect.remains(last);
  }

  watch(prefix: string, hint: () => void): () => void {
    assertObjectPrefix(prefix);
    const begins = `${this.#id}/${prefix}`;
    const { database } = this.#parts;
    const stopWatching =
      database.listen?.((text) => {
        if (text.startsWith(begins)) hint();
      }) ?? this.#lookAgain(prefix, hint);
    const stop = () => {
      this.#watchers.delete(stop);
      stopWatching();
    };
    this.#watchers.add(stop);
    return stop;
  }

  async sweep(): Promise<void> {
    // An interrupted statement leaves nothing behind.
  }

  releaseReserve(): Promise<boolean> {
    return this.#parts.owners.releaseReserve();
  }

  ensureReserve(): Promise<boolean> {
    return this.#parts.owners.ensureReserve();
  }

  announce(facts: OwnerFacts): Promise<PresenceHandle> {
    return this.#parts.owners.announce(facts);
  }

  ownerState(): Promise<OwnerState> {
    return this.#parts.owners.ownerState();
  }

  async close(): Promise<void> {
    for (const stop of this.#watchers) stop();
    this.#nextIndex.clear();
    this.#parts.onClose();
  }

  #lookAgain(prefix: string, hint: () => void): () => void {
    let seen: string | undefined;
    let isStopped = false;
    const look = async () => {
      const found = (await this.list(prefix)).map((entry) => entry.key).join("\n");
      if (seen !== undefined && found !== seen && !isStopped) hint();
      seen = found;
    };
    const stopLooking = this.#parts.clock.every(WATCH_INTERVAL_MS, () => void look().catch(() => undefined));
    void look().catch(() => undefined);
    return () => {
      isStopped = true;
      stopLooking();
    };
  }

  async #insertLines(query: SqlQuery, rows: { id: SegmentId; bytes: Uint8Array; n: number }): Promise<void> {
    const { prefix, database } = this.#parts;
    const { epoch, index } = rows.id;
    const sql = `INSERT INTO ${prefix}lines (task, epoch, idx, n, bytes) SELECT id, epoch, ?, ?, ? FROM ${prefix}tasks
      WHERE id = ? AND epoch = ? ${database.dialect.lock} RETURNING n`;
    const inserted = await query(sql, [index, rows.n, rows.bytes, this.#id, epoch]);
    if (inserted.length === 0) throw this.#superseded(await this.#readEpoch(query));
  }

  /**
   * The highest epoch of a segment, which is what was claimed, and what the task's row tells to those who append and confirm.
   * Put back by itself to a lower one, the row would hand out an epoch whose records nobody reads.
   */
  async #lockHighest(query: SqlQuery): Promise<{ readonly told: number; readonly highest: number }> {
    const { prefix } = this.#parts;
    const [locked] = await query(`UPDATE ${prefix}tasks SET epoch = epoch WHERE id = ? RETURNING epoch`, [this.#id]);
    if (locked === undefined) throw this.#removed();
    const sql = `SELECT MAX(CAST(epoch AS INTEGER)) AS epoch FROM ${prefix}segments WHERE task = ? AND epoch BETWEEN 1 AND ${EPOCH_MAX}`;
    const [row] = await query(sql, [this.#id]);
    return { told: Number(locked["epoch"]), highest: Number(row?.["epoch"] ?? 0) };
  }

  async #readEpoch(query: SqlQuery): Promise<number> {
    const [row] = await query(`SELECT epoch FROM ${this.#parts.prefix}tasks WHERE id = ?`, [this.#id]);
    if (row === undefined) throw this.#removed();
    return Number(row["epoch"]);
  }

  #removed(): SplashdownError {
    return new SplashdownError("STORE_FAILED", `task ${this.name} was removed`, { details: { task: this.name } });
  }

  #superseded(epoch: number): SplashdownError {
    return new SplashdownError("OWNER_SUPERSEDED", `another process has claimed epoch ${epoch} meanwhile`, {
      details: { task: this.name, epoch },
    });
  }
}

/** An absent line is null. */
function toBytes(value: unknown): Buffer {
  return value instanceof Uint8Array ? Buffer.from(value) : Buffer.alloc(0);
}
