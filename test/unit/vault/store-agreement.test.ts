import { describe, expect, it } from "vitest";
import { MemorySpace, MemoryStore } from "../../../src/store/memory/memory-store.js";
import { createTaskVault, openTaskVault } from "../../../src/vault/task-vault.js";
import { FakeClock } from "../../support/fake-clock.js";
import { createSeededRandom } from "../../support/seeded-random.js";
import { createVaultRoom, KEY_SOURCE, TASK_ID } from "../../support/vault-room.js";

describe("a task's store as the place of its keyring", () => {
  it("keeps what the vault needs, with nothing between them", async () => {
    const store = await new MemoryStore({ space: new MemorySpace(), deliverablesRoot: "/outputs" }).createTask("audit");
    if (store === undefined) throw new Error("the name is taken");
    const { ports } = createVaultRoom();
    const shared = { taskId: TASK_ID, store, sources: [KEY_SOURCE], ports, random: createSeededRandom(1) };
    const vault = await createTaskVault({ ...shared, clock: new FakeClock() });
    expect((await store.list("")).map(({ key }) => key)).toEqual(["keyring-1.json"]);
    expect((await openTaskVault(shared)).keyId).toBe(vault.keyId);
  });
});
