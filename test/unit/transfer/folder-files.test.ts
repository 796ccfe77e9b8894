/** Files of a task's folder that come from elsewhere: no path leads out, and nothing is followed. */
import { describe, expect, it } from "vitest";
import { contentOf, isFolderPath, walkFolder } from "../../../src/transfer/folder-files.js";
import { FolderWriter } from "../../../src/transfer/folder-writer.js";
import { codeOfAsync } from "../../support/error-code.js";
import { MemoryFileSystem } from "../../support/memory-file-system.js";
import { createSeededRandom } from "../../support/seeded-random.js";

const FOLDER = "/outputs/t";

function createRoom() {
  const fileSystem = new MemoryFileSystem(FOLDER);
  const writer = new FolderWriter({ fileSystem, random: createSeededRandom(5), folder: FOLDER });
  return { fileSystem, writer };
}

const text = (words: string) => contentOf(Buffer.from(words));

describe("files of a task's folder", () => {
  it.each([
    "",
    "/etc/passwd",
    "../t2/final/a",
    "final/../../x",
    "final//a",
    "final/./a",
    "final/",
    "a\\b",
    "a\nb",
    "a\0b",
    "checkpoints/journal/00000001-0000.jsonl",
    "Checkpoints/arriving.json",
    "trashed-20261128T120000000Z/keyring-1.json",
    "final/.0011223344556677.tmp",
    "x".repeat(256),
    Array.from({ length: 200 }, () => "folder").join("/"),
  ])("T4: %j is no path of one, and is not written", async (path) => {
    const { fileSystem, writer } = createRoom();
    expect(isFolderPath(path)).toBe(false);
    expect(await codeOfAsync(() => writer.write(path, text("x")))).toBe("STORE_UNSAFE");
    expect(fileSystem.operations.filter((operation) => /^(mkdir|open create|write)/.test(operation))).toEqual([]);
  });

  it("may have any other name that people and programs give", () => {
    for (const path of ["final/report.md", "my notes.txt", ".hidden/ä ß.pdf", "a/b/c/12:00.log", "phases/phase1/x"])
      expect([path, isFolderPath(path)]).toEqual([path, true]);
  });

  it("T4: are found without what belongs to the store, and a link is named and not followed", async () => {
    const { fileSystem } = createRoom();
    fileSystem.addFile(`${FOLDER}/checkpoints/keyring-1.json`, "{}");
    fileSystem.addFile(`${FOLDER}/trashed-20261128T120000000Z/keyring-1.json`, "{}");
    fileSystem.addFile(`${FOLDER}/final/.0011223344556677.tmp`, "half");
    fileSystem.addFile(`${FOLDER}/final/a.md`, "a");
    fileSystem.addFile(`${FOLDER}/b.txt`, "b");
    fileSystem.addLink(`${FOLDER}/final/link`);
    const found = [];
    for await (const entry of walkFolder(fileSystem, FOLDER)) found.push(entry);
    expect(found).toEqual([{ path: "b.txt" }, { path: "final/a.md" }, { path: "final/link", leftOut: "a link" }]);
  });

  it("stay as they were when what was to be written turns out to be something else", async () => {
    const { fileSystem, writer } = createRoom();
    await writer.write("a.txt", text("before"));
    const other = { ...text("after"), pieces: () => [Buffer.from("forged")] };
    expect(await codeOfAsync(() => writer.write("a.txt", other))).toBe("STORE_FAILED");
    expect([fileSystem.text(`${FOLDER}/a.txt`), await fileSystem.readdir(FOLDER)]).toEqual(["before", ["a.txt"]]);
    expect(await writer.compare("a.txt", text("before"))).toBe("equal");
    expect(await writer.compare("a.txt", text("BEFORE"))).toBe("other");
    expect(await writer.compare("b.txt", text("before"))).toBe("absent");
  });
});
