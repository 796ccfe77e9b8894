/** Files that people get: whole or not at all, and nothing beside them. */
import { describe, expect, it } from "vitest";
import { createDeliverableWriter } from "../../../src/runtime/session/deliverables.js";
import { MemoryFileSystem } from "../../support/memory-file-system.js";
import { createSeededRandom } from "../../support/seeded-random.js";

function createRoom() {
  const fileSystem = new MemoryFileSystem("/outputs/t");
  const writer = () => createDeliverableWriter({ fileSystem, random: createSeededRandom(3), folder: "/outputs/t" });
  return { fileSystem, writer };
}

describe("deliverables", () => {
  it("leave nothing of a process that was killed while it wrote, and nobody else's files are touched", async () => {
    const { fileSystem, writer } = createRoom();
    fileSystem.addFile("/outputs/t/final/.00112233445566ff.tmp", "half of it");
    fileSystem.addFile("/outputs/t/final/.notes.tmp", "a person's");
    await writer().write("final/report.md", "# whole");
    expect((await fileSystem.readdir("/outputs/t/final")).sort()).toEqual([".notes.tmp", "report.md"]);
  });

  it("are written over the folder as it is, once for equal content", async () => {
    const { fileSystem, writer } = createRoom();
    const one = writer();
    await one.write("final/report.md", "# whole");
    await one.write("final/report.md", "# whole");
    expect(fileSystem.operations.filter((operation) => operation.startsWith("rename"))).toHaveLength(1);
  });

  it("never leave the task's folder", async () => {
    await expect(createRoom().writer().write("../x", "")).rejects.toMatchObject({ code: "STORE_UNSAFE" });
  });
});
