/** Destroyed keys in databases: gone from every file that we reach, or said to be there; and whose these files are. */
import { chmodSync, lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { formatShred } from "../../../src/cli/verbs/shred.js";
import { openSplashdown, type Splashdown } from "../../../src/index.js";
import { openStore } from "../../../src/store/open-store.js";
import { POSTGRES } from "../../../src/store/sql/postgres-dialect.js";
import { makePrivate } from "../../../src/store/files/private-tree.js";
import { createOwnEnvironment } from "../../support/own-environment.js";
import { createStoreParts } from "../../support/sql-places.js";
import { openFolder } from "../../support/temporary-folder.js";
import { expectView } from "../../support/view-schemas.js";

const WORKFLOW = { workflow: { name: "seven" }, steps: [{ name: "a", type: "set", value: 7 }] };
const IN_USE = expect.stringContaining("its write-ahead log (-wal) may hold them") as string;

function filesBelow(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name));
  return entries.filter((path) => lstatSync(path).isFile());
}

/** In how many places of the files below a folder a text stands. */
function countIn(folder: string, text: string): number {
  return filesBelow(folder).reduce((sum, path) => sum + readFileSync(path, "latin1").split(text).length - 1, 0);
}

/** What others may do with a folder and what is below it: paths with their modes. */
function openToOthers(folder: string): string[] {
  const paths = [
    folder,
    ...readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name)),
  ];
  return paths.filter((path) => !lstatSync(path).isSymbolicLink() && (lstatSync(path).mode & 0o077) !== 0);
}

interface Made {
  readonly folder: string;
  readonly open: () => Promise<Splashdown>;
  /** The wrapped key, as it stands in the keyring. */
  readonly wrap: string;
}

async function makeTask(address: string): Promise<Made> {
  const folder = openFolder();
  const open = () => openSplashdown({ store: address, environment: createOwnEnvironment(folder) });
  const splashdown = await open();
  await splashdown.run({ workflow: WORKFLOW, task: "t" });
  await splashdown.close();
  const store = openStore(address, createStoreParts(folder));
  const task = await store.task("t");
  const keyring = Buffer.from((await task?.get("keyring-1.json")) ?? []).toString("utf8");
  await task?.close();
  await store.close();
  const wrap = /"wrap":\s*"([^"]{20,})"/.exec(keyring)?.[1] ?? "";
  expect(wrap).not.toBe("");
  return { folder, open, wrap };
}

async function shred(made: Made, act: (splashdown: Splashdown) => Promise<void>): Promise<void> {
  const splashdown = await made.open();
  try {
    await act(splashdown);
  } finally {
    await splashdown.close();
  }
}

describe("a keyring destroyed in PGlite", () => {
  it("[security M8] stands in no file, log included; [security L2] and the files are their owner's, whatever the umask", async () => {
    const before = process.umask(0);
    try {
      const folder = openFolder();
      const data = join(folder, "data");
      const store = openStore("pglite:data", createStoreParts(folder));
      const task = await store.createTask("t");
      await task?.putOnce("keyring-1.json", Buffer.from("a wrapped key ".repeat(100)));
      expect(countIn(data, "a wrapped key")).toBeGreaterThan(0);
      expect(lstatSync(data).mode & 0o777).toBe(0o700);
      expect(await task?.destroy("keyring-1.json")).toBeUndefined();
      expect(countIn(data, "a wrapped key")).toBe(0);
      await task?.close();
      await store.close();
      expect(countIn(data, "a wrapped key")).toBe(0);
      expect(openToOthers(data)).toEqual([]);
    } finally {
      process.umask(before);
    }
  });
});

