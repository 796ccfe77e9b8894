import { mkdir, readdir, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { FileSystem } from "../../../src/base/file-system.js";
import { openExclusively, type ExclusiveOpenParts } from "../../../src/store/presence/exclusive-open.js";
import type { PresencePort } from "../../../src/store/contract/presence-port.js";
import { createSocketPresence } from "../../../src/store/presence/socket-presence.js";
import { FACTS } from "../../conformance/store-case.js";
import { changeFileSystem } from "../../support/changed-file-system.js";
import { DiskError } from "../../support/disk-model.js";
import { codeOfAsync } from "../../support/error-code.js";
import { realClock } from "../../support/real-clock.js";
import { createStoreParts } from "../../support/sql-places.js";
import { DEAD_OWNERS, withFolder } from "../../support/store-places.js";

let count = 0;

function partsIn(folder: string, presence?: PresencePort): ExclusiveOpenParts {
  const store = createStoreParts(folder, `opener ${(count += 1)}`);
  return {
    root: join(folder, "openings"),
    place: "pglite:data",
    facts: FACTS,
    store: { ...store, presence: presence ?? createSocketPresence({ clock: realClock, platform: process.platform }) },
  };
}

/** The same, over a disk that behaves as told. */
function changed(parts: ExclusiveOpenParts, change: (disk: FileSystem) => Partial<FileSystem>): ExclusiveOpenParts {
  const { fileSystem } = parts.store;
  return { ...parts, store: { ...parts.store, fileSystem: changeFileSystem(fileSystem, change(fileSystem)) } };
}

const refuse = (path: string): Promise<never> => Promise.reject(new DiskError("EACCES", path));

const namesIn = async (folder: string) => (await readdir(join(folder, "openings"))).sort();

describe("openExclusively", () => {
  it("FAULTS 25: refuses a second opener while the first one lives, naming it, and lets the next in when it left", async () => {
    await withFolder(async (folder) => {
      const release = await openExclusively(partsIn(folder));
      await expect(openExclusively(partsIn(folder))).rejects.toMatchObject({
        code: "STORE_BUSY",
        message: "process 4711 on host-a has pglite:data open, and it takes one process at a time",
      });
      await release();
      const again = await openExclusively(partsIn(folder));
      expect(await namesIn(folder)).toEqual(["opening-2"]);
      await again();
      expect(await namesIn(folder)).toEqual(["opening-2"]);
    });
  });

  it("FAULTS 25: of many that open at once exactly one gets it", async () => {
    await withFolder(async (folder) => {
      for (let round = 0; round < 5; round += 1) {
        const outcomes = await Promise.allSettled(Array.from({ length: 8 }, () => openExclusively(partsIn(folder))));
        const won = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
        expect(won).toHaveLength(1);
        for (const outcome of outcomes) {
          if (outcome.status === "rejected") expect(outcome.reason).toMatchObject({ code: "STORE_BUSY" });
        }
        await won[0]?.();
      }
      expect((await namesIn(folder)).filter((name) => name.endsWith(".tmp"))).toEqual([]);
    });
  });

  it("follows an opener that died, and not one of which it cannot be told", async () => {
    await withFolder(async (folder) => {
      await openExclusively(partsIn(folder, DEAD_OWNERS));
      await openExclusively(partsIn(folder, DEAD_OWNERS));
      const unclear: PresencePort = { ...DEAD_OWNERS, ping: async () => ({ kind: "unreachable" }) };
      await expect(openExclusively(partsIn(folder, unclear))).rejects.toMatchObject({
        code: "STORE_BUSY",
        message: expect.stringContaining("of which it is unclear whether it lives") as string,
      });
      expect(await namesIn(folder)).toEqual(["opening-2"]);
    });
  });

  it("gives up when a higher number was taken between its look and its own", async () => {
    await withFolder(async (folder) => {
      const late = changed(partsIn(folder), ({ rename }) => ({
        rename: async (from, to) => {
          await rename(from, to);
          // The record of who it is gets its name by rename, too.
          if (to.endsWith("opening-1")) await mkdir(join(folder, "openings", "opening-9"));
        },
      }));
      await expect(openExclusively(late)).rejects.toMatchObject({ code: "STORE_BUSY" });
      expect(await namesIn(folder)).toEqual(["opening-1", "opening-9"]);
      await rmdir(join(folder, "openings", "opening-9"));
      // What gave up withdrew its record: the next one may go on.
      await (
        await openExclusively(partsIn(folder))
      )();
    });
  });

  it("opens all the same when what is left of an earlier opener cannot be removed; the next one removes it", async () => {
    await withFolder(async (folder) => {
      await (
        await openExclusively(partsIn(folder))
      )();
      await (
        await openExclusively(changed(partsIn(folder), () => ({ rmdir: refuse })))
      )();
      expect(await namesIn(folder)).toEqual(["opening-1", "opening-2"]);
      await (
        await openExclusively(partsIn(folder))
      )();
      expect(await namesIn(folder)).toEqual(["opening-3"]);
    });
  });

  it("holds nothing when its last look fails", async () => {
    await withFolder(async (folder) => {
      let looks = 0;
      const refused = changed(partsIn(folder), (disk) => ({
        readdir: (path) => (path.endsWith("openings") && (looks += 1) === 2 ? refuse(path) : disk.readdir(path)),
      }));
      expect(await codeOfAsync(() => openExclusively(refused))).toBe("STORE_UNWRITABLE");
      await (
        await openExclusively(partsIn(folder))
      )();
      expect(await namesIn(folder)).toEqual(["opening-2"]);
    });
  });
});
