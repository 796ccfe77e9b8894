/** What a bundle takes of a task's folder, and how much of it. */
import { describe, expect, it, vi } from "vitest";
import { CarriedPack, openCarried, withoutCarried } from "../../../src/runtime/verbs/transfer/bundled-files.js";
import type { TaskFile } from "../../../src/transfer/copy-task.js";
import { codeOfAsync } from "../../support/error-code.js";
import { createTestVault } from "../../support/journal-room.js";
import { MemoryFileSystem } from "../../support/memory-file-system.js";

vi.mock("../../../src/base/limits.js", async (original) => {
  const { LIMITS } = await original<typeof import("../../../src/base/limits.js")>();
  return { LIMITS: { ...LIMITS, carriedFileBytesMax: 100, blobChunkBytes: 32 } };
});

async function* noFiles(): AsyncGenerator<TaskFile> {
  yield { key: "keyring-1.json", bytes: Buffer.from("{}") };
}

async function pack(fileSystem: MemoryFileSystem) {
  const packing = {
    fileSystem,
    folder: "/t",
    vault: createTestVault("pack"),
    deliverables: new Map(),
    withFiles: true,
  };
  const carried = new CarriedPack(packing);
  const files: TaskFile[] = [];
  for await (const file of carried.files(noFiles())) files.push(file);
  return { carried, files };
}

describe("what a bundle carries of a folder", () => {
  it("is a file up to the largest size, over several chunks and of none, and no larger one", async () => {
    const fileSystem = new MemoryFileSystem("/t");
    fileSystem.addFile("/t/full.bin", Buffer.alloc(100, 3));
    fileSystem.addFile("/t/none.txt", "");
    const { files } = await pack(fileSystem);
    const opened = openCarried(files, createTestVault("open"));
    expect([...opened].map(([path, bytes]) => [path, bytes.length])).toEqual([
      ["full.bin", 100],
      ["none.txt", 0],
    ]);
    expect(withoutCarried(files).map(({ key }) => key)).toEqual(["keyring-1.json"]);
    fileSystem.addFile("/t/large.bin", Buffer.alloc(101));
    expect(await codeOfAsync(() => pack(fileSystem))).toBe("BUNDLE_TOO_LARGE");
  });

  it("is no link, which is named with the reason", async () => {
    const fileSystem = new MemoryFileSystem("/t");
    fileSystem.addLink("/t/final/elsewhere");
    const { carried } = await pack(fileSystem);
    expect([carried.carried, carried.leftOut]).toEqual([[], [{ file: "final/elsewhere", reason: "a link" }]]);
  });
});
