/**
 * Who owns a task, and whether they live, in Postgres: for each epoch a row with facts and counter, and a lock of the
 * owner's session. The row of the highest epoch tells; an announcement takes those of lower ones away, so a superseded
 * owner that announces itself late neither hides its successor nor takes its row with it.
 *
 * alive: some session holds the lock that the row names. gone: none does, and the owner's process has ended on this machine.
 * unclear: none does, and more is not known: a connection ends also where its owner sleeps or the way to it is cut; the counter
 * is then watched. A hint and never a lock of the task: the epoch decides. No reserve is kept: the disk is the server's affair.
 */
import { isJsonObject, type JsonValue } from "../../base/json.js";
import type { RandomSource } from "../../base/random.js";
import type { OwnerFacts, OwnerState } from "../contract/contract.js";
import type { OwnerPlace, TaskRow } from "../presence/owner-place.js";
import { settleOwner } from "../presence/owner-record.js";
import type { PostgresDatabase } from "./postgres-database.js";
import type { Machine } from "../contract/store-parts.js";

/** Positive, so that it is the same number in `pg_locks`. */
const LOCK_BITS = 62n;
const IS_HELD = `EXISTS (SELECT 1 FROM pg_locks l WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1
  AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
  AND ((l.classid::bigint << 32) | l.objid::bigint) = o.lock)`;

export interface PostgresOwnerParts {
  readonly database: PostgresDatabase;
  readonly prefix: string;
  readonly task: TaskRow;
  readonly random: RandomSource;
  readonly machine?: Machine | undefined;
}

export function createPostgresOwner({ database, prefix, task, random, machine }: PostgresOwnerParts): OwnerPlace {
  const { query, session } = database;
  const table = `${prefix}owners`;
  return {
    announce: async (facts) => {
      const { epoch = 0 } = facts;
      const lock = drawLock(random);
      await session.hold(lock).catch(() => undefined);
      const sql = `INSERT INTO ${table} (task, epoch, facts, counter, lock) VALUES (?, ?, ?, 1, ?)
        ON CONFLICT (task, epoch) DO UPDATE SET facts = excluded.facts, counter = 1, lock = excluded.lock`;
      await query(sql, [task.id, epoch, JSON.stringify(facts), lock]).catch(() => undefined);
      await query(`DELETE FROM ${table} WHERE task = ? AND epoch < ?`, [task.id, epoch]).catch(() => undefined);
      return {
        // The lock may be that of a session opened again, on a server started again.
        beat: async () => {
          await session.hold(lock).catch(() => undefined);
          const raise = `UPDATE ${table} SET counter = counter + 1 WHERE task = ? AND lock = ?`;
          await query(raise, [task.id, lock]).catch(() => undefined);
        },
        close: async () => {
          await query(`DELETE FROM ${table} WHERE task = ? AND lock = ?`, [task.id, lock]).catch(() => undefined);
          await session.release(lock);
        },
      };
    },
    ownerState: async () => {
      const sql = `SELECT o.facts AS facts, o.counter AS counter, ${IS_HELD} AS held
        FROM ${table} o WHERE o.task = ? ORDER BY o.epoch DESC LIMIT 1`;
      const [row] = await query(sql, [task.id]);
      if (row === undefined) return { state: "none" };
      const owner = decodeFacts(String(row["facts"]));
      const state: OwnerState["state"] = row["held"] === true ? "alive" : "unclear";
      const found = { state, counter: Number(row["counter"]), ...(owner === undefined ? {} : { owner }) };
      return settleOwner(found, machine);
    },
    releaseReserve: async () => false,
    ensureReserve: async () => false,
    // Its row went with the task's.
    clear: async () => undefined,
  };
}

function drawLock(random: RandomSource): string {
  const number = Buffer.from(random.bytes(8)).readBigUInt64BE() >> (64n - LOCK_BITS);
  return String(number);
}

function decodeFacts(text: string): OwnerFacts | undefined {
  const value = JSON.parse(text) as JsonValue;
  return isJsonObject(value) ? (value as OwnerFacts) : undefined;
}
