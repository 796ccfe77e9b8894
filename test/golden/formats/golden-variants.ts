/**
 * Forms of the formats that come with time: after a rotation, sealed again, without encryption, for later tasks. A redacted
 * report is for people and read by no program of ours; what is in the trash has a name and no record.
 */
import { defaultSettings } from "../../../src/definition/settings/settings.js";
import { decodeControlFile, encodeControlFile } from "../../../src/runtime/mailbox/control-file.js";
import { keepClaims, loadTrackRecords, type CalibrationDeps } from "../../../src/runtime/session/calibration.js";
import type { TaskVault } from "../../../src/vault/contract.js";
import { rotateTaskKey } from "../../../src/vault/keyring-changes.js";
import { decodeKeyring } from "../../../src/vault/keyring-format.js";
import { sha256Hex } from "../../../src/base/digest.js";
import { done, EngineHarness } from "../../support/engine-harness.js";
import { FAKE_START_MS, FakeClock } from "../../support/fake-clock.js";
import { createPlainVault, JOURNAL_TASK_ID } from "../../support/journal-room.js";
import { MemoryFileSystem } from "../../support/memory-file-system.js";
import { createSeededRandom } from "../../support/seeded-random.js";
import { createVaultRoom, KEY_SOURCE, TASK_ID, type VaultRoom } from "../../support/vault-room.js";
import { loadText } from "../../support/workflow-files.js";
import { loadGolden } from "./golden-files.js";
import {
  control,
  makeBlob,
  makeSegment,
  makeSnapshot,
  readBlob,
  readSegment,
  readSnapshot,
  VALUE,
  type GoldenFormat,
} from "./golden-parts.js";

const AT = new Date(FAKE_START_MS).toISOString();
const ROTATED = "keyring-rotated-1.0.json";
/** The second of the two files that a rotation leaves: as the first, but for its number. */
const ROTATED_NAME = "keyring-3.json";

async function rotate(): Promise<VaultRoom> {
  const room = createVaultRoom({ seed: "golden" });
  await room.create();
  const { store, ports } = room;
  const random = createSeededRandom("golden rotation");
  await rotateTaskKey({ taskId: TASK_ID, store, ports, random, sources: [KEY_SOURCE], clock: new FakeClock() });
  return room;
}

/** With two generations of the task's key, of which the newer one seals. */
async function openRotated(keyring: Uint8Array): Promise<TaskVault> {
  const room = createVaultRoom({ seed: "golden" });
  await room.store.putOnce(ROTATED_NAME, keyring);
  return room.open();
}

const ANSWER = { kind: "answer", question: "q", answer: "yes", by: "ada", at: AT, mark: TASK_ID };
const SECOND_KEY = `control/answer-${"a".repeat(40)}~2`;
const GUIDANCE = { kind: "guidance", text: "be brief", path: "main/look", by: "ada", at: AT, mark: TASK_ID };

const plain = (): TaskVault => createPlainVault(JOURNAL_TASK_ID);
const PLAIN_ANSWER = `control/answer-${"a".repeat(40)}~0`;
const TOLD = {
  seq: 1,
  n: 6,
  steps: ["research/step1@1.1", "research/step2@1.1"],
  outputs: ["research/step1", "research/step2"],
};

const CLAIMS = `workflow: {name: claims, runtime: {provider: local}}
phases:
  - name: look
    specialists: [{name: a, prompt: look, model: m}]
    evaluate: {scorers: [{dimension: quality, expression: "60"}], approve: 50}
    confidence: {minimum: 0.2}
`;

function openState() {
  const fileSystem = new MemoryFileSystem("/");
  const deps = {
    fileSystem,
    random: createSeededRandom("golden"),
    environment: { stateFolder: "/state" },
    log: { warn: () => undefined },
    store: { manifest: { durable: true } },
  } as unknown as CalibrationDeps;
  return { fileSystem, deps };
}

