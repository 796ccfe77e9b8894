/**
 * Stores in a database by kind: where it is, what it can promise, and where its owners announce themselves.
 *
 * Deliverables lie in `outputs` of the working folder, as with memory; what owners leave as files lies beside a database
 * that is a file.
 */
import { dirname, join, resolve } from "node:path";
import { SplashdownError, assert } from "../../base/errors.js";
import { hidePassword } from "../../base/store-address.js";
import type { FileSystem } from "../../base/file-system.js";
import type { PlacedStoreParts } from "../contract/store-parts.js";
import { createOwnerFolder } from "../presence/owner-place.js";
import { isAbsent, SafeFolders } from "../files/safe-folders.js";
import { formatChannel } from "./postgres-dialect.js";
import { openPostgres, PostgresDatabase } from "./postgres-database.js";
import { createPostgresOwner } from "./postgres-owner.js";
import { openPglite } from "./pglite-database.js";
import { makePrivate } from "../files/private-tree.js";
import { openExclusively } from "../presence/exclusive-open.js";
import { DEFAULT_TABLE_PREFIX, isTablePrefix, SqlStore } from "./sql-store.js";
import { openSqlite } from "./sqlite-database.js";
import { withStoreErrors } from "../contract/store-failure.js";
import { createTempName } from "../files/temp-name.js";

const DELIVERABLES_FOLDER = "outputs";

/** Makes nothing yet; reading makes nothing either. */
export function openSqliteStore(path: string, parts: PlacedStoreParts): SqlStore {
  const { fileSystem, workingFolder, clock, userId, platform } = parts;
  const folders = new SafeFolders({ fileSystem, userId, isWindows: platform === "win32" });
  const file = resolve(workingFolder, path);
  return new SqlStore({
    address: `sqlite:${path}`,
    traits: { kind: "sqlite", multiProcess: true, durable: true, reserve: true },
    connect: async () => {
      await withStoreErrors({ action: "making", path: file }, () => ensureFile({ fileSystem, folders }, file));
      return openSqlite({ path: file, clock });
    },
    isThere: () => isThere(fileSystem, file),
    deliverablesRoot: resolve(workingFolder, DELIVERABLES_FOLDER),
    ownerPlace: (task) => createOwnerFolder({ root: `${file}-owners`, task, store: parts }),
    parts,
  });
}

/** Makes nothing yet; reading makes nothing either. */
export function openPgliteStore(path: string, parts: PlacedStoreParts): SqlStore {
  const { fileSystem, workingFolder, random, clock, machine, platform, userId } = parts;
  const folders = new SafeFolders({ fileSystem, userId, isWindows: platform === "win32" });
  const folder = resolve(workingFolder, path);
  const place = `pglite:${path}`;
  const hasDatabase = () =>
    withStoreErrors({ action: "opening", path: folder }, () => findPglite(fileSystem, { folder, place }));
  const root = `${folder}-owners`;
  const facts = {
    pid: process.pid,
    host: machine?.host ?? "",
    machineId: machine?.machineId ?? "",
    bootId: machine?.bootId ?? "",
    namespace: machine?.namespace ?? "",
    processStartedAt: "",
    since: new Date(clock.nowMs()).toISOString(),
  };
  return new SqlStore({
    address: place,
    // Its log is not synced, and one process at a time may have it open.
    traits: { kind: "pglite", multiProcess: false, durable: false, reserve: true },
    connect: async () => {
      // A refusal leaves nothing beside it.
      await hasDatabase();
      const release = await openExclusively({ root: join(root, "openings"), place, facts, store: parts });
      try {
        return await openPglite({
          folder,
          place,
          channel: formatChannel(DEFAULT_TABLE_PREFIX),
          isThere: hasDatabase,
          move: async (from, to) => {
            await fileSystem.rmdir(to).catch(() => undefined);
            await fileSystem.rename(from, to);
          },
          createTemp: () => join(dirname(folder), createTempName(random)),
          makeFolder: async (made) => {
            await folders.ensureRoot(dirname(made));
            await fileSystem.mkdir(made);
          },
          makePrivate: (below) => makePrivate(below, platform),
          release,
        });
      } catch (error) {
        await release();
        throw error;
      }
    },
    isThere: hasDatabase,
    deliverablesRoot: resolve(workingFolder, DELIVERABLES_FOLDER),
    ownerPlace: (task) => createOwnerFolder({ root: join(root, "tasks"), task, store: parts }),
    parts,
  });
}

