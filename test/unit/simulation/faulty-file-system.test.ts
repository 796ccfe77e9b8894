import { describe, expect, it } from "vitest";
import { errnoOf } from "../../../src/base/errors.js";
import type { FileSystem } from "../../../src/base/file-system.js";
import { FIRST_DRAWN_SEED, type Loss } from "../../simulation/disk-image.js";
import { FAULTS, isLegalFault } from "../../simulation/fault-plan.js";
import { CrashSignal, FaultyFileSystem } from "../../simulation/faulty-file-system.js";
import { contentOf, type DiskModel } from "../../support/disk-model.js";
import { ModelFileSystem } from "../../support/model-file-system.js";
import { processorMsOf } from "../../support/real-clock.js";

const SEEDS = [...Array(60).keys()];

function textAt(disk: DiskModel, path: string): string | undefined {
  try {
    const node = disk.find(path);
    return node.kind === "file" ? Buffer.from(contentOf(node)).toString("latin1") : node.kind;
  } catch (error) {
    return errnoOf(error);
  }
}

/** What a path holds after each of many power cuts at the end. */
function outcomes(fileSystem: FaultyFileSystem, path: string): Set<string | undefined> {
  const k = fileSystem.operationCount;
  return new Set(SEEDS.map((seed) => textAt(fileSystem.imageAt(k, { kind: "power", seed }), path)));
}

async function put(
  fileSystem: FileSystem,
  path: string,
  options: { text?: string; sync?: boolean; syncFolder?: boolean },
): Promise<void> {
  const handle = await fileSystem.open(path, "create");
  await handle.write(Buffer.from(options.text ?? "text"));
  if (options.sync === true) await handle.sync();
  await handle.close();
  if (options.syncFolder === true) await fileSystem.syncFolder("/");
}

describe("FaultyFileSystem after a power cut", () => {
  it("keeps a file that was synced and whose folder was synced, in every image", async () => {
    const fileSystem = new FaultyFileSystem();
    await put(fileSystem, "/a", { sync: true, syncFolder: true });
    expect(outcomes(fileSystem, "/a")).toEqual(new Set(["text"]));
  });

  it("may lose the name of a synced file when its folder was not synced", async () => {
    const fileSystem = new FaultyFileSystem();
    await put(fileSystem, "/a", { sync: true });
    expect(outcomes(fileSystem, "/a")).toEqual(new Set(["text", "ENOENT"]));
  });

  it("may lose, tear, zero or scatter the bytes of a file that was not synced, under its full name", async () => {
    const fileSystem = new FaultyFileSystem();
    const text = "x".repeat(200);
    await put(fileSystem, "/a", { text, syncFolder: true });
    const seen = [...outcomes(fileSystem, "/a")].map((found) => found ?? "");
    expect(seen).toContain("");
    expect(seen).toContain(text);
    expect(seen.some((found) => found.length > 0 && found.length < 200 && /^x+$/.test(found))).toBe(true);
    expect(seen.some((found) => /^x+\0+$/.test(found))).toBe(true);
    expect(seen.some((found) => /^\0+$/.test(found))).toBe(true);
    expect(seen.some((found) => /^\0+x+/.test(found))).toBe(true);
    expect(seen).not.toContain("ENOENT");
  });

  it("never touches the synced part of a file whose end was not synced", async () => {
    const fileSystem = new FaultyFileSystem();
    const handle = await fileSystem.open("/a", "create");
    await handle.write(Buffer.from("safe"));
    await handle.datasync();
    await fileSystem.syncFolder("/");
    await handle.write(Buffer.from("rest"));
    for (const found of outcomes(fileSystem, "/a")) expect(found?.slice(0, 4)).toBe("safe");
    expect(outcomes(fileSystem, "/a").size).toBeGreaterThan(3);
  });

  it("may bring back what an unlink removed until the folder is synced", async () => {
    const fileSystem = new FaultyFileSystem();
    await put(fileSystem, "/a", { sync: true, syncFolder: true });
    await fileSystem.unlink("/a");
    expect(outcomes(fileSystem, "/a")).toEqual(new Set(["text", "ENOENT"]));
    await fileSystem.syncFolder("/");
    expect(outcomes(fileSystem, "/a")).toEqual(new Set(["ENOENT"]));
  });

  it("keeps a rename whole: one of the two names is there, never both or none", async () => {
    const fileSystem = new FaultyFileSystem();
    await put(fileSystem, "/a", { sync: true, syncFolder: true });
    await fileSystem.mkdir("/sub");
    await fileSystem.syncFolder("/");
    await fileSystem.rename("/a", "/sub/b");
    const seen = new Set<string>();
    for (const seed of SEEDS) {
      const image = fileSystem.imageAt(fileSystem.operationCount, { kind: "power", seed });
      seen.add(`${textAt(image, "/a")} ${textAt(image, "/sub/b")}`);
    }
    expect(seen).toEqual(new Set(["text ENOENT", "ENOENT text"]));
    await fileSystem.syncFolder("/sub");
    expect(outcomes(fileSystem, "/a")).toEqual(new Set(["ENOENT"]));
  });

  it("loses any subset of links and folders that nothing made durable", async () => {
    const fileSystem = new FaultyFileSystem();
    await put(fileSystem, "/a", { sync: true, syncFolder: true });
    await fileSystem.link("/a", "/b");
    await fileSystem.mkdir("/c");
    const seen = new Set<string>();
    for (const seed of SEEDS) {
      const image = fileSystem.imageAt(fileSystem.operationCount, { kind: "power", seed });
      seen.add(`${textAt(image, "/b")} ${textAt(image, "/c")}`);
    }
    expect([...seen].sort()).toEqual(["ENOENT ENOENT", "ENOENT folder", "text ENOENT", "text folder"]);
  });

  it("gives the corners for the first seeds and equal images for equal seeds", async () => {
    const fileSystem = new FaultyFileSystem();
    await put(fileSystem, "/a", {});
    const at = (seed: number) => textAt(fileSystem.imageAt(fileSystem.operationCount, { kind: "power", seed }), "/a");
    expect([0, 1, 2, 3].map(at)).toEqual(["ENOENT", "", "ENOENT", "text"]);
    expect(SEEDS.map(at)).toEqual(SEEDS.map(at));
    expect(FIRST_DRAWN_SEED).toBe(4);
  });
});