describe("keys shred in SQLite", () => {
  it("[security M8 kin] says that the log may hold them while another reads; given again without one, they are gone", async () => {
    const made = await makeTask("sqlite:outputs/tasks.db");
    const file = join(made.folder, "outputs", "tasks.db");
    const { DatabaseSync } = await loadDriver();
    const reader = new DatabaseSync(file);
    reader.exec("BEGIN");
    reader.prepare("SELECT COUNT(*) FROM splashdown_objects").all();
    await shred(made, async (splashdown) => {
      const view = await splashdown.keys.shred("t");
      expect(view).toMatchObject({ shredded: true, may_remain: [IN_USE] });
      expectView("shred", view);
      expect(formatShred(view)).toMatch(/files destroyed;.*\n {2}but another process reads the database/);
      reader.exec("COMMIT");
      reader.close();
      const again = await splashdown.keys.shred("t");
      expect(again).toMatchObject({ shredded: false, keyrings: [] });
      expect(again).not.toHaveProperty("may_remain");
      expect(countIn(join(made.folder, "outputs"), made.wrap)).toBe(0);
    });
  });

  it("[security M8 kin] leaves nothing in table and log where nobody else reads, and says nothing", async () => {
    const made = await makeTask("sqlite:outputs/tasks.db");
    await shred(made, async (splashdown) => {
      expect(await splashdown.keys.shred("t")).not.toHaveProperty("may_remain");
      expect(countIn(join(made.folder, "outputs"), made.wrap)).toBe(0);
    });
  });
});

describe("keys shred elsewhere", () => {
  it("[security M8 kin] names on Postgres what only its administrator reaches", () => {
    expect(POSTGRES.forget("splashdown_")).toEqual([]);
    expect(POSTGRES.remains(undefined)).toMatch(
      /write-ahead log, and its archives, replicas and backups may hold them/,
    );
  });

  it("[security M8 kin] leaves nothing in a folder of files, and says nothing", async () => {
    const made = await makeTask("file:outputs");
    await shred(made, async (splashdown) => {
      expect(await splashdown.keys.shred("t")).not.toHaveProperty("may_remain");
      expect(countIn(join(made.folder, "outputs"), made.wrap)).toBe(0);
    });
  });
});

describe("a folder made for its owner alone", () => {
  const make = (): string => {
    const folder = join(openFolder(), "data");
    mkdirSync(join(folder, "base", "1"), { recursive: true });
    for (const name of ["a", "base/b", "base/1/c"]) writeFileSync(join(folder, name), name);
    return folder;
  };

  it("[security L2 kin] takes from others every right in every folder and file", async () => {
    const folder = make();
    chmodSync(join(folder, "base", "1"), 0o777);
    chmodSync(join(folder, "base", "b"), 0o666);
    chmodSync(folder, 0o755);
    await makePrivate(folder, "linux");
    expect(openToOthers(folder)).toEqual([]);
    expect(lstatSync(join(folder, "base", "1")).mode & 0o777).toBe(0o700);
    expect(lstatSync(join(folder, "base", "b")).mode & 0o777).toBe(0o600);
  });

  it("[security L2 kin] leaves stricter rights as they are", async () => {
    const folder = make();
    chmodSync(join(folder, "a"), 0o400);
    await makePrivate(folder, "linux");
    expect(lstatSync(join(folder, "a")).mode & 0o777).toBe(0o400);
  });

  it("[security L2 kin] follows no link out of it", async () => {
    const folder = make();
    const outside = join(folder, "..", "outside");
    writeFileSync(outside, "x");
    chmodSync(outside, 0o644);
    symlinkSync(outside, join(folder, "link"));
    await makePrivate(folder, "linux");
    expect(lstatSync(outside).mode & 0o777).toBe(0o644);
  });
});

interface Raw {
  exec(sql: string): unknown;
  prepare(sql: string): { all(): unknown[] };
  close(): void;
}

/** The driver that the store itself takes. */
async function loadDriver(): Promise<{ DatabaseSync: new (path: string) => Raw }> {
  const load = (name: string) => import(name) as Promise<{ DatabaseSync: new (path: string) => Raw }>;
  return load("node:sqlite").catch(() => load("@photostructure/sqlite"));
}