/**
 * Connects at first use. `?table_prefix=NAME_` in the address keeps several stores apart in one database.
 *
 * Shape: the store's address has no password in it.
 * Errors: STORE_UNSUPPORTED for an address that is no URL.
 */
export function openPostgresStore(address: string, parts: PlacedStoreParts): SqlStore {
  const url = parseUrl(address);
  const tablePrefix = url.searchParams.get("table_prefix") ?? DEFAULT_TABLE_PREFIX;
  if (!isTablePrefix(tablePrefix)) throw unsupported("a table_prefix is lower case letters, digits and _");
  url.searchParams.delete("table_prefix");
  const shown = hidePassword(parseUrl(address).href);
  return new SqlStore({
    address: shown,
    traits: { kind: "postgres", multiProcess: true, durable: true, reserve: false },
    tablePrefix,
    connect: () =>
      openPostgres({ url: url.href, place: shown, clock: parts.clock, channel: formatChannel(tablePrefix) }),
    deliverablesRoot: resolve(parts.workingFolder, DELIVERABLES_FOLDER),
    ownerPlace: (task, database) => {
      assert(database instanceof PostgresDatabase, "the store opened another database");
      return createPostgresOwner({ database, prefix: tablePrefix, task, random: parts.random, machine: parts.machine });
    },
    parts,
  });
}

function parseUrl(address: string): URL {
  try {
    return new URL(address.replace(/^postgresql:/, "postgres:"));
  } catch {
    throw unsupported("a postgres address is a URL, as in postgres://user@host/database");
  }
}

function unsupported(reason: string): SplashdownError {
  return new SplashdownError("STORE_UNSUPPORTED", reason);
}

/** The database would make it itself, for everybody to read; what it makes beside it has the mode of this one. */
async function ensureFile(
  { fileSystem, folders }: { readonly fileSystem: FileSystem; readonly folders: SafeFolders },
  file: string,
): Promise<void> {
  if (await isThere(fileSystem, file)) return;
  await folders.ensureRoot(dirname(file));
  const handle = await fileSystem.open(file, "create").catch(async (error: unknown) => {
    if (await isThere(fileSystem, file)) return undefined;
    throw error;
  });
  await handle?.close();
  await fileSystem.syncFolder(dirname(file));
}

/** Every database of Postgres has it. */
const PGLITE_MARK = "PG_VERSION";

/**
 * Whether a database is in the folder; what else is there is left alone.
 *
 * Errors: STORE_UNSUPPORTED where something else is; those of the platform.
 */
async function findPglite(
  fileSystem: FileSystem,
  { folder, place }: { readonly folder: string; readonly place: string },
): Promise<boolean> {
  if (!(await isThere(fileSystem, folder))) return false;
  const { kind } = await fileSystem.lstat(folder);
  const names = kind === "folder" ? await fileSystem.readdir(folder) : [kind];
  if (names.includes(PGLITE_MARK)) return true;
  if (names.length === 0) return false;
  throw unsupported(`${place} holds other things than a database: name a folder that is empty, or is not there yet`);
}

async function isThere(fileSystem: FileSystem, file: string): Promise<boolean> {
  try {
    await fileSystem.lstat(file);
    return true;
  } catch (error) {
    if (isAbsent(error)) return false;
    throw error;
  }
}
