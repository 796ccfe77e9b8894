/** Destroying a task's keys: nobody may go on writing what nobody can read. */
import { existsSync, readdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createNodeFileSystem } from "../../../../src/base/node-file-system.js";
import { changeFileSystem } from "../../../support/changed-file-system.js";
import { codeOfAsync } from "../../../support/error-code.js";
import { KeyPlace } from "../../../support/key-place.js";

async function createRoom() {
  const place = new KeyPlace();
  const own = { SPLASHDOWN_KEY_FILE: place.key("own.key", 1) };
  await place.with(own, (verbs) => verbs.run({ workflow: place.workflow, task: "t" }));
  const segments = () => readdirSync(place.path("outputs", "t", "checkpoints", "journal")).sort();
  return { place, own, segments };
}

describe("keys shred", () => {
  it("[reliability R02] claims the task before the first key is destroyed, so that an owner that was taken for dead is superseded", async () => {
    const { place, own, segments } = await createRoom();
    expect(segments()).toEqual(["00000001-0000.jsonl"]);
    const fileSystem = createNodeFileSystem();
    const seen: string[][] = [];
    const watched = changeFileSystem(fileSystem, {
      erase: async (path) => {
        seen.push(segments());
        return fileSystem.erase(path);
      },
    });
    await place.with(own, (verbs) => verbs.keys.shred("t"), { fileSystem: watched });
    expect(seen.length).toBeGreaterThan(0);
    for (const there of seen) expect(there).toContain("00000002-0000.jsonl");
    expect((await place.keyrings("t")).size).toBe(0);
  });

  it("[reliability R02 kin] has written its mark before the first key is destroyed", async () => {
    const { place, own } = await createRoom();
    const fileSystem = createNodeFileSystem();
    const seen: boolean[] = [];
    const watched = changeFileSystem(fileSystem, {
      erase: async (path) => {
        seen.push(existsSync(place.path("outputs", "t", "checkpoints", "shredded.json")));
        return fileSystem.erase(path);
      },
    });
    await place.with(own, (verbs) => verbs.keys.shred("t"), { fileSystem: watched });
    expect([seen.length > 0, seen.every(Boolean)]).toEqual([true, true]);
  });

  it("[reliability R02 kin] destroys nothing where the answer was no, and claims nothing", async () => {
    const { place, own, segments } = await createRoom();
    await place.with(own, (verbs) => verbs.keys.shred("t", { confirm: async () => false }));
    expect([(await place.keyrings("t")).size, segments()]).toEqual([1, ["00000001-0000.jsonl"]]);
  });

  it("[reliability R02 kin] is told as such by every verb afterwards, and an old keyring file does not undo it in silence", async () => {
    const { place, own } = await createRoom();
    const before = await place.keyrings("t");
    await place.with(own, async (verbs) => {
      await verbs.keys.shred("t");
      expect(await codeOfAsync(() => verbs.show("t"))).toBe("KEY_SHREDDED");
      await place.putBack("t", before);
      expect(await codeOfAsync(() => verbs.show("t"))).toBe("KEYRING_ROLLED_BACK");
      expect(await codeOfAsync(() => verbs.answer({ task: "t", answer: "yes" }))).toBe("KEYRING_ROLLED_BACK");
    });
  });
});
