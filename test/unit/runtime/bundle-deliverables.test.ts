/** The files of a task's folder in its bundle: the real verbs over a simulated disk, and bundles that somebody changed. */
import { unzipSync, zipSync } from "fflate";
import { describe, expect, it } from "vitest";
import { sha256Hex } from "../../../src/base/digest.js";
import type { FileSystem } from "../../../src/base/file-system.js";
import { FaultyFileSystem } from "../../simulation/faulty-file-system.js";
import { ExploredPlace, type WorkflowOf } from "../../simulation/verbs/explored-place.js";
import { contentsOf } from "../../simulation/verbs/picture.js";
import { HOME } from "../../simulation/verbs/verb-room.js";
import { codeOfAsync } from "../../support/error-code.js";
import { MODEL_ROOT } from "../../support/store-places.js";

const FOLDER = `${MODEL_ROOT}/t`;
const BUNDLE = `${HOME}/t.zip`;

const workflow: WorkflowOf = (call) => ({
  workflow: { name: "writer" },
  phases: [{ name: "p", specialists: [{ name: "a", function: call("a"), effects: "none", save_as: "final/a.md" }] }],
});

async function put(fileSystem: FileSystem, path: string, bytes: string | Uint8Array): Promise<void> {
  const handle = await fileSystem.open(path, "create");
  await handle.write(Buffer.from(bytes));
  await handle.sync();
  await handle.close();
}

async function read(fileSystem: FileSystem, path: string): Promise<Buffer> {
  const handle = await fileSystem.open(path, "read");
  const parts: Uint8Array[] = [];
  for (let at = 0; ;) {
    const part = await handle.read(at, 1024 * 1024);
    if (part.length === 0) break;
    parts.push(part);
    at += part.length;
  }
  await handle.close();
  return Buffer.concat(parts);
}

/** A done task with a deliverable, a file of a program, and a deliverable that somebody changed. */
async function open() {
  const disk = new FaultyFileSystem();
  const bodies = { a: () => ({ output: "# a" }) };
  const place = await ExploredPlace.open(
    { fileSystem: disk, now: () => disk.operationCount, seed: "bundle" },
    { workflow, bodies },
  );
  await place.run("t");
  await disk.mkdir(`${FOLDER}/own`);
  await put(disk, `${FOLDER}/own/data.bin`, Buffer.alloc(200_000, 7));
  const files = () => {
    const found = contentsOf(disk.disk, `${MODEL_ROOT}/copy`);
    return new Map([...found].filter(([path]) => !path.includes("/checkpoints/")));
  };
  const forget = async () => {
    await place.verbs.store.remove(["t"], { confirm: async () => true });
    await place.verbs.store.purge(["t"], { confirm: async () => true });
  };
  /** The bundle with its entries changed, its list made to fit. */
  const forge = async (change: (entries: Map<string, Uint8Array>) => void) => {
    const { "bundle.json": manifest, ...rest } = unzipSync(await read(disk, BUNDLE));
    const entries = new Map(Object.entries(rest));
    change(entries);
    const facts = JSON.parse(Buffer.from(manifest ?? []).toString("utf8")) as object;
    const list = [...entries].map(([name, bytes]) => ({
      name: name.slice("checkpoints/".length),
      size: bytes.length,
      sha256: sha256Hex(bytes),
    }));
    const all = {
      ...Object.fromEntries(entries),
      "bundle.json": Buffer.from(JSON.stringify({ ...facts, files: list })),
    };
    await put(disk, `${HOME}/forged.zip`, zipSync(all, { level: 0 }));
    return `${HOME}/forged.zip`;
  };
  return { disk, place, files, forget, forge };
}

const digest = (text: string | Uint8Array) => sha256Hex(text);

