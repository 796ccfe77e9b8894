/** `doctor --tasks`: what rotted in a finished task is named before anybody needs it. */
import { describe, expect, it } from "vitest";
import type { FileSystem } from "../../../src/base/file-system.js";
import type { CheckView } from "../../../src/runtime/contract.js";
import { FaultyFileSystem } from "../../simulation/faulty-file-system.js";
import { ExploredPlace, type WorkflowOf } from "../../simulation/verbs/explored-place.js";
import { KEY } from "../../simulation/verbs/verb-room.js";
import { MODEL_ROOT } from "../../support/store-places.js";

const FOLDER = `${MODEL_ROOT}/t/checkpoints`;

const workflow: WorkflowOf = (call) => ({
  // A file for every trigger.
  performance_config: { async_writes: false },
  workflow: { name: "large" },
  phases: [{ name: "p", specialists: [{ name: "a", function: call("a"), effects: "none" }] }],
});

async function readAll(fileSystem: FileSystem, path: string): Promise<Buffer> {
  const handle = await fileSystem.open(path, "read");
  const parts: Uint8Array[] = [];
  for (let at = 0, part = await handle.read(0, 1 << 20); part.length > 0; part = await handle.read(at, 1 << 20)) {
    parts.push(part);
    at += part.length;
  }
  await handle.close();
  return Buffer.concat(parts);
}

async function replace(fileSystem: FileSystem, path: string, bytes: Uint8Array): Promise<void> {
  await fileSystem.unlink(path);
  const handle = await fileSystem.open(path, "create");
  for (let rest = bytes; rest.length > 0;) rest = rest.subarray(await handle.write(rest));
  await handle.sync();
  await handle.close();
}

async function listFiles(fileSystem: FileSystem, folder: string): Promise<string[]> {
  const files: string[] = [];
  for (const name of (await fileSystem.readdir(folder)).sort()) {
    const path = `${folder}/${name}`;
    const { kind } = await fileSystem.lstat(path);
    if (kind === "folder") files.push(...(await listFiles(fileSystem, path)));
    if (kind === "file") files.push(path);
  }
  return files;
}

async function open() {
  const disk = new FaultyFileSystem();
  const bodies = { a: () => ({ output: { text: "x".repeat(270_000) } }) };
  const place = await ExploredPlace.open(
    { fileSystem: disk, now: () => disk.operationCount, seed: "proof" },
    { workflow, bodies },
  );
  await place.run("t");
  await place.run("u");
  await place.verbs.checkpoints.pin("t:latest");
  const look = async (): Promise<CheckView[]> => {
    const { checks } = await place.verbs.doctor({ tasks: true });
    return checks.filter(({ name }) => name === "t" || name === "u");
  };
  return { disk, place, look };
}

describe("doctor --tasks", () => {
  it("says of each task how much was read and found whole", async () => {
    const { look } = await open();
    const [t, u] = await look();
    expect([t?.ok, u?.ok]).toEqual([true, true]);
    expect(t?.text).toMatch(
      /^whole: \d{2,} records, [1-9]\d* snapshot files, [1-9]\d* large values, [1-9]\d* audit entries$/,
    );
  });

  it("names every kind of file in which one bit rotted, and the task, and nothing of the other one", async () => {
    const { disk, look } = await open();
    const kinds = new Set<string>();
    for (const path of await listFiles(disk, FOLDER)) {
      const file = path.slice(FOLDER.length + 1);
      const kind = file.replace(/[/_\d-].*$/, "");
      // Who owns it is a hint, and the room that is kept for a full disk is empty: neither is part of the task.
      if (["owner", ".ballast"].includes(kind) || kinds.has(kind)) continue;
      kinds.add(kind);
      const whole = await readAll(disk, path);
      const rotten = Buffer.from(whole);
      rotten[rotten.length >> 1] = (rotten[rotten.length >> 1] ?? 0) ^ 4;
      await replace(disk, path, rotten);
      const checks = await look();
      const bad = checks.filter(({ ok }) => !ok);
      expect([file, bad.length > 0, bad.every(({ name }) => name === "t")]).toEqual([file, true, true]);
      expect(bad[0]?.text).toMatch(/ \[[A-Z_]+\]$/);
      expect(bad[0]?.hint).not.toBe("");
      const isNamed = bad.some((check) => check.file !== undefined && file.startsWith(check.file.split(" ")[0] ?? "-"));
      expect([file, isNamed]).toEqual([file, true]);
      await replace(disk, path, whole);
    }
    expect([...kinds].sort()).toEqual(["audit", "blobs", "checkpoint", "control", "journal", "keyring"]);
    expect((await look()).every(({ ok }) => ok)).toBe(true);
  });

  it("names a large value that is gone, and a snapshot that is another one than was written", async () => {
    const { disk, place, look } = await open();
    const files = await listFiles(disk, FOLDER);
    const [blob = ""] = files.filter((path) => path.includes("/blobs/"));
    await disk.unlink(blob);
    expect((await look()).filter(({ ok }) => !ok)).toMatchObject([
      { name: "t", file: blob.slice(FOLDER.length + 1), text: expect.stringContaining("the journal refers to it") },
    ]);
    expect((await place.verbs.checkpoints.list("t")).length).toBeGreaterThan(0);
  });
});

