import { describe, expect, it } from "vitest";
import type { RandomSource } from "../../../src/base/random.js";
import { computeFingerprint } from "../../../src/vault/derivation.js";
import { formatKeyFile, parseKeyFile } from "../../../src/vault/key-file.js";
import type { KeyCommandRunner } from "../../../src/vault/key-command.js";
import type { KeySourceSetting } from "../../../src/vault/key-source.js";
import { PLAIN_SUITE } from "../../../src/vault/sealing.js";
import { createTaskVault, openTaskVault } from "../../../src/vault/task-vault.js";
import { codeOf, codeOfAsync, refusalOf } from "../../support/error-code.js";
import { FakeClock } from "../../support/fake-clock.js";
import { createSeededRandom } from "../../support/seeded-random.js";
import { createWrappingCommand } from "../../support/wrapping-command.js";
import {
  createVaultRoom,
  KEY_PATH,
  KEY_SOURCE,
  OTHER_TASK_ID,
  TASK_ID,
  TEST_SCRYPT,
  type VaultRoom,
} from "../../support/vault-room.js";

const aad = Buffer.from("aad");
const PASSPHRASE: KeySourceSetting = { kind: "passphrase", environment: "TEAM_PASSPHRASE" };
const ENV: KeySourceSetting = { kind: "env", name: "SPLASHDOWN_KEY" };
const COMMAND: KeySourceSetting = { kind: "command", argv: ["/usr/bin/wrap-key", "--safe"] };
const GOOD_PASSPHRASE = "correct horse battery";

function fingerprintAt(room: VaultRoom, path = KEY_PATH): string {
  const file = parseKeyFile(room.fileSystem.text(path) ?? "");
  if (typeof file === "string") throw new Error(file);
  return file.fingerprint;
}