describe("a bundle's deliverables", () => {
  it("are there again after the import, with what programs wrote and what was changed since", async () => {
    const { disk, place, files, forget } = await open();
    await put(disk, `${FOLDER}/final/notes.txt`, "by hand");
    await disk.unlink(`${FOLDER}/final/a.md`);
    await put(disk, `${FOLDER}/final/a.md`, "# a, mended");
    const exported = await place.verbs.checkpoints.export("t", { file: BUNDLE });
    const shown = (await place.verbs.show("t")).deliverables.map(({ file }) => file);
    expect(exported).toMatchObject({ deliverables: shown.length, carried: 3, left_out: [] });
    const pictures = shown.filter((file) => file !== "final/a.md");
    const wanted = new Map([
      ["final/a.md", digest("# a, mended")],
      ["final/notes.txt", digest("by hand")],
      ["own/data.bin", digest(Buffer.alloc(200_000, 7))],
      ...pictures.map((file) => [file, contentsOf(disk.disk, MODEL_ROOT).get(`${FOLDER}/${file}`) ?? ""] as const),
    ]);
    await forget();
    const imported = await place.verbs.checkpoints.import(BUNDLE, { task: "copy" });
    expect(imported.deliverables).toBe(wanted.size);
    expect(files()).toEqual(new Map([...wanted].map(([file, sum]) => [`${MODEL_ROOT}/copy/${file}`, sum])));
    expect((await disk.lstat(`${MODEL_ROOT}/copy/own/data.bin`)).mode & 0o777).toBe(0o600);
  });

  it("come back as the history holds them where they are gone, and alone when asked for", async () => {
    const { disk, place, files, forget } = await open();
    await disk.unlink(`${FOLDER}/final/a.md`);
    const exported = await place.verbs.checkpoints.export("t", { file: BUNDLE, withoutFiles: true });
    expect(exported.carried).toBe(0);
    await forget();
    await place.verbs.checkpoints.import(BUNDLE, { task: "copy" });
    expect(files().get(`${MODEL_ROOT}/copy/final/a.md`)).toBe(digest("# a"));
    expect([...files().keys()].some((path) => path.includes("/own/"))).toBe(false);
  });

  it("are sealed: no text, no name of them is in the zip file", async () => {
    const { disk, place } = await open();
    await put(disk, `${FOLDER}/own/canary.txt`, "a canary in a file");
    await place.verbs.checkpoints.export("t", { file: BUNDLE });
    const zip = await read(disk, BUNDLE);
    expect([zip.includes("canary"), zip.includes("data.bin"), zip.includes("carried/00000002.bin")]).toEqual([
      false,
      false,
      true,
    ]);
  });

  it("T5: with any of them changed, left out, exchanged or of another export the bundle is refused whole", async () => {
    const { disk, place, forget, forge } = await open();
    await put(disk, `${FOLDER}/own/more.txt`, "more");
    await place.verbs.checkpoints.export("t", { file: `${HOME}/before.zip` });
    const before = unzipSync(await read(disk, `${HOME}/before.zip`));
    await place.verbs.checkpoints.export("t", { file: BUNDLE });
    await forget();
    const [first, second, index] = ["00000001", "00000002", "index"].map((name) => `checkpoints/carried/${name}.bin`);
    const get = (entries: Map<string, Uint8Array>, name = "") => entries.get(name) ?? new Uint8Array();
    const changes: ((entries: Map<string, Uint8Array>) => void)[] = [
      (entries) => void entries.delete(first ?? ""),
      (entries) => void entries.delete(index ?? ""),
      (entries) => {
        const one = get(entries, first);
        entries.set(first ?? "", get(entries, second)).set(second ?? "", one);
      },
      (entries) => void entries.set(second ?? "", before[second ?? ""] ?? new Uint8Array()),
      (entries) => void entries.set(index ?? "", before[index ?? ""] ?? new Uint8Array()),
      (entries) => {
        const bytes = Buffer.from(get(entries, index));
        bytes[bytes.length - 20] = (bytes[bytes.length - 20] ?? 0) ^ 1;
        entries.set(index ?? "", bytes);
      },
      (entries) => {
        for (const name of entries.keys()) if (name.includes("/audit/")) entries.delete(name);
      },
    ];
    for (const [at, change] of changes.entries()) {
      const forged = await forge(change);
      expect([at, await codeOfAsync(() => place.verbs.checkpoints.import(forged))]).toEqual([at, "BUNDLE_CORRUPT"]);
      await disk.unlink(forged);
    }
    expect(await place.verbs.list()).toEqual([]);
    const untouched = await forge(() => undefined);
    expect((await place.verbs.checkpoints.import(untouched, { task: "copy" })).task).toBe("copy");
  });

  it("T1: written already by an import that was cut off, they are left as they are and the rest is written", async () => {
    const { disk, place, files, forget } = await open();
    await place.verbs.checkpoints.export("t", { file: BUNDLE });
    await forget();
    await place.verbs.checkpoints.import(BUNDLE, { task: "copy" });
    const whole = files();
    await put(disk, `${MODEL_ROOT}/copy/checkpoints/arriving.json`, "{}");
    await disk.unlink(`${MODEL_ROOT}/copy/own/data.bin`);
    await place.verbs.checkpoints.import(BUNDLE, { task: "copy" });
    expect(files()).toEqual(whole);
    expect((await place.verbs.show("copy")).status).toBe("done");
  });

  it("are written over nothing: a file of somebody is named, and no task is made", async () => {
    const { disk, place, forget } = await open();
    await place.verbs.checkpoints.export("t", { file: BUNDLE });
    await forget();
    // What was purged left its files, and one of them was changed.
    await disk.unlink(`${FOLDER}/final/a.md`);
    await put(disk, `${FOLDER}/final/a.md`, "somebody's");
    const refused = place.verbs.checkpoints.import(BUNDLE);
    await expect(refused).rejects.toMatchObject({
      code: "USAGE_INVALID",
      message: expect.stringContaining("t/final/a.md already, and nothing is written over it"),
    });
    expect([await place.verbs.list(), String(await read(disk, `${FOLDER}/final/a.md`))]).toEqual([[], "somebody's"]);
    await disk.unlink(`${FOLDER}/final/a.md`);
    expect((await place.verbs.checkpoints.import(BUNDLE)).task).toBe("t");
    expect(String(await read(disk, `${FOLDER}/final/a.md`))).toBe("# a");
  });
});
