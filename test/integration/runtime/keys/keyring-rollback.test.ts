/** An older keyring is not as good as a newer one: on a machine that saw the newer one, and on one that never did. */
import { rmSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Splashdown } from "../../../../src/runtime/contract.js";
import { codeOfAsync } from "../../../support/error-code.js";
import { KeyPlace } from "../../../support/key-place.js";
import type { ContentKind } from "../../../support/task-content.js";

const STORES = ["file", "sqlite"] as const;

/** A waiting task whose keyring gave a thief a way in, which was taken away again; and the keyring from before. */
async function createRoom(store: ContentKind) {
  const place = KeyPlace.of(store);
  const [own, thief] = [{ SPLASHDOWN_KEY_FILE: place.key("own.key", 1) }, { path: place.key("thief.key", 2) }];
  return place.with(own, async (verbs) => {
    expect((await verbs.run({ workflow: place.workflow, task: "kr" })).status).toBe("waiting");
    await verbs.keys.add({ task: "kr" }, { kind: "keyfile", path: thief.path });
    const before = await place.keyrings("kr");
    await verbs.keys.remove({ task: "kr" }, "thief.key");
    await verbs.keys.rotate({ task: "kr" }, { taskKey: true });
    return { place, own, thief, before };
  });
}

const VERBS: readonly (readonly [string, (verbs: Splashdown) => Promise<unknown>])[] = [
  ["show", (verbs) => verbs.show("kr")],
  ["answer", (verbs) => verbs.answer({ task: "kr", answer: "yes" })],
  ["resume", (verbs) => verbs.resume({ task: "kr" })],
  ["keys rotate", (verbs) => verbs.keys.rotate({ task: "kr" })],
  ["keys rotate --reencrypt", (verbs) => verbs.keys.rotate({ task: "kr" }, { taskKey: true, reencrypt: true })],
  ["keys add", (verbs) => verbs.keys.add({ task: "kr" }, { kind: "keyfile", path: "thief.key" })],
  ["checkpoints list", (verbs) => verbs.checkpoints.list("kr")],
  ["checkpoints export", (verbs) => verbs.checkpoints.export("kr", { file: "kr.zip" })],
  ["fork", (verbs) => verbs.fork("kr", { from: "latest", task: "forked" })],
  ["guide", (verbs) => verbs.guide({ task: "kr", text: "be brief" })],
];

describe.each(STORES)("an older keyring that was put back (%s)", (store) => {
  it("[security H3] is told as a roll-back by every verb, and nothing is sealed for it", async () => {
    const { place, own, thief, before } = await createRoom(store);
    await place.putBack("kr", before);
    await place.with(own, async (verbs) => {
      for (const [name, act] of VERBS)
        expect([name, await codeOfAsync(() => act(verbs))]).toEqual([name, "KEYRING_ROLLED_BACK"]);
      expect(await verbs.keys.verify("kr")).toMatchObject({ ok: false, exit_status: 15 });
      expect(await verbs.keys.show("kr")).toMatchObject({ problem: "KEYRING_ROLLED_BACK", exit_status: 15 });
      expect((await verbs.list()).map(({ problem }) => problem?.code)).toEqual(["KEYRING_ROLLED_BACK"]);
      const { tasks } = await verbs.recover();
      expect(tasks).toMatchObject([
        { action: "left", why: "it cannot be read (keyring_rolled_back), and nothing of it is under way" },
      ]);
    });
    expect(await place.with({ SPLASHDOWN_KEY_FILE: thief.path }, (verbs) => codeOfAsync(() => verbs.show("kr")))).toBe(
      "KEYRING_ROLLED_BACK",
    );
  });

  it("[security H3 kin] is told after a rotation alone, and after a reencryption", async () => {
    const place = KeyPlace.of(store);
    const own = { SPLASHDOWN_KEY_FILE: place.key("own.key", 1) };
    await place.with(own, async (verbs) => {
      await verbs.run({ workflow: place.workflow, task: "kr" });
      for (const options of [{}, { taskKey: true }, { taskKey: true, reencrypt: true }]) {
        const before = await place.keyrings("kr");
        await verbs.keys.rotate({ task: "kr" }, options);
        const now = await place.keyrings("kr");
        await place.putBack("kr", before);
        expect(await codeOfAsync(() => verbs.answer({ task: "kr", answer: "yes" }))).toBe("KEYRING_ROLLED_BACK");
        await place.putBack("kr", now);
        expect((await verbs.show("kr")).status).toBe("waiting");
      }
    });
  });

  it("[security H3 kin] is told by a machine that has never seen the task, from the task's own trail", async () => {
    const { place, own, before } = await createRoom(store);
    await place.putBack("kr", before);
    const other = place.elsewhere();
    await other.with(own, async (verbs) => {
      expect(await codeOfAsync(() => verbs.show("kr"))).toBe("KEYRING_ROLLED_BACK");
      expect(await codeOfAsync(() => verbs.answer({ task: "kr", answer: "yes" }))).toBe("KEYRING_ROLLED_BACK");
      expect(await verbs.keys.verify("kr")).toMatchObject({ ok: false, exit_status: 15 });
    });
  });

  it("[security H3 kin] is told where the newer ones were damaged instead of removed", async () => {
    const { place, own, before } = await createRoom(store);
    const damaged = [...(await place.keyrings("kr")).keys()].map((name) => [name, Buffer.from("x")] as const);
    await place.putBack("kr", new Map([...before, ...damaged]));
    expect(await place.with(own, (verbs) => codeOfAsync(() => verbs.show("kr")))).toBe("KEYRING_ROLLED_BACK");
  });

  it("[security H3 kin] counts after a person has accepted it, and the newest one that is damaged by accident gives way", async () => {
    const { place, own, before } = await createRoom(store);
    const now = await place.keyrings("kr");
    await place.putBack("kr", before);
    await place.with(own, async (verbs) => {
      const refused = await verbs.keys.accept("kr", { confirm: async () => false });
      expect(refused).toMatchObject({ accepted: false, objection: { code: "KEYRING_ROLLED_BACK" } });
      expect(await codeOfAsync(() => verbs.show("kr"))).toBe("KEYRING_ROLLED_BACK");
      expect((await verbs.keys.accept("kr")).accepted).toBe(true);
      expect((await verbs.show("kr")).status).toBe("waiting");
      expect(await verbs.keys.accept("kr")).toMatchObject({ accepted: false });
      await place.putBack("kr", now);
      await verbs.keys.add({ task: "kr" }, { kind: "keyfile", path: place.key("third.key", 3) });
      const names = [...(await place.keyrings("kr")).keys()].sort();
      await place.content("kr").change([[names.at(-1) ?? "", Buffer.from("x")]]);
      expect((await verbs.show("kr")).status).toBe("waiting");
    });
  });
});