describe("createTaskVault", () => {
  it("writes one keyring that opens again with the same key file", async () => {
    const room = createVaultRoom();
    const vault = await room.create();
    expect([...room.store.objects.keys()]).toEqual(["keyring-1.json"]);
    const sealer = vault.createSealer("journal");
    const sealed = sealer.seal(0, aad, Buffer.from("hello"));
    const again = await room.open();
    expect(again.taskId).toBe(TASK_ID);
    expect(again.keyId).toBe(vault.keyId);
    expect(again.encrypted).toBe(true);
    expect(again.createOpener("journal", sealer.header).open(0, aad, sealed).toString()).toBe("hello");
    expect(again.keyedDigest("x", aad)).toEqual(vault.keyedDigest("x", aad));
  });

  it("V13: opens the keyring of whoever was faster, and of a first start that died", async () => {
    const room = createVaultRoom();
    const vault = await room.create();
    expect((await room.create()).keyId).toBe(vault.keyId);
    const raced = createVaultRoom();
    raced.store.beforePut = () => {
      raced.store.beforePut = () => undefined;
      for (const [key, bytes] of room.store.objects) raced.store.objects.set(key, bytes);
    };
    expect((await raced.create()).keyId).toBe(vault.keyId);
    expect(await codeOfAsync(() => room.create([KEY_SOURCE], OTHER_TASK_ID))).toBe("TASK_SWAPPED");
  });

  it("wraps the key for every source, and each alone opens it", async () => {
    const room = createVaultRoom({ runCommand: createWrappingCommand() });
    room.secrets.set("TEAM_PASSPHRASE", GOOD_PASSPHRASE).set("SPLASHDOWN_KEY", Buffer.alloc(32, 5).toString("base64"));
    const vault = await room.create([KEY_SOURCE, PASSPHRASE, ENV, COMMAND]);
    const opened = [];
    for (const source of [KEY_SOURCE, PASSPHRASE, ENV, COMMAND]) opened.push((await room.open([source])).keyId);
    expect(opened).toEqual([vault.keyId, vault.keyId, vault.keyId, vault.keyId]);
  });

  it("opens a key file's slot with the same key from the environment", async () => {
    const room = createVaultRoom();
    const vault = await room.create();
    const line = room.fileSystem.text(KEY_PATH)?.split("\n")[1] ?? "";
    room.secrets.set("SPLASHDOWN_KEY", line);
    expect((await room.open([ENV])).keyId).toBe(vault.keyId);
    room.secrets.set("SPLASHDOWN_KEY", Buffer.from(line, "base64").toString("base64url"));
    expect((await room.open([ENV])).keyId).toBe(vault.keyId);
  });

  it("is refused without any source at hand, names where it looked, and writes nothing", async () => {
    const room = createVaultRoom();
    const none = await refusalOf(() => room.create([]));
    expect([none.code, none.message]).toEqual([
      "KEY_NOT_CREATED",
      "no key is at hand to seal the task with; no key source is configured",
    ]);
    const absent = await refusalOf(() => room.create([{ kind: "keyfile", path: "/none.key" }, ENV, COMMAND]));
    expect(absent.code).toBe("KEY_NOT_CREATED");
    expect(absent.message).toContain("key file /none.key: the file does not exist");
    expect(absent.message).toContain("key in $SPLASHDOWN_KEY: the variable is not set");
    expect(absent.message).toContain("command /usr/bin/wrap-key: commands cannot be run here");
    expect(room.store.objects.size).toBe(0);
  });

  it("says which configured source it could not wrap for", async () => {
    const room = createVaultRoom();
    await room.create([KEY_SOURCE, ENV]);
    expect(room.warnings).toEqual([
      "the task cannot be opened with the key in $SPLASHDOWN_KEY: the variable is not set",
    ]);
  });

  it.each([
    ["", "is empty"],
    ["   \n", "is empty"],
    ["tiny", "is shorter than 12 characters"],
    ["ⅷⅷ", "is shorter than 12 characters"],
    [`${GOOD_PASSPHRASE}\n`, "begins or ends with white space"],
    [` ${GOOD_PASSPHRASE}`, "begins or ends with white space"],
    ["correct\thorse battery", "holds a control character"],
  ])("refuses the new passphrase %j", async (passphrase, reason) => {
    const room = createVaultRoom();
    room.secrets.set("TEAM_PASSPHRASE", passphrase);
    const error = await refusalOf(() => room.create([KEY_SOURCE, PASSPHRASE]));
    expect(error.code).toBe("KEY_SOURCE_INVALID");
    expect(error.message).toContain(reason);
    expect(error.message).toContain("TEAM_PASSPHRASE");
    expect(error.message).not.toContain(passphrase.trim() || "nothing to find");
    expect(room.store.objects.size).toBe(0);
  });

  it("writes nothing when a source does not open what it sealed", async () => {
    const forgetful: KeyCommandRunner = createWrappingCommand({ unwrapsTo: () => Buffer.alloc(32, 3) });
    const room = createVaultRoom({ runCommand: forgetful });
    const error = await refusalOf(() => room.create([KEY_SOURCE, COMMAND]));
    expect([error.code, error.message]).toEqual([
      "KEY_SOURCE_INVALID",
      "the command /usr/bin/wrap-key does not open what it was just used to seal",
    ]);
    expect(room.store.objects.size).toBe(0);
  });

  it("writes no byte of a key or secret, in any spelling", async () => {
    const drawn: Uint8Array[] = [];
    const room = createVaultRoom({ runCommand: createWrappingCommand() });
    room.secrets.set("TEAM_PASSPHRASE", GOOD_PASSPHRASE).set("SPLASHDOWN_KEY", Buffer.alloc(32, 5).toString("base64"));
    let state = 0;
    const random: RandomSource = {
      bytes(count) {
        state += 1;
        const bytes = new Uint8Array(count).map((_byte, index) => (state * 37 + index * 11 + 1) & 0xff);
        drawn.push(new Uint8Array(bytes));
        return bytes;
      },
    };
    const vault = await createTaskVault({
      taskId: TASK_ID,
      store: room.store,
      sources: [KEY_SOURCE, PASSPHRASE, ENV, COMMAND],
      ports: room.ports,
      random,
      clock: new FakeClock(),
      scryptCost: TEST_SCRYPT,
    });
    const sealer = vault.createSealer("journal");
    const sealed = sealer.seal(0, aad, Buffer.from("the plain words of an agent"));
    const keys = drawn.filter((bytes) => bytes.length === 32 && computeFingerprint(bytes, "task-key") === vault.keyId);
    expect(keys.length).toBe(1);
    const secrets = [
      ...keys,
      Buffer.alloc(32, 5),
      Buffer.from(GOOD_PASSPHRASE),
      Buffer.from("the plain words of an agent"),
    ];
    const written = [...room.store.objects.values(), Buffer.from(JSON.stringify(sealer.header)), sealed];
    expect(written.length).toBe(3);
    for (const bytes of written.map((item) => Buffer.from(item))) {
      for (const secret of secrets.map((item) => Buffer.from(item))) {
        expect(bytes.includes(secret)).toBe(false);
        for (const encoding of ["hex", "base64", "base64url"] as const) {
          expect(bytes.includes(secret.toString(encoding).replace(/=+$/, "").slice(0, -1))).toBe(false);
        }
      }
    }
  });
});

