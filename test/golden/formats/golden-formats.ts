/**
 * One file of every format that is written, made with fixed keys, salts and clocks, and what today's program reads in it.
 *
 * What comes out differently each time (age) or depends on the place (the local times in a zip) is read only.
 */
import { decodeOwnerRecord, encodeOwnerRecord } from "../../../src/store/presence/owner-record.js";
import { addToBacklog, loadBacklog } from "../../../src/runtime/audit/audit-backlog.js";
import { decodeAuditFile, encodeAuditFile, openDetails, type AuditHeader } from "../../../src/runtime/audit/audit-file.js";
import { loadAge } from "../../../src/runtime/keychain/key-packages.js";
import { readShredMark, writeShredMark } from "../../../src/runtime/keychain/shred-mark.js";
import { CarriedPack, openCarried, withoutCarried } from "../../../src/runtime/verbs/transfer/bundled-files.js";
import { packBundle, unpackBundle } from "../../../src/transfer/bundle.js";
import type { TaskFile } from "../../../src/transfer/copy-task.js";
import { computeAnchorPath, loadAnchor, raiseAnchor } from "../../../src/vault/anchor.js";
import { formatKeyFile, parseKeyFile } from "../../../src/vault/key-file.js";
import { decodeKeyring } from "../../../src/vault/keyring-format.js";
import type { KeyCommandRunner } from "../../../src/vault/key-command.js";
import type { KeySourceSetting } from "../../../src/vault/key-source.js";
import { FAKE_START_MS } from "../../support/fake-clock.js";
import { JOURNAL_TASK_ID } from "../../support/journal-room.js";
import { MemoryFileSystem } from "../../support/memory-file-system.js";
import { createSeededRandom } from "../../support/seeded-random.js";
import { createVaultRoom, KEY_SOURCE, TASK_ID } from "../../support/vault-room.js";
import {
  control,
  H,
  makeBlob,
  makeSegment,
  makeSnapshot,
  onlyObject,
  openTask,
  readBlob,
  readSegment,
  readSnapshot,
  taskWith,
  VALUE,
  vault,
  type GoldenFormat,
} from "./golden-parts.js";
import { VARIANTS } from "./golden-variants.js";

const AT = new Date(FAKE_START_MS).toISOString();

const SOURCES: readonly KeySourceSetting[] = [
  KEY_SOURCE,
  { kind: "passphrase", environment: "WORDS" },
  { kind: "env", name: "RAW" },
  { kind: "command", argv: ["wrap"], provesOrigin: true },
  { kind: "system", service: "splashdown", account: "ada" },
];

/** Made for this file alone. */
const IDENTITY = "AGE-SECRET-KEY-17CWJ92A6AQAQFMCY6SF6CPTFY8THCD5N6SF9H88D4V5A9HYYQMAS2CMN4Y";
const AGE: KeySourceSetting = { kind: "age", recipients: [], identity: "/home/ada/age.txt" };

/** "Wraps" by turning the text of the key around. */
const turnAround: KeyCommandRunner = ({ input }) => {
  const request = JSON.parse(input) as { readonly key?: string; readonly wrapped?: string };
  const turned = Buffer.from(request.key ?? request.wrapped ?? "").reverse().toString();
  const stdout = JSON.stringify(request.key === undefined ? { key: turned } : { wrapped: turned });
  return Promise.resolve({ exitCode: 0, stdout, stderrTail: "", timedOut: false });
};

function openVaultRoom() {
  const room = createVaultRoom({
    seed: "golden",
    runCommand: turnAround,
    loadAge: () => loadAge("/work"),
    readSystemSecret: () => Promise.resolve(Buffer.alloc(32, 5).toString("base64")),
  });
  room.fileSystem.addFile("/home/ada/age.txt", `${IDENTITY}\n`);
  room.secrets.set("WORDS", "correct horse battery staple");
  room.secrets.set("RAW", Buffer.alloc(32, 9).toString("base64"));
  return room;
}

async function makeKeyring(): Promise<Uint8Array> {
  const room = openVaultRoom();
  await room.create(SOURCES);
  return (await room.store.get("keyring-1.json")) ?? Buffer.alloc(0);
}

async function roomWith(keyring: Uint8Array) {
  const room = openVaultRoom();
  await room.store.putOnce("keyring-1.json", keyring);
  return room;
}

/** Every slot by itself opens it. */
async function readKeyring(bytes: Uint8Array): Promise<unknown> {
  const opened: string[] = [];
  for (const source of SOURCES) {
    const found = await (await roomWith(bytes)).open([source]);
    opened.push(`${source.kind} ${found.keyId ?? ""}`);
  }
  return { types: decodeKeyring(bytes, "keyring-1.json").header.keys[0]?.slots.map(({ type }) => type), opened };
}

