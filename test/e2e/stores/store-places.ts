/** The stores that the scenarios run on, each as a place whose environment names one of its own. */
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { CommandPlace } from "../../support/command-place.js";
import { findPostgres, PostgresServer } from "../../support/postgres-server.js";

export interface StoreKind {
  readonly kind: "file" | "sqlite" | "pglite" | "postgres";
  /** Several processes may have it open. */
  readonly isShared: boolean;
}

/** Without its binaries on this machine there is no Postgres to run on. */
export const STORE_KINDS: readonly StoreKind[] = [
  { kind: "file", isShared: true },
  { kind: "sqlite", isShared: true },
  { kind: "pglite", isShared: false },
  ...(findPostgres() === undefined ? [] : [{ kind: "postgres", isShared: true } as const]),
];

let server: Promise<PostgresServer> | undefined;
let template: Promise<CommandPlace> | undefined;
let count = 0;

/** Inside a test: a new place; relative to its folder lies whatever the store has here. */
export async function openStorePlace({ kind }: StoreKind): Promise<CommandPlace> {
  const place = new CommandPlace({ SPLASHDOWN_STORE: await addressOf(kind) });
  onTestFinished(() => place.remove());
  if (kind === "pglite") await layPglite(place);
  return place;
}

/** A second address of that kind, for a task to move to. */
export function addressOf(kind: StoreKind["kind"]): Promise<string> {
  return kind === "postgres" ? addressOfServer() : Promise.resolve(LOCAL[kind]);
}

const LOCAL = {
  file: "file:outputs",
  sqlite: "sqlite:outputs/tasks.db",
  pglite: `pglite:${join("outputs", "pglite")}`,
};

/** To make a database takes seconds, to copy one does not. */
async function layPglite(place: CommandPlace): Promise<void> {
  template ??= makeTemplate();
  await cp(join((await template).folder, "outputs"), join(place.folder, "outputs"), { recursive: true });
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

export async function closeStores(): Promise<void> {
  await (await server)?.remove();
  (await template)?.remove();
}
