/**
 * The one connection of a process that stays open: it hears of new objects and holds the locks that show its owners live.
 *
 * It is opened with the first wish and opened again when it ends, at once and then every RECONNECT_MS: until then nothing
 * is heard and nobody seems to live, which costs a take-over and never the truth. The kernel asks a silent peer every few
 * seconds, on both ends, so a machine that vanished holds no lock for long.
 */
import type { Client } from "pg";
import type { Clock } from "../../base/clock.js";
import { computePostgresError } from "./postgres-dialect.js";

const RECONNECT_MS = 500;
const KEEPALIVE = ["tcp_keepalives_idle = 10", "tcp_keepalives_interval = 3", "tcp_keepalives_count = 3"];

export interface PostgresSessionParts {
  readonly clock: Clock;
  readonly place: string;
  readonly channel: string;
  readonly createClient: () => Client;
}

export class PostgresSession {
  readonly #parts: PostgresSessionParts;
  readonly #hints = new Set<(text: string) => void>();
  readonly #locks = new Set<string>();
  #opening: Promise<Client> | undefined;
  #cancelRetry: (() => void) | undefined;
  #isClosed = false;

  constructor(parts: PostgresSessionParts) {
    this.#parts = parts;
  }

  listen(hint: (text: string) => void): () => void {
    this.#hints.add(hint);
    this.#reopen();
    return () => void this.#hints.delete(hint);
  }

  /** Holds an advisory lock, a positive number of 62 bits as text, until `release`. Errors: STORE_UNREACHABLE. */
  async hold(lock: string): Promise<void> {
    this.#locks.add(lock);
    const client = await this.#open();
    // Held already when the session was opened for it; a second hold of it would need a second release.
    await client.query(HOLD_ONCE, [lock]);
  }

  async release(lock: string): Promise<void> {
    this.#locks.delete(lock);
    const client = await this.#opening?.catch(() => undefined);
    await client?.query("SELECT pg_advisory_unlock($1)", [lock]).catch(() => undefined);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#hints.clear();
    this.#locks.clear();
    this.#cancelRetry?.();
    const client = await this.#opening?.catch(() => undefined);
    this.#opening = undefined;
    await client?.end().catch(() => undefined);
  }

  #open(): Promise<Client> {
    this.#opening ??= this.#start().catch((error: unknown) => {
      this.#opening = undefined;
      throw computePostgresError(error, this.#parts.place);
    });
    return this.#opening;
  }

  async #start(): Promise<Client> {
    const client = this.#parts.createClient();
    let isEnded = false;
    const end = () => {
      if (isEnded) return;
      isEnded = true;
      this.#opening = undefined;
      this.#reopen();
    };
    client.on("error", end);
    client.on("end", end);
    client.on("notification", ({ payload = "" }) => {
      for (const hint of this.#hints) hint(payload);
    });
    await client.connect();
    for (const setting of KEEPALIVE) await client.query(`SET ${setting}`);
    await client.query(`LISTEN ${this.#parts.channel}`);
    for (const lock of this.#locks) await client.query(HOLD_ONCE, [lock]);
    return client;
  }

  /** Opens while there is a wish; asks again later when it cannot. */
  #reopen(): void {
    if (this.#isClosed || (this.#hints.size === 0 && this.#locks.size === 0)) return;
    void this.#open().catch(() => {
      this.#cancelRetry?.();
      this.#cancelRetry = this.#parts.clock.schedule(RECONNECT_MS, () => this.#reopen());
    });
  }
}

/** A session may hold a lock several times; this takes it only where this one has not. */
const HOLD_ONCE = `SELECT pg_try_advisory_lock($1) WHERE NOT EXISTS (SELECT 1 FROM pg_locks WHERE locktype = 'advisory'
  AND pid = pg_backend_pid() AND objsubid = 1 AND ((classid::bigint << 32) | objid::bigint) = $1)`;