describe("FaultyFileSystem after a kill", () => {
  it("keeps everything written, and a later power cut can still take it", async () => {
    const fileSystem = new FaultyFileSystem();
    await put(fileSystem, "/a", {});
    const image = fileSystem.imageAt(fileSystem.operationCount, { kind: "kill" });
    expect(textAt(image, "/a")).toBe("text");
    const second = new FaultyFileSystem({ disk: image });
    expect(textAt(second.imageAt(0, { kind: "power", seed: 0 }), "/a")).toBe("ENOENT");
    await second.syncFolder("/");
    expect(textAt(second.imageAt(1, { kind: "power", seed: 0 }), "/a")).toBe("");
    expect(textAt(second.imageAt(0, { kind: "power", seed: 3 }), "/a")).toBe("text");
  });

  it("shows the disk as it was after each operation, in any order of asking", async () => {
    const fileSystem = new FaultyFileSystem();
    await put(fileSystem, "/a", { text: "one" });
    await put(fileSystem, "/b", { text: "two" });
    const at = (k: number) => {
      const image = fileSystem.imageAt(k, { kind: "kill" });
      return `${textAt(image, "/a")} ${textAt(image, "/b")}`;
    };
    expect([0, 1, 2, 3, 4, 5].map(at)).toEqual([
      "ENOENT ENOENT",
      " ENOENT",
      "one ENOENT",
      "one ENOENT",
      "one ",
      "one two",
    ]);
    expect(at(2)).toBe("one ENOENT");
  });

  it("can have begun the next write", async () => {
    const fileSystem = new FaultyFileSystem();
    await put(fileSystem, "/a", { text: "0123456789" });
    const kill: Loss = { kind: "kill" };
    const seen = new Set(SEEDS.map((seed) => textAt(fileSystem.imageAt(1, kill, seed), "/a") ?? "?"));
    expect(seen.size).toBeGreaterThan(5);
    for (const found of seen) expect("0123456789".startsWith(found) && found.length < 10).toBe(true);
    expect(textAt(fileSystem.imageAt(0, kill, 1), "/a")).toBe("ENOENT");
  });
});