describe("createTaskVault without a word about cost and log", () => {
  it("spends the recommended work on a passphrase and keeps quiet", async () => {
    const room = createVaultRoom();
    room.secrets.set("TEAM_PASSPHRASE", GOOD_PASSPHRASE);
    room.store.objects.set("keyring-x.json", aad);
    const { store, ports } = room;
    const shared = { taskId: TASK_ID, store, sources: [PASSPHRASE, ENV], ports, random: createSeededRandom(1) };
    const vault = await createTaskVault({ ...shared, clock: new FakeClock() });
    const text = Buffer.from(store.objects.get("keyring-1.json") ?? []).toString();
    expect(text).toContain('"kdf":{"log2n":17,"name":"scrypt","p":1,"r":8,"salt":');
    store.objects.set("keyring-2.json", aad);
    expect((await openTaskVault(shared)).keyId).toBe(vault.keyId);
    expect(room.warnings).toEqual([]);
  });
});

describe("openTaskVault", () => {
  it("names both fingerprints when the key file is another one", async () => {
    const room = createVaultRoom();
    await room.create();
    const own = fingerprintAt(room);
    room.fileSystem.addFile(KEY_PATH, formatKeyFile(Buffer.alloc(32, 1)));
    const other = fingerprintAt(room);
    const error = await refusalOf(() => room.open());
    expect(error.code).toBe("KEY_WRONG");
    expect(error.message).toBe(
      `the keyring file keyring-1.json needs keyfile ${own} (default.key); given was ${other} (key file ${KEY_PATH})`,
    );
    expect(error.details).toMatchObject({ task: TASK_ID, needed: [own], given: [other] });
    expect(error.exitStatus).toBe(12);
  });

  it("names the fingerprints looked for and where it looked when no key is there", async () => {
    const room = createVaultRoom();
    await room.create();
    const own = fingerprintAt(room);
    room.fileSystem.nodes.delete(KEY_PATH);
    const error = await refusalOf(() => room.open([KEY_SOURCE, ENV]));
    expect(error.code).toBe("KEY_MISSING");
    expect(error.message).toBe(
      `the keyring file keyring-1.json needs keyfile ${own} (default.key); looked in key file ${KEY_PATH}: the file ` +
        "does not exist; key in $SPLASHDOWN_KEY: the variable is not set",
    );
    expect(error.details["needed"]).toEqual([own]);
    expect((await refusalOf(() => room.open([]))).message).toContain("no key source is configured");
  });

  it("says KEY_MISSING when what is at hand is of another kind", async () => {
    const room = createVaultRoom();
    room.secrets.set("TEAM_PASSPHRASE", GOOD_PASSPHRASE);
    await room.create([PASSPHRASE]);
    const error = await refusalOf(() => room.open([KEY_SOURCE]));
    expect(error.code).toBe("KEY_MISSING");
    expect(error.message).toContain(`looked in key file ${KEY_PATH}: gives a key, which none of these is for`);
    expect(error.message).toContain("(TEAM_PASSPHRASE)");
  });

  it.each([
    ["another passphrase", "correct horse batterz", "KEY_WRONG", "given was another passphrase in $TEAM_PASSPHRASE"],
    ["a trailing newline", `${GOOD_PASSPHRASE}\n`, "KEY_WRONG", "which begins or ends with white space"],
    ["the empty string", "", "KEY_SOURCE_INVALID", "the key variable $TEAM_PASSPHRASE is empty"],
    ["another case", "Correct horse battery", "KEY_WRONG", "given was another"],
  ])("refuses %s and never repeats the secret", async (_name, secret, code, message) => {
    const room = createVaultRoom();
    room.secrets.set("TEAM_PASSPHRASE", GOOD_PASSPHRASE);
    await room.create([PASSPHRASE]);
    const before = new Map(room.store.objects);
    room.secrets.set("TEAM_PASSPHRASE", secret);
    const error = await refusalOf(() => room.open([PASSPHRASE]));
    expect(error.code).toBe(code);
    expect(error.message).toContain(message);
    expect(JSON.stringify(error)).not.toContain(secret.trim() || "nothing to find");
    expect(room.store.objects).toEqual(before);
  });

  it("takes composed and decomposed passphrases for the same", async () => {
    const room = createVaultRoom();
    room.secrets.set("TEAM_PASSPHRASE", "crème brûlée für alle".normalize("NFC"));
    const vault = await room.create([PASSPHRASE]);
    room.secrets.set("TEAM_PASSPHRASE", "crème brûlée für alle".normalize("NFD"));
    expect((await room.open([PASSPHRASE])).keyId).toBe(vault.keyId);
  });

  it("refuses a key with a trailing newline in the environment", async () => {
    const room = createVaultRoom();
    room.secrets.set("SPLASHDOWN_KEY", Buffer.alloc(32, 5).toString("base64"));
    await room.create([ENV]);
    room.secrets.set("SPLASHDOWN_KEY", `${Buffer.alloc(32, 5).toString("base64")}\n`);
    const error = await refusalOf(() => room.open([ENV]));
    expect(error.code).toBe("KEY_SOURCE_INVALID");
    expect(error.message).toContain("$SPLASHDOWN_KEY does not hold a key: it begins or ends with white space");
  });

  it("opens with one good source beside a wrong, an absent and an unusable one", async () => {
    const room = createVaultRoom();
    const vault = await room.create();
    room.fileSystem.addFile("/wrong.key", formatKeyFile(Buffer.alloc(32, 1)));
    room.fileSystem.addFile("/open.key", formatKeyFile(Buffer.alloc(32, 2)), 0o644);
    const sources: KeySourceSetting[] = [
      { kind: "keyfile", path: "/wrong.key" },
      { kind: "keyfile", path: "/none.key" },
      { kind: "keyfile", path: "/open.key" },
      KEY_SOURCE,
    ];
    expect((await room.open(sources)).keyId).toBe(vault.keyId);
    expect(await codeOfAsync(() => room.open(sources.slice(0, 3)))).toBe("KEY_SOURCE_INVALID");
    expect(await codeOfAsync(() => room.open(sources.slice(0, 2)))).toBe("KEY_WRONG");
    expect(await codeOfAsync(() => room.open(sources.slice(1, 2)))).toBe("KEY_MISSING");
  });

  it("refuses the keyring of another task, and its content under another name", async () => {
    const room = createVaultRoom();
    await room.create();
    const error = await refusalOf(() => room.open([KEY_SOURCE], { taskId: OTHER_TASK_ID }));
    expect(error.code).toBe("TASK_SWAPPED");
    expect(error.message).toContain(TASK_ID);
    expect((await room.open([KEY_SOURCE], { taskId: undefined })).taskId).toBe(TASK_ID);
  });

  it("V11: falls back from a damaged newest revision and says so", async () => {
    const room = createVaultRoom();
    const vault = await room.create();
    room.store.objects.set("keyring-2.json", Buffer.from("torn"));
    expect((await room.open()).keyId).toBe(vault.keyId);
    expect(room.warnings).toEqual([
      "the keyring file keyring-2.json does not begin as a keyring does; keyring-1.json is used instead",
    ]);
  });

  it("V3: takes a task without a keyring for plain only where that is allowed", async () => {
    const room = createVaultRoom();
    const refusal = await refusalOf(() => room.open());
    expect(refusal.code).toBe("KEYRING_CORRUPT");
    expect(refusal.message).toContain("encryption: false");
    const plain = await room.open([], { allowPlain: true });
    expect([plain.encrypted, plain.taskId]).toEqual([false, TASK_ID]);
    expect(await codeOfAsync(() => room.open([], { allowPlain: true, taskId: undefined }))).toBe("KEYRING_CORRUPT");
  });

  it("V3: seals a sealed task on even where plain is allowed, and reads both", async () => {
    const room = createVaultRoom();
    await room.create();
    const vault = await room.open([KEY_SOURCE], { allowPlain: true });
    const header = { suite: PLAIN_SUITE, salt: "", commit: "" };
    expect(vault.encrypted).toBe(true);
    expect(vault.createOpener("journal", header).open(0, aad, aad)).toEqual(aad);
    const strict = await room.open();
    expect(codeOf(() => strict.createOpener("journal", header))).toBe("SEAL_MISSING");
  });
});
