import { describe, expect, it } from "vitest";
import type { TaskStore } from "../../../src/store/contract/contract.js";
import type { TaskVault } from "../../../src/vault/contract.js";
import { auditKey, openDetails } from "../../../src/runtime/audit/audit-file.js";
import { readTrail, verifyTrail } from "../../../src/runtime/tasks/audit-reading.js";
import { renewAudit } from "../../../src/runtime/verbs/keys/audit-renewal.js";
import { AuditTrail } from "../../../src/runtime/audit/audit-trail.js";
import { createEnvironment } from "../../../src/runtime/platform/environment.js";
import type { OpenedTask } from "../../../src/runtime/tasks/reading.js";
import type { Services } from "../../../src/runtime/services/services.js";
import { MemorySpace, MemoryStore } from "../../../src/store/memory/memory-store.js";
import { retireKeysBelow, rotateTaskKey } from "../../../src/vault/keyring-changes.js";
import { FakeClock } from "../../support/fake-clock.js";
import { MemoryFileSystem } from "../../support/memory-file-system.js";
import { createSeededRandom } from "../../support/seeded-random.js";
import { createVaultRoom, KEY_SOURCE, TASK_ID } from "../../support/vault-room.js";

/** A task with a trail of four files under one key, and a vault that has the next key as well. */
async function createRoom() {
  const clock = new FakeClock();
  const fileSystem = new MemoryFileSystem("/home/ada");
  const store = new MemoryStore({ space: new MemorySpace(), deliverablesRoot: "/outputs" });
  const task = await store.createTask("t");
  if (task === undefined) throw new Error("no task");
  const vaults = createVaultRoom();
  const vault = await vaults.create();
  const random = createSeededRandom("trail");
  const environment = createEnvironment({ HOME: "/home/ada", USER: "ada" }, "/work");
  const log = { info: () => undefined, debug: () => undefined, warn: () => undefined };
  const manifest = { ...store.manifest, durable: true };
  const keys = { renew: (_task: TaskStore, same: TaskVault) => Promise.resolve(same) };
  const parts = { clock, random, log, fileSystem, environment, version: "0", pid: 1, store: { manifest }, keys };
  const audit = new AuditTrail(parts);
  const services = { ...parts, audit } as unknown as Services;
  for (const verb of ["one", "two", "three", "four"])
    await audit.note({ task, vault }, { event: "pinned", verb, details: { note: `of ${verb}` } });
  const changing = { taskId: TASK_ID, store: vaults.store, sources: [KEY_SOURCE], ports: vaults.ports, random, clock };
  await rotateTaskKey(changing);
  const both = await vaults.open();
  return {
    task,
    services,
    opened: { task, vault: both } as OpenedTask,
    vaults,
    retire: () => retireKeysBelow(changing, 2),
  };
}

async function tellAll(task: TaskStore, opened: OpenedTask): Promise<string[]> {
  const trail = await readTrail(task);
  return trail.files.filter(trail.counts).flatMap(({ key, content }) => {
    if (content instanceof Error) return [content.message];
    return openDetails(key, content, opened.vault).map(({ verb, details, origin }) => {
      return `${origin?.n ?? content.header.n} ${verb} ${JSON.stringify(details["note"] ?? null)}`;
    });
  });
}

const TOLD = ["1 one null", '1 one "of one"', '2 two "of two"', '3 three "of three"', '4 four "of four"'];

describe("the audit trail under another key", () => {
  it("A7: tells what it told, with where that stood, when the old key is gone", async () => {
    const { task, services, opened, vaults, retire } = await createRoom();
    expect(await tellAll(task, opened)).toEqual(TOLD);
    await renewAudit(services, opened);
    await retire();
    const later = { task, vault: await vaults.open() } as OpenedTask;
    expect(await tellAll(task, later)).toEqual([...TOLD, "5 keys rotate --reencrypt null"]);
    expect((await task.list("audit/")).map(({ key }) => key)).toEqual([auditKey(5)]);
    const trail = await readTrail(task);
    expect(await verifyTrail(services, trail, later.vault)).toEqual({ files: 1, entries: 6, faults: [] });
    await services.audit.note(later, { event: "answered", verb: "answer" });
    expect((await verifyTrail(services, await readTrail(task), later.vault)).faults).toEqual([]);
  });

  it("A7: a set of carried files that is not whole counts for nothing, and the next one passes it over", async () => {
    const { task, services, opened } = await createRoom();
    const last = (await readTrail(task)).files.at(-1)?.n ?? 0;
    const entries = (await readTrail(task)).files.flatMap(({ key, content }) =>
      content instanceof Error ? [] : openDetails(key, content, opened.vault),
    );
    // Two of three parts: the process died before the third.
    const half = [entries.slice(0, 2), entries.slice(2, 3)];
    const carry = services.audit.carry.bind(services.audit);
    await carry(opened, last, [...half, entries.slice(3)]);
    await task.remove(auditKey(last + 3));
    expect(await tellAll(task, opened)).toEqual(TOLD);
    await renewAudit(services, opened);
    expect(await tellAll(task, opened)).toEqual([...TOLD, `${last + 3} keys rotate --reencrypt null`]);
    expect(await task.list("audit/")).toHaveLength(1);
  });

  it("A7: says in itself what was wrong before, for nobody can see it afterwards", async () => {
    const { task, services, opened } = await createRoom();
    await task.remove(auditKey(2));
    await renewAudit(services, opened);
    const [file] = (await readTrail(task)).files;
    if (file === undefined || file.content instanceof Error) throw new Error("there is no file");
    const told = openDetails(file.key, file.content, opened.vault).at(-1);
    expect(told?.details).toMatchObject({ carried: { files: 3, faults: [`${auditKey(2)} is missing`] } });
  });

  it("is left alone where there is none", async () => {
    const { task, services, opened } = await createRoom();
    for (const { key } of await task.list("audit/")) await task.remove(key);
    await renewAudit(services, opened);
    expect(await task.list("audit/")).toEqual([]);
  });

  it("misses a first file that no other carries", async () => {
    const { task, services, opened } = await createRoom();
    await task.remove(auditKey(1));
    expect((await verifyTrail(services, await readTrail(task), opened.vault)).faults).toEqual([
      `${auditKey(1)} is missing`,
    ]);
  });
});