describe("FaultyFileSystem while it runs", () => {
  it("throws a CrashSignal from the crash on and changes nothing more", async () => {
    const fileSystem = new FaultyFileSystem({ crashAfter: 2 });
    const handle = await fileSystem.open("/a", "create");
    await handle.write(Buffer.from("one"));
    await expect(handle.write(Buffer.from("two"))).rejects.toBeInstanceOf(CrashSignal);
    await expect(fileSystem.readdir("/")).rejects.toBeInstanceOf(CrashSignal);
    expect(fileSystem.operationCount).toBe(2);
    expect(textAt(fileSystem.imageAt(2, { kind: "kill" }), "/a")).toBe("one");
  });

  it("fails an operation once or for ever, and only as it may fail", async () => {
    const once = new FaultyFileSystem({ faults: [{ at: 2, fault: "EMFILE", times: "once" }] });
    await put(once, "/a", {});
    expect(once.faultCount).toBe(0);
    const later = new FaultyFileSystem({ faults: [{ at: 2, fault: "ENOSPC", times: "forEver" }] });
    await later.open("/a", "create");
    await later.readdir("/");
    await expect(later.mkdir("/b")).rejects.toMatchObject({ code: "ENOSPC" });
    await expect(later.open("/c", "create")).rejects.toMatchObject({ code: "ENOSPC" });
    await later.unlink("/a");
    expect(later.faultCount).toBe(2);
  });

  it("takes half of a short write", async () => {
    const fileSystem = new FaultyFileSystem({ faults: [{ at: 2, fault: "shortWrite", times: "once" }] });
    const handle = await fileSystem.open("/a", "create");
    expect(await handle.write(Buffer.from("123456"))).toBe(3);
    expect(await handle.write(Buffer.from("456"))).toBe(3);
    expect(textAt(fileSystem.disk, "/a")).toBe("123456");
  });

  it("loses for ever what a failed sync was to cover, though the next sync succeeds", async () => {
    const fileSystem = new FaultyFileSystem({ faults: [{ at: 3, fault: "EIO", times: "once" }] });
    const handle = await fileSystem.open("/a", "create");
    await handle.write(Buffer.from("lost"));
    await expect(handle.datasync()).rejects.toMatchObject({ code: "EIO" });
    await handle.datasync();
    await fileSystem.syncFolder("/");
    expect(textAt(fileSystem.disk, "/a")).toBe("lost");
    expect(outcomes(fileSystem, "/a")).toEqual(new Set([""]));
    await handle.write(Buffer.from("kept"));
    await handle.datasync();
    expect(outcomes(fileSystem, "/a")).toEqual(new Set(["\0\0\0\0kept"]));
  });

  it("gives every fault to some operation", () => {
    for (const fault of FAULTS) {
      expect(isLegalFault(fault, { name: "write" }) || isLegalFault(fault, { name: "open", intent: "create" })).toBe(
        true,
      );
    }
    expect(isLegalFault("ENOSPC", { name: "read" })).toBe(false);
  });

  it("makes thirty thousand images of a small disk in a few seconds", async () => {
    const fileSystem = new FaultyFileSystem();
    for (let at = 0; at < 20; at += 1) await put(fileSystem, `/f${at}`, { text: "y".repeat(500), sync: at % 2 === 0 });
    let count = 0;
    const tookMs = await processorMsOf(() => {
      for (let k = 0; k <= fileSystem.operationCount; k += 1) {
        for (let seed = 0; seed < 400; seed += 1)
          count += fileSystem.imageAt(k, { kind: "power", seed }).root.entries.size;
      }
    });
    expect(count).toBeGreaterThan(0);
    expect(tookMs).toBeLessThan(20_000);
  });
});

describe("ModelFileSystem", () => {
  it("answers with the errno names of a real file system", async () => {
    const fileSystem = new ModelFileSystem();
    await fileSystem.mkdir("/a");
    await put(fileSystem, "/a/f", {});
    fileSystem.disk.plantOdd("/l", "link", "/a");
    fileSystem.disk.plantOdd("/fifo", "other");
    const codeOf = async (work: Promise<unknown>) => errnoOf(await work.catch((error: unknown) => error));
    expect(await codeOf(fileSystem.mkdir("/a"))).toBe("EEXIST");
    expect(await codeOf(fileSystem.open("/a/f", "create"))).toBe("EEXIST");
    expect(await codeOf(fileSystem.open("/a/g", "read"))).toBe("ENOENT");
    expect(await codeOf(fileSystem.open("/l", "read"))).toBe("ELOOP");
    expect(await codeOf(fileSystem.open("/fifo", "read"))).toBe("ENXIO");
    expect(await codeOf(fileSystem.open("/a/f/x", "read"))).toBe("ENOTDIR");
    expect(await codeOf(fileSystem.rmdir("/a"))).toBe("ENOTEMPTY");
    expect(await codeOf(fileSystem.unlink("/a"))).toBe("EISDIR");
    expect(await codeOf(fileSystem.link("/a/f", "/a/f"))).toBe("EEXIST");
    expect(await codeOf(fileSystem.syncFolder("/l"))).toBe("ELOOP");
    expect(await codeOf(fileSystem.syncFolder("/l/."))).toBe(undefined);
    expect(await fileSystem.readdir("/l")).toEqual(["f"]);
    expect((await fileSystem.lstat("/l")).kind).toBe("link");
    expect((await fileSystem.lstat("/l/f")).sizeBytes).toBe(4);
  });
});