describe.each(STORES)("a task that somebody locked for a public recipient (%s)", (store) => {
  async function createForeign() {
    const { generateIdentity, identityToRecipient } = await import("age-encryption");
    const identity = await generateIdentity();
    const attacker = KeyPlace.of(store);
    const recipients = [await identityToRecipient(identity)];
    await attacker.with({ SPLASHDOWN_KEY_FILE: attacker.key("own.key", 9) }, async (verbs) => {
      await verbs.run({ workflow: attacker.workflow, task: "gift" });
      await verbs.keys.add({ task: "gift" }, { kind: "age", recipients });
      await verbs.checkpoints.export("gift", { file: "gift.zip" });
    });
    const victim = attacker.elsewhere();
    const variables = { SPLASHDOWN_AGE_IDENTITY: victim.write("age.txt", `${identity}\n`) };
    return { attacker, victim, variables };
  }

  it("[security C2 kin] is refused by every verb when it is copied in, until a person accepts it", async () => {
    const { victim, variables } = await createForeign();
    await victim.with(variables, async (verbs) => {
      for (const act of [() => verbs.show("gift"), () => verbs.resume({ task: "gift" })])
        expect(await codeOfAsync(act)).toBe("KEYRING_UNPROVEN");
      expect((await verbs.list()).map(({ problem }) => problem?.code)).toEqual(["KEYRING_UNPROVEN"]);
      expect((await verbs.recover()).tasks).toMatchObject([{ action: "left" }]);
      expect(await verbs.keys.verify("gift")).toMatchObject({ ok: false, exit_status: 15 });
      expect(await verbs.keys.accept("gift", { origin: true })).toMatchObject({ accepted: true });
      expect((await verbs.show("gift")).status).toBe("waiting");
    });
  });

  it("[security C2 kin] is imported by a person's act, and runs nothing unasked", async () => {
    const { attacker, victim, variables } = await createForeign();
    for (const name of ["outputs", "tasks.db", "tasks.db-wal", "tasks.db-shm"])
      rmSync(victim.path(name), { recursive: true, force: true });
    await victim.with(variables, async (verbs) => {
      await verbs.checkpoints.import(attacker.path("gift.zip"));
      const { tasks } = await verbs.recover();
      expect(tasks.filter(({ action }) => action !== "left")).toEqual([]);
      expect(await codeOfAsync(() => verbs.show("gift"))).toBe("none");
    });
  });
});

describe("a task sealed with a passphrase that was never opened here", () => {
  it("[security M3 kin] is listed without a derivation, and opened when it is named", async () => {
    const place = new KeyPlace();
    const words = { SPLASHDOWN_PASSPHRASE: "correct horse battery" };
    await place.with(words, (verbs) => verbs.run({ workflow: place.workflow, task: "kr" }));
    await place.elsewhere().with(words, async (verbs) => {
      const list = async () => (await verbs.list()).map(({ problem }) => problem?.code);
      expect(await list()).toEqual(["KEY_NOT_TRIED"]);
      expect((await verbs.show("kr")).status).toBe("waiting");
      expect(await list()).toEqual([undefined]);
    });
  });
});
