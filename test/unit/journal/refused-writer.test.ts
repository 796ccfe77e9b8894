import { describe, expect, it } from "vitest";
import { openJournalWriter } from "../../../src/journal/writer.js";
import { openStore } from "../../../src/store/open-store.js";
import { createTestVault, notedEvent } from "../../support/journal-room.js";
import { realClock } from "../../support/real-clock.js";
import { createStoreParts } from "../../support/sql-places.js";
import { withFolder } from "../../support/store-places.js";

describe("JournalWriter on a store that refuses what is stale", () => {
  it("S1: ends as superseded, not as a broken disk, and tries no second segment", async () => {
    await withFolder(async (folder) => {
      const store = openStore("sqlite:tasks.db", createStoreParts(folder));
      const task = await store.createTask("task");
      if (task === undefined) throw new Error("taken");
      const vault = createTestVault();
      const warnings: string[] = [];
      const log = { info: () => undefined, debug: () => undefined, warn: (text: string) => void warnings.push(text) };
      const writer = await openJournalWriter({
        task,
        vault,
        epoch: await task.claim(),
        prev: undefined,
        clock: realClock,
        log,
      });
      writer.append([notedEvent(1)]);
      await writer.durable();
      const next = await store.task("task");
      await next?.claim();
      writer.append([notedEvent(2)]);
      await expect(writer.durable()).rejects.toMatchObject({ code: "OWNER_SUPERSEDED" });
      await expect(writer.close()).rejects.toMatchObject({ code: "OWNER_SUPERSEDED" });
      const stale = openJournalWriter({ task, vault, epoch: 1, prev: writer.position, clock: realClock, log });
      await expect(stale).rejects.toMatchObject({ code: "OWNER_SUPERSEDED" });
      expect(warnings).toEqual([]);
      expect((await next?.segments())?.map(({ epoch, index }) => [epoch, index])).toEqual([
        [1, 0],
        [2, 0],
      ]);
      await store.close();
    });
  });
});