const AUDIT: AuditHeader = {
  workflow_id: JOURNAL_TASK_ID,
  n: 2,
  prev: "ab".repeat(32),
  session: TASK_ID,
  pid: 7,
  host: "ship",
  by: "ada",
  app: "0.0.0",
};
const ENTRY = { at: AT, event: "answered" as const, verb: "answer", details: { question: "q", answer: "yes" } };
const { workflow_id: _id, prev: _prev, ...ORIGIN } = AUDIT;

async function readAudit(bytes: Uint8Array, reader = vault("reading")): Promise<unknown> {
  const file = decodeAuditFile("audit/00000002.jsonl", bytes);
  return { header: file.header, entries: openDetails("audit/00000002.jsonl", file, reader) };
}

function audit(header: AuditHeader, entries: Parameters<typeof encodeAuditFile>[1], isSealed = true) {
  return () => Promise.resolve(encodeAuditFile(header, entries, isSealed ? vault() : undefined));
}

const ANSWER = { kind: "answer", question: "q", answer: "yes", by: "ada", at: AT };
const REQUEST = { kind: "pause", by: "ada", note: "tea" };
const PIN = { kind: "pin", by: "ada", at: AT, note: "good" };
const UNPIN = { kind: "unpin", by: "ada", at: AT };

const OWNER = {
  facts: { pid: 7, host: "ship", machineId: "m", bootId: "boot", namespace: "pid:[1]", processStartedAt: "12", since: AT, epoch: 3 },
  counter: 4,
  socket: "owner-00000003-0123456789abcdef.sock",
};
const POSITION = { epoch: 2, n: 9, hash: H };
const KNOWN_ELSE = {
  keyring: { revision: 3, minRevision: 1, generation: 2 },
  firstKey: "0123456789abcdef",
  name: "report",
  store: "file:/outputs",
};

async function withState(act: (fileSystem: MemoryFileSystem) => Promise<unknown>): Promise<MemoryFileSystem> {
  const fileSystem = new MemoryFileSystem("/");
  await act(fileSystem);
  return fileSystem;
}

function fileIn(fileSystem: MemoryFileSystem, ending: string): Uint8Array {
  const found = [...fileSystem.nodes].find(([path]) => path.endsWith(ending))?.[1];
  return found !== undefined && "bytes" in found ? Buffer.from(found.bytes as Uint8Array) : Buffer.alloc(0);
}

const place = (fileSystem: MemoryFileSystem) => ({
  fileSystem,
  stateFolder: "/state",
  random: createSeededRandom("golden"),
});

const BUNDLE = { task: "t", workflowId: JOURNAL_TASK_ID, created: AT, app: "0.0.0", encrypted: true };

async function* bundled(): AsyncGenerator<TaskFile> {
  yield { segment: { epoch: 1, index: 0 }, bytes: await makeSegment() };
  yield { key: "keyring-1.json", bytes: await makeKeyring() };
}

async function makeBundle(): Promise<Uint8Array> {
  const fileSystem = new MemoryFileSystem("/t");
  fileSystem.addFile("/t/own.txt", "of a program");
  const packing = { fileSystem, folder: "/t", vault: vault(), deliverables: new Map(), withFiles: true };
  const pieces: Uint8Array[] = [];
  for await (const piece of packBundle(BUNDLE, new CarriedPack(packing).files(bundled()))) pieces.push(piece);
  return Buffer.concat(pieces);
}

