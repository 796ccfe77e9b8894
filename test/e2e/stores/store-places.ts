/** The stores that the stories are told on, each as a place whose environment names one of its own. */
import { mkdtempSync, rmSync } from "node:fs";
import { cp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { sha256Hex } from "../../../src/base/digest.js";
import { readPlace } from "../../../src/process/place.js";
import { isOwnerGone } from "../../../src/runtime/platform/owner-liveness.js";
import type { OwnerFacts, TaskStore } from "../../../src/store/contract/contract.js";
import { openStore } from "../../../src/store/open-store.js";
import { CommandPlace } from "../../support/command-place.js";
import { findPostgres, PostgresServer } from "../../support/postgres-server.js";
import { findRedis, RedisServer } from "../../support/redis-server.js";
import { createStoreParts } from "../../support/sql-places.js";
import { SmallDisk } from "./small-disk.js";

export interface StoreKind {
  readonly kind: "file" | "sqlite" | "pglite" | "postgres" | "postgres behind redis";
  /** Several processes may have it open. */
  readonly isShared: boolean;
  /** Its database has a log that can lie on a disk of its own. */
  readonly hasLog?: boolean;
}

/** Without its binaries on this machine there is no Postgres to run on. */
export const STORE_KINDS: readonly StoreKind[] = [
  { kind: "file", isShared: true },
  { kind: "sqlite", isShared: true, hasLog: true },
  { kind: "pglite", isShared: false },
  ...(findPostgres() === undefined ? [] : [{ kind: "postgres", isShared: true, hasLog: true } as const]),
];

let server: Promise<PostgresServer> | undefined;
let cache: Promise<RedisServer> | undefined;
let template: Promise<CommandPlace> | undefined;
let count = 0;

/** Beside the others in the long form alone; without both servers on this machine there is none. */
export const CACHED_KINDS: readonly StoreKind[] =
  findPostgres() === undefined || findRedis() === undefined
    ? []
    : [{ kind: "postgres behind redis", isShared: true, hasLog: true }];

/** What lies on a disk that a story fills: all of the store, or its database's log. */
export interface DiskGround {
  readonly disk: SmallDisk;
  /** A server whose disk was full may have ended. */
  readonly startAgain?: () => Promise<void>;
}

/** A place, and its store as the contract has it. */
export class StorePlace extends CommandPlace {
  readonly #ground: DiskGround | undefined;

  constructor(env: Readonly<Record<string, string>>, ground?: DiskGround) {
    super(env);
    this.#ground = ground;
  }

  /** What the store, or its log, lies on, for a story that asked for it. */
  get disk(): SmallDisk {
    if (this.#ground === undefined) throw new Error("the story did not ask for a disk");
    return this.#ground.disk;
  }

  /** On the disk; whoever serves the store is there again. */
  async makeRoom(): Promise<void> {
    this.disk.makeRoom();
    await this.#ground?.startAgain?.();
  }

  /** Opens the store in this process; nobody else may have it open where one process at a time may. */
  async onTask<T>(name: string, act: (task: TaskStore) => Promise<T>): Promise<T> {
    // As the program does: a killed owner of this machine is known to be gone.
    const machine = { ...readPlace(), hasEnded: async (owner: OwnerFacts) => isOwnerGone(owner) };
    const store = openStore(this.env["SPLASHDOWN_STORE"] ?? "", { ...createStoreParts(this.folder), machine });
    try {
      const task = await store.task(name);
      if (task === undefined) throw new Error(`there is no task ${name}`);
      return await act(task);
    } finally {
      await store.close();
    }
  }

  /** Digests of all that a task holds but its audit trail, by key or segment. */
  digests(name: string): Promise<Readonly<Record<string, string>>> {
    return this.onTask(name, async (task) => {
      const found: Record<string, string> = {};
      for (const { epoch, index, sizeBytes } of await task.segments())
        if (sizeBytes > 0) found[`${epoch}-${index}`] = sha256Hex(await task.read({ epoch, index }));
      for (const { key } of await task.list(""))
        if (!key.startsWith("audit/")) found[key] = sha256Hex((await task.get(key)) ?? "");
      return found;
    });
  }

  /** Changes the newest snapshot file in its place; the answer is its key. */
  damageNewest(name: string, damage: (bytes: Buffer) => Uint8Array): Promise<string> {
    return this.onTask(name, async (task) => {
      const key =
        (await task.list("checkpoint_phase"))
          .map((entry) => entry.key)
          .sort(bySequence)
          .at(-1) ?? "";
      const bytes = Buffer.from((await task.get(key)) ?? []);
      await task.remove(key);
      await task.putOnce(key, damage(bytes));
      return key;
    });
  }
}

/** The sequence stands at the end of a name. */
const sequenceOf = (key: string): string => /_(\d{8})/.exec(key.slice(key.lastIndexOf("_")))?.[1] ?? "";
const bySequence = (first: string, second: string): number => (sequenceOf(first) < sequenceOf(second) ? -1 : 1);

/** Inside a test: a new place; relative to its folder lies whatever the store has here. */
export async function openStorePlace({ kind }: StoreKind): Promise<StorePlace> {
  const place = new StorePlace({ SPLASHDOWN_STORE: await addressOf(kind), ...(await cacheOf(kind)) });
  onTestFinished(() => place.remove());
  if (kind === "pglite") await layPglite(join(place.folder, "outputs"));
  return place;
}

/** The same with the store or its log on a disk of its own; `undefined` where none can be mounted. */
export async function openDiskPlace({ kind }: StoreKind, what: "store" | "log"): Promise<StorePlace | undefined> {
  const disk = SmallDisk.mount();
  if (disk === undefined) return undefined;
  onTestFinished(() => disk.remove());
  const { address, ...ground } = await (what === "store" ? groundOf(disk, kind) : logGroundOf(disk, kind));
  const place = new StorePlace({ SPLASHDOWN_STORE: address, ...(await cacheOf(kind)) }, ground);
  onTestFinished(() => place.remove());
  if (kind === "pglite") await layPglite(disk.path);
  return place;
}

interface AddressedGround extends DiskGround {
  readonly address: string;
}

async function groundOf(disk: SmallDisk, kind: StoreKind["kind"]): Promise<AddressedGround> {
  if (kind !== "postgres" && kind !== "postgres behind redis")
    return { disk, address: LOCAL[kind].replace("outputs", disk.path) };
  const own = await PostgresServer.start({ within: disk.path });
  onTestFinished(() => own.remove());
  return { disk, address: own.url };
}

/** SQLite's log lies where its file's name does. */
async function logGroundOf(disk: SmallDisk, kind: StoreKind["kind"]): Promise<AddressedGround> {
  if (kind === "sqlite") {
    const folder = mkdtempSync(join(tmpdir(), "splashdown-roomy-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    disk.layElsewhere("tasks.db", folder);
    return { disk, address: LOCAL.sqlite.replace("outputs", disk.path) };
  }
  const own = await PostgresServer.start({ logWithin: disk.path });
  onTestFinished(() => own.remove());
  const startAgain = async () => {
    await own.stop();
    await own.start();
  };
  return { disk, address: own.url, startAgain };
}

async function cacheOf(kind: StoreKind["kind"]): Promise<Record<string, string>> {
  return kind === "postgres behind redis" ? { SPLASHDOWN_CACHE: await addressOfCache() } : {};
}

/** A second address of that kind, for a task to move to. */
export function addressOf(kind: StoreKind["kind"]): Promise<string> {
  return kind === "postgres" || kind === "postgres behind redis" ? addressOfServer() : Promise.resolve(LOCAL[kind]);
}

const LOCAL = {
  file: "file:outputs",
  sqlite: "sqlite:outputs/tasks.db",
  pglite: `pglite:${join("outputs", "pglite")}`,
};

/** To make a database takes seconds, to copy one does not. */
async function layPglite(folder: string): Promise<void> {
  template ??= makeTemplate();
  await cp(join((await template).folder, "outputs"), folder, { recursive: true });
}

async function makeTemplate(): Promise<CommandPlace> {
  const place = new CommandPlace({ SPLASHDOWN_STORE: LOCAL.pglite });
  const { code, stderr } = await place.run(["doctor"]);
  if (code !== 0) throw new Error(`no template: ${stderr}`);
  return place;
}

async function addressOfServer(): Promise<string> {
  server ??= PostgresServer.start();
  return `${(await server).url}?table_prefix=e${(count += 1)}_`;
}

async function addressOfCache(): Promise<string> {
  cache ??= RedisServer.start();
  return (await cache).url;
}

export async function closeStores(): Promise<void> {
  await (await cache)?.remove();
  await (await server)?.remove();
  (await template)?.remove();
}
