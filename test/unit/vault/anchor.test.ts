import { describe, expect, it } from "vitest";
import {
  computeAnchorPath,
  loadAnchor,
  raiseAnchor,
  replaceAnchor,
  type AnchorPosition,
} from "../../../src/vault/anchor.js";
import { codeOf, codeOfAsync, refusalOf } from "../../support/error-code.js";
import { MemoryFileSystem } from "../../support/memory-file-system.js";
import { createSeededRandom } from "../../support/seeded-random.js";
import { OTHER_TASK_ID, TASK_ID } from "../../support/vault-room.js";

const STATE = "/home/ada/.local/state/splashdown";
const FILE = computeAnchorPath(STATE, TASK_ID);
const at = (epoch: number, n: number, hash = `h${epoch}-${n}`): AnchorPosition => ({ epoch, n, hash });

function createPlace(): {
  fileSystem: MemoryFileSystem;
  raise: (position: AnchorPosition) => Promise<boolean>;
  load: () => ReturnType<typeof loadAnchor>;
} {
  const fileSystem = new MemoryFileSystem("/home/ada");
  const place = { fileSystem, stateFolder: STATE };
  const random = createSeededRandom(1);
  return {
    fileSystem,
    raise: (position) => raiseAnchor({ ...place, taskId: TASK_ID, fields: { position }, random }),
    load: () => loadAnchor(place, TASK_ID),
  };
}