const claimsFolder = `/state/calibration/claims-${sha256Hex("claims").slice(0, 12)}`;

async function makeClaims(): Promise<Uint8Array> {
  const { definition } = await loadText(CLAIMS);
  const { fileSystem, deps } = openState();
  const perform = (step: { readonly kind: string }) =>
    step.kind === "scorer" ? done({ score: 60 }) : done("x", { confidence: 0.95 });
  const harness = new EngineHarness(definition, { perform });
  harness.run();
  const { task } = harness.state;
  if (task === undefined) throw new Error("the task did not begin");
  const ended = { ...harness.state, task: { ...task, id: TASK_ID as never, startedAtMs: FAKE_START_MS } };
  await keepClaims(deps, ended, defaultSettings());
  const [, node] = [...fileSystem.nodes].find(([path]) => path.startsWith(`${claimsFolder}/`)) ?? [];
  return Buffer.from(node?.bytes ?? []);
}

/** A claim counts from the third task on. */
async function readClaims(bytes: Uint8Array): Promise<unknown> {
  const { definition } = await loadText(CLAIMS);
  const { fileSystem, deps } = openState();
  for (const start of [1, 2, 3])
    fileSystem.addFile(`${claimsFolder}/${FAKE_START_MS + start}_${TASK_ID}.json`, bytes);
  return loadTrackRecords(deps, definition, defaultSettings());
}

export const VARIANTS: readonly GoldenFormat[] = [
  {
    name: ROTATED,
    make: async () => (await (await rotate()).store.get(ROTATED_NAME)) ?? Buffer.alloc(0),
    read: async (bytes) => {
      const { keys, min_revision: lowest } = decodeKeyring(bytes, ROTATED_NAME).header;
      return { lowest, states: keys.map(({ state }) => state), opened: (await openRotated(bytes)).generations };
    },
    tells: { lowest: 2, states: ["retired", "active"], opened: [2, 1] },
  },
  {
    name: "answer-second-key-1.0.txt",
    make: async () => encodeControlFile(await openRotated(loadGolden(ROTATED)), SECOND_KEY, ANSWER),
    read: async (bytes) => decodeControlFile(await openRotated(loadGolden(ROTATED)), SECOND_KEY, bytes),
    tells: ANSWER,
  },
  control("request-guidance-1.0.txt", `control/request-${TASK_ID}~1`, GUIDANCE),
  {
    name: "snapshot-again-1.0.json",
    make: () => makeSnapshot({ resealedIn: 2 }),
    read: (bytes, reader) => readSnapshot(bytes, reader, "~2"),
    tells: TOLD,
  },
  {
    name: "plain-segment-1.0.jsonl",
    make: () => makeSegment({ writer: plain() }),
    read: (bytes, reader = plain()) => readSegment(bytes, "1-0", reader),
    tells: { texts: ["note 1", "note 2", "long long lo"], damage: [], lost: [] },
  },
  {
    name: "plain-snapshot-1.0.json",
    make: () => makeSnapshot({ writer: plain() }),
    read: (bytes, reader = plain()) => readSnapshot(bytes, reader),
    tells: TOLD,
  },
  {
    name: "plain-blob-1.0.bin.b64",
    make: () => makeBlob({ writer: plain() }),
    read: (bytes, reader = plain()) => readBlob(bytes, reader, "plain-blob-1.0.bin.b64"),
    tells: VALUE,
  },
  {
    name: "plain-answer-1.0.txt",
    make: () => Promise.resolve(encodeControlFile(plain(), PLAIN_ANSWER, ANSWER)),
    read: (bytes, reader = plain()) => Promise.resolve(decodeControlFile(reader, PLAIN_ANSWER, bytes)),
    tells: ANSWER,
  },
  {
    name: "calibration-1.0.json",
    make: makeClaims,
    read: readClaims,
    tells: { "main/look/a": { tasks: 3, claimed: 0.95, measured: 0.6 } },
  },
];
