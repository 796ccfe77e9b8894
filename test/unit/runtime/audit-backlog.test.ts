import { describe, expect, it } from "vitest";
import {
  addToBacklog,
  clearBacklog,
  loadBacklog,
  type BacklogPlace,
} from "../../../src/runtime/audit/audit-backlog.js";
import type { AuditEntry } from "../../../src/runtime/audit/audit-file.js";
import { MemoryFileSystem } from "../../support/memory-file-system.js";
import { createSeededRandom } from "../../support/seeded-random.js";

const TASK = "6f9619ff-8b86-4d01-b42d-00cf4fc964ff";
const FILE = `/state/audit/backlog/${TASK}.json`;

function createPlace(): BacklogPlace & { fileSystem: MemoryFileSystem } {
  return { fileSystem: new MemoryFileSystem("/"), random: createSeededRandom(1), stateFolder: "/state" };
}

const read = (second: number, pid = 1): AuditEntry => ({
  at: `2024-01-01T00:00:${String(second).padStart(2, "0")}.000Z`,
  event: "read",
  verb: "show",
  details: { by: "ada", pid },
});

describe("the backlog of the audit trail", () => {
  it("keeps what was said, in a private file, until it is cleared", async () => {
    const place = createPlace();
    const failed: AuditEntry = { at: "t", event: "unlock_failed", verb: "list", details: { code: "KEY_WRONG" } };
    await addToBacklog(place, TASK, [read(1), failed]);
    expect(await loadBacklog(place, TASK)).toEqual([read(1), failed]);
    expect(place.fileSystem.nodes.get(FILE)?.mode).toBe(0o600);
    expect(await loadBacklog(place, TASK.replace("6", "7"))).toEqual([]);
    await clearBacklog(place, TASK);
    await clearBacklog(place, TASK);
    expect(await loadBacklog(place, TASK)).toEqual([]);
  });

  it("A6: counts what is said again, by whichever process, instead of growing", async () => {
    const place = createPlace();
    for (let second = 1; second <= 5; second += 1) await addToBacklog(place, TASK, [read(second, second)]);
    const details = { by: "ada", pid: 1, times: 5, last_at: read(5).at };
    expect(await loadBacklog(place, TASK)).toEqual([{ ...read(1), details }]);
  });

  it("drops the oldest when there are too many", async () => {
    const place = createPlace();
    const many = Array.from({ length: 250 }, (_each, index) => ({ ...read(1), verb: `verb ${index}` }));
    await addToBacklog(place, TASK, many);
    const kept = await loadBacklog(place, TASK);
    expect([kept.length, kept[0]?.verb, kept.at(-1)?.verb]).toEqual([200, "verb 50", "verb 249"]);
  });

  it.each([
    ["no JSON", "{"],
    ["another file", '{"format":"other","version":"1.0","entries":[]}'],
    ["a newer version", '{"format":"splashdown.audit-backlog","version":"2.0","entries":[{}]}'],
    ["no entries", '{"format":"splashdown.audit-backlog","version":"1.0","entries":[1,{"at":2}]}'],
  ])("is empty where the file is %s", async (_what, text) => {
    const place = createPlace();
    place.fileSystem.addFile(FILE, text);
    expect(await loadBacklog(place, TASK)).toEqual([]);
  });

  it("lets a failure of the platform through when it cannot be written", async () => {
    const place = createPlace();
    place.fileSystem.fault = (operation) => (operation.startsWith("rename") ? "EROFS" : undefined);
    await expect(addToBacklog(place, TASK, [read(1)])).rejects.toMatchObject({ code: "EROFS" });
  });
});