describe("doctor --tasks of what a task delivered", () => {
  it("tells which files are gone or changed since, takes the task for whole, and names the way to have them again", async () => {
    const disk = new FaultyFileSystem();
    const place = await ExploredPlace.open(
      { fileSystem: disk, now: () => disk.operationCount, seed: "delivered" },
      {
        bodies: { a: () => ({ output: { report: "# good", notes: "ten notes" } }) },
        workflow: (call) => ({
          workflow: { name: "delivering" },
          steps: [
            {
              name: "a",
              function: call("a"),
              effects: "none",
              save_as: { "final/report.md": "report", "final/notes.md": "notes" },
            },
          ],
        }),
      },
    );
    await place.run("t");
    const folder = `${MODEL_ROOT}/t/final`;
    const look = async () => (await place.verbs.doctor({ tasks: true })).checks.filter(({ name }) => name === "t");
    expect((await look()).map(({ ok, file }) => [ok, file])).toEqual([[true, undefined]]);
    await replace(disk, `${folder}/report.md`, Buffer.from("# better"));
    await disk.unlink(`${folder}/notes.md`);
    const [whole, ...told] = await look();
    expect(whole?.text).toMatch(/^whole: /);
    const hint = "to have it as it was delivered: splashdown fork t --from latest, and resume the new task";
    expect(told).toEqual([
      {
        name: "t",
        ok: true,
        skipped: true,
        file: "final/report.md",
        text: "final/report.md was changed since it was delivered: 6 bytes then, 8 bytes now; the task is whole",
        hint,
      },
      {
        name: "t",
        ok: true,
        skipped: true,
        file: "final/notes.md",
        text: "final/notes.md is not there any more: 9 bytes then; the task is whole",
        hint,
      },
    ]);
    await place.verbs.fork("t", { from: "latest", task: "again" });
    await place.goOn("again");
    expect((await readAll(disk, `${MODEL_ROOT}/again/final/report.md`)).toString()).toBe("# good");
  });
});

describe("doctor", () => {
  it("says of a cache that does not answer what happens without it, and no password", async () => {
    const disk = new FaultyFileSystem();
    const place = await ExploredPlace.open(
      {
        fileSystem: disk,
        now: () => disk.operationCount,
        seed: "cache",
        // Nobody listens on the first port of loopback.
        variables: { SPLASHDOWN_KEY: KEY, SPLASHDOWN_CACHE: "redis://ada:a-password@127.0.0.1:1" },
      },
      { workflow },
    );
    const { checks } = await place.verbs.doctor();
    const cache = checks.find(({ name }) => name === "cache");
    expect(cache).toMatchObject({ ok: false, hint: expect.stringContaining("take cache: out of the settings") });
    expect(cache?.text).toMatch(/^redis:\/\/.*127\.0\.0\.1:1: .+; everything is read from the store meanwhile/);
    expect(JSON.stringify(checks)).not.toContain("a-password");
  });
});