describe("anchor file", () => {
  it("remembers the furthest position and is never lowered", async () => {
    const { raise, load } = createPlace();
    expect(await load()).toEqual({ state: "none" });
    expect(await raise(at(1, 5))).toBe(true);
    expect(await raise(at(1, 4))).toBe(false);
    expect(await raise(at(1, 5))).toBe(false);
    expect(await load()).toEqual({ state: "known", anchor: { position: at(1, 5) } });
    expect(await raise(at(2, 3))).toBe(true);
    expect(await raise(at(1, 500))).toBe(false);
    expect(await load()).toEqual({ state: "known", anchor: { position: at(2, 3) } });
  });

  it("V15: is lowered only by replaceAnchor", async () => {
    const { fileSystem, raise, load } = createPlace();
    await raise(at(5, 100));
    await replaceAnchor({
      fileSystem,
      stateFolder: STATE,
      taskId: TASK_ID,
      fields: { position: at(3, 60) },
      random: createSeededRandom(2),
    });
    expect(await load()).toEqual({ state: "known", anchor: { position: at(3, 60) } });
  });

  it("is replaced at once: temporary name, sync, rename, folder sync", async () => {
    const { fileSystem, raise } = createPlace();
    await raise(at(1, 1));
    const before = fileSystem.operations.length;
    await raise(at(1, 2));
    const steps = fileSystem.operations
      .slice(before)
      .map((operation) => operation.replace(/\.[0-9a-f]{16}\.tmp/, "TEMP"));
    const folder = `${STATE}/anchors`;
    expect(steps.slice(-6)).toEqual([
      `open:create ${folder}/TEMP`,
      `write ${folder}/TEMP`,
      `sync ${folder}/TEMP`,
      `close ${folder}/TEMP`,
      `rename ${FILE}`,
      `syncFolder ${folder}`,
    ]);
    expect(fileSystem.paths()).toEqual([FILE]);
  });

  it("keeps the old one when any operation of raising fails", async () => {
    for (let failing = 0; failing < 12; failing += 1) {
      const { fileSystem, raise, load } = createPlace();
      await raise(at(1, 1));
      let index = 0;
      fileSystem.fault = () => (index++ === failing ? "EIO" : undefined);
      const code = await codeOfAsync(() => raise(at(1, 2)));
      fileSystem.fault = () => undefined;
      expect(["none", "STORE_UNWRITABLE"]).toContain(code);
      expect([at(1, 1), at(1, 2)].map((position) => ({ state: "known", anchor: { position } }))).toContainEqual(
        await load(),
      );
    }
  });

  it("V16: names a damaged one, whatever bit was flipped, and goes on to replace it", async () => {
    const { fileSystem, raise, load } = createPlace();
    await raise(at(3, 7));
    const good = Buffer.from(fileSystem.text(FILE) ?? "");
    for (let bit = 0; bit < good.length * 8; bit += 1) {
      const changed = Buffer.from(good);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      fileSystem.addFile(FILE, changed);
      expect(await load()).toMatchObject({ state: "damaged", file: FILE });
    }
    for (let length = 0; length < good.length; length += 1) {
      fileSystem.addFile(FILE, good.subarray(0, length));
      expect((await load()).state).toBe("damaged");
    }
    expect(await raise(at(1, 1))).toBe(true);
    expect(await load()).toEqual({ state: "known", anchor: { position: at(1, 1) } });
  });

  it("V16: is not trusted when it belongs to another task, is of another form or cannot be read", async () => {
    const { fileSystem, raise, load } = createPlace();
    await raise(at(1, 1));
    const own = fileSystem.text(FILE) ?? "";
    const { sha256Hex } = await import("../../../src/base/digest.js");
    const rewrite = (from: string, to: string): string => {
      const body = (own.split("\n")[0] ?? "").replace(from, to);
      return `${body}\n${sha256Hex(body)}\n`;
    };
    const variants: [string, string][] = [
      [rewrite(TASK_ID, OTHER_TASK_ID), "belongs to another task"],
      [rewrite(`"n":1`, `"n":-1`), "has a malformed position"],
      [rewrite(`"epoch":1`, `"epoch":"1"`), "has a malformed position"],
      [rewrite("h1-1", "h 1"), "has a malformed position"],
      [rewrite(`"version":"1.0"`, `"version":"2.0"`), "has an unknown format"],
      [rewrite("{", "["), "has an unknown format"],
      ["x".repeat(20_000), "is too large"],
    ];
    for (const [text, problem] of variants) {
      fileSystem.addFile(FILE, text);
      expect(await load()).toEqual({
        state: "damaged",
        file: FILE,
        problem: expect.stringContaining(problem) as string,
      });
    }
    fileSystem.addLink(FILE);
    expect(await load()).toEqual({
      state: "damaged",
      file: FILE,
      problem: `the anchor ${FILE} cannot be read (ELOOP)`,
      unreadable: true,
    });
  });

  it("V15: is not replaced while it cannot be read, for it may be further", async () => {
    const { fileSystem, raise, load } = createPlace();
    await raise(at(5, 100));
    fileSystem.fault = (operation) => (operation === `open:read ${FILE}` ? "EMFILE" : undefined);
    const error = await refusalOf(() => raise(at(1, 1)));
    expect([error.code, error.message]).toEqual(["STORE_UNWRITABLE", `the anchor ${FILE} cannot be read (EMFILE)`]);
    fileSystem.fault = () => undefined;
    expect(await load()).toEqual({ state: "known", anchor: { position: at(5, 100) } });
  });

  it("says which file cannot be written, and refuses our own mistakes", async () => {
    const { fileSystem, raise } = createPlace();
    fileSystem.fault = (operation) => (operation.startsWith("mkdir") ? "EROFS" : undefined);
    const error = await refusalOf(() => raise(at(1, 1)));
    expect([error.code, error.message]).toEqual(["STORE_UNWRITABLE", `the anchor ${FILE} cannot be written (EROFS)`]);
    expect(await codeOfAsync(() => raise(at(1, -1)))).toBe("INTERNAL");
    expect(codeOf(() => computeAnchorPath(STATE, "../x"))).toBe("INTERNAL");
  });

  const CALM = {
    keyring: { revision: 3, minRevision: 2, generation: 2 },
    firstKey: "0123456789abcdef",
    name: "t",
    store: "file:/outputs",
  };

  it("keeps what it knows of keys and names beside the position, each raised alone", async () => {
    const { fileSystem, raise, load } = createPlace();
    const options = { fileSystem, stateFolder: STATE, taskId: TASK_ID, random: createSeededRandom(3) };
    expect(await raiseAnchor({ ...options, fields: CALM })).toBe(true);
    expect(await raiseAnchor({ ...options, fields: CALM })).toBe(false);
    expect(await load()).toEqual({ state: "known", anchor: CALM });
    await raise(at(1, 5));
    expect(await load()).toEqual({ state: "known", anchor: { position: at(1, 5), ...CALM } });
    expect(fileSystem.paths()).toEqual([computeAnchorPath(STATE, TASK_ID, "identity"), FILE]);
  });

  it("V15: takes a higher revision and a higher generation, and neither a lower one nor another first key or name", async () => {
    const { fileSystem, load } = createPlace();
    const options = { fileSystem, stateFolder: STATE, taskId: TASK_ID, random: createSeededRandom(3) };
    await raiseAnchor({ ...options, fields: CALM });
    const lower = {
      keyring: { revision: 4, minRevision: 1, generation: 1 },
      firstKey: "f".repeat(16),
      name: "other",
      store: "file:/x",
    };
    expect(await raiseAnchor({ ...options, fields: lower })).toBe(true);
    expect(await load()).toEqual({
      state: "known",
      anchor: { ...CALM, keyring: { revision: 4, minRevision: 2, generation: 2 } },
    });
    await replaceAnchor({ ...options, fields: { name: "other" } });
    expect(await load()).toMatchObject({ anchor: { name: "other", firstKey: CALM.firstKey } });
  });

  it("is renamed into place without a sync where the machine need not die, and makes its folder all the same", async () => {
    const { fileSystem } = createPlace();
    const options = { fileSystem, stateFolder: STATE, taskId: TASK_ID, random: createSeededRandom(3), isSynced: false };
    expect(await raiseAnchor({ ...options, fields: { position: at(1, 1) } })).toBe(true);
    const before = fileSystem.operations.length;
    expect(await raiseAnchor({ ...options, fields: { position: at(1, 2) } })).toBe(true);
    expect(fileSystem.operations.slice(before).filter((operation) => operation.startsWith("sync"))).toEqual([]);
  });

  it("V16: says what its sound file tells when the other one is damaged", async () => {
    const { fileSystem, raise, load } = createPlace();
    const options = { fileSystem, stateFolder: STATE, taskId: TASK_ID, random: createSeededRandom(3) };
    await raise(at(1, 5));
    await raiseAnchor({ ...options, fields: CALM });
    fileSystem.addFile(FILE, "no anchor");
    expect(await load()).toMatchObject({ state: "damaged", file: FILE, anchor: CALM });
    await raise(at(1, 6));
    fileSystem.addFile(computeAnchorPath(STATE, TASK_ID, "identity"), "no anchor");
    expect(await load()).toMatchObject({ state: "damaged", anchor: { position: at(1, 6) } });
  });

  it("V16: takes the durable position where the latest one was torn by a power cut, and is lowered as a whole", async () => {
    const { fileSystem, raise, load } = createPlace();
    const options = { fileSystem, stateFolder: STATE, taskId: TASK_ID, random: createSeededRandom(3) };
    await raise(at(1, 5));
    await raiseAnchor({ ...options, fields: { position: at(1, 7) }, isSynced: false });
    expect(await load()).toEqual({ state: "known", anchor: { position: at(1, 7) } });
    const latest = computeAnchorPath(STATE, TASK_ID, "latest");
    const whole = fileSystem.text(latest) ?? "";
    fileSystem.addFile(latest, "");
    expect(await load()).toEqual({ state: "known", anchor: { position: at(1, 5) } });
    fileSystem.addFile(latest, whole);
    await replaceAnchor({ ...options, fields: { position: at(1, 2) } });
    expect(await load()).toEqual({ state: "known", anchor: { position: at(1, 2) } });
  });
});