export const FORMATS: readonly GoldenFormat[] = [
  {
    name: "segment-1.0.jsonl",
    make: () => makeSegment(),
    read: (bytes, reader) => readSegment(bytes, "1-0", reader),
    tells: { texts: ["note 1", "note 2", "long long lo"], damage: [], lost: [] },
  },
  {
    name: "whole-segment-1.0.jsonl",
    make: () => makeSegment({ isWhole: true }),
    read: (bytes, reader) => readSegment(bytes, "2-0", reader),
    tells: { texts: ["note 1", "note 2", "long long lo", "sealed again"], damage: [], lost: [] },
  },
  {
    name: "snapshot-1.0.json",
    make: () => makeSnapshot(),
    read: (bytes, reader) => readSnapshot(bytes, reader),
    tells: {
      seq: 1,
      n: 6,
      steps: ["research/step1@1.1", "research/step2@1.1"],
      outputs: ["research/step1", "research/step2"],
    },
  },
  { name: "blob-1.0.bin.b64", make: () => makeBlob(), read: (bytes, reader) => readBlob(bytes, reader), tells: VALUE },
  {
    name: "keyring-1.0.json",
    make: makeKeyring,
    read: readKeyring,
    tells: {
      types: ["keyfile", "passphrase", "env", "command", "system"],
      opened: SOURCES.map(({ kind }) => `${kind} 201ad6c74c070acc`),
    },
  },
  {
    name: "keyring-age-1.0.json",
    read: async (bytes) => (await (await roomWith(bytes)).open([AGE])).keyId,
    tells: "201ad6c74c070acc",
  },
  {
    name: "audit-1.0.jsonl",
    make: audit(AUDIT, [ENTRY]),
    read: readAudit,
    tells: { header: AUDIT, entries: [ENTRY] },
  },
  {
    name: "audit-carried-1.0.jsonl",
    make: audit({ ...AUDIT, carries: { to: 1, part: 1, parts: 1 } }, [{ ...ENTRY, origin: ORIGIN }]),
    read: readAudit,
    tells: { header: { ...AUDIT, carries: { to: 1, part: 1, parts: 1 } }, entries: [{ ...ENTRY, origin: ORIGIN }] },
  },
  {
    name: "audit-unsealed-1.0.jsonl",
    make: audit(AUDIT, [{ ...ENTRY, event: "unlock_failed" }], false),
    read: readAudit,
    tells: { header: AUDIT, entries: [{ ...ENTRY, event: "unlock_failed" }] },
  },
  control("answer-1.0.txt", `control/answer-${"a".repeat(40)}~1`, ANSWER),
  control("request-1.0.txt", `control/request-${TASK_ID}~1`, REQUEST),
  control("pin-1.0.txt", `control/pin-${TASK_ID}-1~1`, PIN),
  control("unpin-1.0.txt", `control/pin-${TASK_ID}-2~1`, UNPIN),
  {
    name: "owner-1.0.json",
    make: () => Promise.resolve(Buffer.from(encodeOwnerRecord(OWNER))),
    read: (bytes) => Promise.resolve(decodeOwnerRecord(Buffer.from(bytes).toString("utf8"))),
    tells: OWNER,
  },
  {
    name: "anchor-1.0.json",
    make: async () =>
      fileIn(
        await withState((fileSystem) => raiseAnchor({ ...place(fileSystem), taskId: TASK_ID, fields: { position: POSITION } })),
        `${TASK_ID}.json`,
      ),
    read: async (bytes) => {
      const fileSystem = new MemoryFileSystem("/");
      fileSystem.addFile(computeAnchorPath("/state", TASK_ID), Buffer.from(bytes).toString("utf8"));
      return loadAnchor(place(fileSystem), TASK_ID);
    },
    tells: { state: "known", anchor: { position: POSITION } },
  },
  {
    name: "anchor-identity-1.0.json",
    make: async () =>
      fileIn(
        await withState((fileSystem) => raiseAnchor({ ...place(fileSystem), taskId: TASK_ID, fields: KNOWN_ELSE })),
        `${TASK_ID}.identity.json`,
      ),
    read: async (bytes) => {
      const fileSystem = new MemoryFileSystem("/");
      fileSystem.addFile(computeAnchorPath("/state", TASK_ID, "identity"), Buffer.from(bytes).toString("utf8"));
      return loadAnchor(place(fileSystem), TASK_ID);
    },
    tells: { state: "known", anchor: KNOWN_ELSE },
  },
  {
    name: "backlog-1.0.json",
    make: async () =>
      fileIn(await withState((fileSystem) => addToBacklog(place(fileSystem), TASK_ID, [ENTRY])), `${TASK_ID}.json`),
    read: async (bytes) => {
      const fileSystem = new MemoryFileSystem("/");
      fileSystem.addFile(`/state/audit/backlog/${TASK_ID}.json`, Buffer.from(bytes).toString("utf8"));
      return loadBacklog(place(fileSystem), TASK_ID);
    },
    tells: [ENTRY],
  },
  {
    name: "key-1.txt",
    make: () => Promise.resolve(Buffer.from(formatKeyFile(createSeededRandom("golden").bytes(32)))),
    read: (bytes) => {
      const parsed = parseKeyFile(Buffer.from(bytes).toString("utf8"));
      return Promise.resolve(typeof parsed === "string" ? parsed : parsed.fingerprint);
    },
    tells: "a4ab56b1d3ba797f",
  },
  {
    name: "shredded.json",
    make: async () => {
      const task = await openTask();
      await writeShredMark(task, { at: AT, by: "ada" });
      return onlyObject(task);
    },
    read: async (bytes) => readShredMark(await taskWith("shredded.json", bytes)),
    tells: { at: AT, by: "ada" },
  },
  {
    name: "bundle-1.0.zip.b64",
    make: makeBundle,
    read: async (bytes, reader = vault("reading")) => {
      const { facts, files } = unpackBundle(bytes);
      const carried = [...openCarried(files, reader)].map(([path, text]) => [path, String(text)]);
      return { facts, files: withoutCarried(files).map(({ key, segment }) => key ?? segment), carried };
    },
    tells: { facts: BUNDLE, files: [{ epoch: 1, index: 0 }, "keyring-1.json"], carried: [["own.txt", "of a program"]] },
  },
  ...VARIANTS,
];
