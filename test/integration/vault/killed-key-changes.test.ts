/** Every change of a keyring, killed before each of its writes, with every kind of source: the old keys or the new ones open it. */
import { describe, expect, it } from "vitest";
import { loadAge } from "../../../src/runtime/keychain/key-packages.js";
import {
  addKeySource,
  removeKeySlots,
  retireKeysBelow,
  rewrapKeys,
  rotateTaskKey,
  type KeyringChange,
} from "../../../src/vault/keyring-changes.js";
import type { KeyCommandRunner } from "../../../src/vault/key-command.js";
import type { KeyringChangeOptions } from "../../../src/vault/keyring-opening.js";
import type { KeyringObjects } from "../../../src/vault/keyring-revisions.js";
import { inspectKeyring } from "../../../src/vault/keyring-view.js";
import { formatKeyFile } from "../../../src/vault/key-file.js";
import type { KeySourceSetting } from "../../../src/vault/key-source.js";
import { FakeClock } from "../../support/fake-clock.js";
import { codeOfAsync } from "../../support/error-code.js";
import { createSeededRandom } from "../../support/seeded-random.js";
import { noteTried } from "../../support/tried.js";
import { createVaultRoom, KEY_SOURCE, TASK_ID, TEST_SCRYPT, type VaultRoom } from "../../support/vault-room.js";

const AAD = Buffer.from("aad");
/** Made for this file alone. */
const IDENTITY = "AGE-SECRET-KEY-17CWJ92A6AQAQFMCY6SF6CPTFY8THCD5N6SF9H88D4V5A9HYYQMAS2CMN4Y";

const SOURCES: readonly KeySourceSetting[] = [
  { kind: "keyfile", path: "/home/ada/keys/second.key" },
  { kind: "passphrase", environment: "WORDS" },
  { kind: "env", name: "RAW" },
  { kind: "command", argv: ["wrap"] },
  { kind: "age", recipients: [], identity: "/home/ada/age.txt" },
  { kind: "system", service: "splashdown", account: "ada" },
];

/** "Wraps" by turning the text of the key around. */
const turnAround: KeyCommandRunner = ({ input }) => {
  const { key, wrapped = "" } = JSON.parse(input) as { readonly key?: string; readonly wrapped?: string };
  const turned = Buffer.from(key ?? wrapped)
    .reverse()
    .toString();
  const stdout = JSON.stringify(key === undefined ? { key: turned } : { wrapped: turned });
  return Promise.resolve({ exitCode: 0, stdout, stderrTail: "", timedOut: false });
};

/** A task that a key file opens. */
async function createRoom(): Promise<VaultRoom> {
  const room = createVaultRoom({
    runCommand: turnAround,
    loadAge: () => loadAge("/work"),
    readSystemSecret: () => Promise.resolve(Buffer.alloc(32, 5).toString("base64")),
  });
  room.fileSystem.addFile("/home/ada/keys/second.key", formatKeyFile(createSeededRandom("second").bytes(32)));
  room.fileSystem.addFile("/home/ada/age.txt", `${IDENTITY}\n`);
  room.secrets.set("WORDS", "correct horse battery");
  room.secrets.set("RAW", Buffer.alloc(32, 9).toString("base64"));
  await room.create();
  return room;
}

class Killed extends Error {}

/** Ends the process before its n-th change of the store. */
function killedAt(store: KeyringObjects, n: number): KeyringObjects {
  let changes = 0;
  const count = (): void => {
    changes += 1;
    if (changes >= n) throw new Killed();
  };
  return {
    get: (key) => store.get(key),
    list: (prefix) => store.list(prefix),
    putOnce: async (key, bytes) => (count(), store.putOnce(key, bytes)),
    remove: async (key) => (count(), store.remove(key)),
  };
}

type Make = (options: KeyringChangeOptions, source: KeySourceSetting) => Promise<KeyringChange>;

interface Change {
  readonly name: string;
  readonly before: readonly Make[];
  readonly make: Make;
  /** What opens the task whenever it is killed. */
  readonly opens: (source: KeySourceSetting) => readonly KeySourceSetting[];
  /** The key that the task began with does not open it any more when it is done. */
  readonly shut?: boolean;
  /** Files of the older key are refused from then on: they were sealed again. */
  readonly retires?: boolean;
}

const add: Make = (options, source) => addKeySource({ ...options, sources: [KEY_SOURCE] }, source);
const rotate: Make = (options) => rotateTaskKey(options);
const both = (source: KeySourceSetting): readonly KeySourceSetting[] => [KEY_SOURCE, source];

const CHANGES: readonly Change[] = [
  { name: "add", before: [], make: add, opens: () => [KEY_SOURCE] },
  {
    name: "remove",
    before: [add],
    make: (options, source) => removeKeySlots({ ...options, sources: [source] }, "default.key"),
    opens: (source) => [source],
    shut: true,
  },
  { name: "rotate", before: [add], make: (options) => rewrapKeys(options), opens: both },
  { name: "rotate the task key", before: [add], make: rotate, opens: both },
  {
    name: "raise the least generation",
    before: [add, rotate],
    make: (options) => retireKeysBelow(options, 2),
    opens: both,
    retires: true,
  },
];

/** An age slot costs much more than the others, and is wrapped, opened and dropped by these. */
const WITH_AGE = ["remove", "rotate the task key"];

const CASES = CHANGES.flatMap((change) =>
  SOURCES.map((source) => ({ change, source, of: source.kind })).filter(
    ({ of }) => of !== "age" || WITH_AGE.includes(change.name),
  ),
);

describe("a change of a keyring", () => {
  it.for(CASES)(
    "V17: $change.name ($of), killed before any of its writes, keeps the task open",
    async (the, context) => {
      const { change, source } = the;
      let kills = 0;
      for (let isKilled = true; isKilled; kills += 1) {
        const room = await createRoom();
        const random = createSeededRandom(`killed ${kills}`);
        const options: KeyringChangeOptions = {
          taskId: TASK_ID,
          store: room.store,
          sources: both(source),
          ports: room.ports,
          random,
          clock: new FakeClock(),
          scryptCost: TEST_SCRYPT,
          trust: room.trust(),
        };
        const sealer = (await room.open()).createSealer("blob");
        const sealed = sealer.seal(0, AAD, Buffer.from("before"));
        for (const make of change.before) await make(options, source);
        const outcome = await change
          .make({ ...options, store: killedAt(room.store, kills + 1) }, source)
          .catch((error: unknown) => error);
        isKilled = outcome instanceof Killed;
        if (!isKilled && outcome instanceof Error) throw outcome;
        for (const opener of change.opens(source)) {
          const vault = await room.open([opener]);
          if (change.retires !== true)
            expect(vault.createOpener("blob", sealer.header).open(0, AAD, sealed).toString()).toBe("before");
        }
        // The same again, or nothing where it was done.
        const again = await codeOfAsync(() => change.make(options, source));
        expect(["none", "KEY_SLOT_NOT_FOUND"]).toContain(again);
        expect((await inspectKeyring(room.store))?.unfinished).toBe(false);
        const last = await room.open([source]);
        if (change.retires !== true)
          expect(last.createOpener("blob", sealer.header).open(0, AAD, sealed).toString()).toBe("before");
        expect((await codeOfAsync(() => room.open([KEY_SOURCE]))) === "none").toBe(change.shut !== true);
      }
      noteTried(context, kills);
      expect(kills).toBeGreaterThan(1);
    },
  );
});
