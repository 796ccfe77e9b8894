/**
 * Makes and opens the vault of one task.
 *
 * Owns: the first key generation and its keyring, and the opening of a task that exists. `sealing.ts` seals with the
 * keys, `unlocking.ts` unwraps them, `keyring-revisions.ts` keeps the files.
 *
 * V13: a keyring is durable before anything is sealed with its key, and it was opened from its own bytes, with every
 * source at hand, before it got its name.
 */
import { writeCommand } from "../base/command-text.js";
import type { Clock } from "../base/clock.js";
import { assert, SplashdownError } from "../base/errors.js";
import type { KeyId } from "../base/ids.js";
import { silentLog, type Log } from "../base/log.js";
import type { RandomSource } from "../base/random.js";
import type { KeyringHeader, KeyringKey, KeyringSlot } from "../schema/generated/keyring.js";
import type { KeyringStanding, TaskVault } from "./contract.js";
import { computeFingerprint, isSameBytes, KEY_BYTES } from "./derivation.js";
import type { Keyring } from "./keyring-format.js";
import { loadKeyring, saveFirstRevision, type KeyringObjects, type LoadedKeyring } from "./keyring-revisions.js";
import {
  canOpen,
  isReadySource,
  readSources,
  type KeyPorts,
  type KeySourceSetting,
  type ReadySource,
  type ScryptCost,
  type SourceState,
} from "./key-source.js";
import { beginLineage, firstKeyOf, originOfKeptKey, originsOf, signOrigin, type SigningKey } from "./origin.js";
import { createPlainVault, createSealedVault } from "./sealing.js";
import { createSlot, isSlotFor, openSlot, SCRYPT_COST, type PassphraseSalts, type SlotPlace } from "./slot.js";
import { unlockKeyring, type KeyringTrust } from "./unlocking.js";

export interface CreateVaultOptions {
  readonly taskId: string;
  readonly store: KeyringObjects;
  readonly sources: readonly KeySourceSetting[];
  readonly ports: KeyPorts;
  readonly random: RandomSource;
  readonly clock: Pick<Clock, "nowMs">;
  readonly scryptCost?: ScryptCost;
  /** Sources that are not at hand are named here. */
  readonly log?: Log;
}

/**
 * Makes a task's key, wraps it for every source at hand and writes the first keyring.
 *
 * Shape: when the task has a keyring already (somebody was faster, or a first start died), that one is opened.
 * Errors: KEY_NOT_CREATED when no source is at hand; KEY_SOURCE_INVALID when one is unusable; those of `openTaskVault`.
 */
export async function createTaskVault(options: CreateVaultOptions): Promise<TaskVault> {
  const { taskId, store, random } = options;
  const sources = await readSources(options.sources, options.ports);
  const ready = requireReady(sources, options.log ?? silentLog);
  const bytes = random.bytes(KEY_BYTES);
  const id = computeFingerprint(bytes, "task-key");
  const entry = await createKeyEntry({ ...options, id, bytes, ready });
  const begun = { task: taskId, lineage: beginLineage({ id, generation: entry.generation, bytes }) };
  const signer = await findOrigin(ready, options.ports);
  const origin = signer === undefined ? undefined : signOrigin(begun, signer);
  const header = {
    ...begun,
    active: id,
    min_generation: entry.generation,
    keys: [entry],
    ...(origin === undefined ? {} : { origin }),
  };
  const created = await saveFirstRevision(store, { header, activeKey: bytes }, (keyring) =>
    proveKeyring(keyring, { sources: ready, key: bytes }),
  );
  if (!created) return openTaskVault(options);
  const active = { id, generation: entry.generation, bytes };
  return createSealedVault({
    taskId,
    active,
    keys: [active],
    minGeneration: entry.generation,
    random,
    allowPlain: false,
    keyring: standingOf({ ...header, rev: 1 }),
    lineage: [id],
  });
}

/** With what an owner signs: an age identity or a key that is at hand, else the kept origin, where there is one. */
export async function findOrigin(ready: readonly ReadySource[], ports: KeyPorts): Promise<SigningKey | undefined> {
  const byIdentity = [...ready].sort((left, right) => rankSigner(left) - rankSigner(right));
  const [own] = byIdentity.flatMap(({ secret }) => originsOf(secret));
  if (own !== undefined) return own;
  const kept = await ports.readKeptOrigin?.();
  return kept === undefined ? undefined : originOfKeptKey(kept);
}

function rankSigner({ secret }: ReadySource): number {
  return secret.nature === "age" ? 0 : 1;
}

export function standingOf(header: KeyringHeader): KeyringStanding {
  const active = header.keys.find(({ id }) => id === header.active);
  assert(active !== undefined, "a keyring without its active key was opened");
  return {
    revision: header.rev,
    minRevision: header.min_revision ?? 1,
    generation: active.generation,
    firstKey: firstKeyOf(header),
  };
}

/** The sources that a new keyring is made for. A configured one that is unusable must not be left out in silence. */
export function requireReady(sources: readonly SourceState[], log: Log): ReadySource[] {
  const problem = sources.find((source) => source.problem !== undefined)?.problem;
  if (problem !== undefined) throw problem;
  const ready = sources.filter(isReadySource);
  const looked = sources.map(describeLooked);
  if (!ready.some(({ secret }) => canOpen(secret))) {
    const where = looked.length === 0 ? "no key source is configured" : `looked in ${looked.join("; ")}`;
    throw new SplashdownError("KEY_NOT_CREATED", `no key is at hand to seal the task with; ${where}`, {
      details: { looked_in: looked, ...nameMaker(sources) },
    });
  }
  for (const { label, absence } of sources) {
    if (absence !== undefined) log.warn(`the task cannot be opened with the ${label}: ${absence}`);
  }
  return ready;
}

function describeLooked({ label, absence, secret }: SourceState): string {
  const what = absence ?? (secret !== undefined && !canOpen(secret) ? "only locks: it has no identity" : undefined);
  return what === undefined ? label : `${label}: ${what}`;
}

/** The command that makes the one key file that is configured and not there. */
function nameMaker(sources: readonly SourceState[]): { commands?: string[] } {
  const file = sources.map(({ setting }) => setting).find((setting) => setting.kind === "keyfile");
  return file === undefined ? {} : { commands: [writeCommand("keys init", [], { "--key-file": file.path })] };
}

interface KeyEntryOptions extends CreateVaultOptions {
  readonly id: KeyId;
  readonly bytes: Uint8Array;
  readonly ready: readonly ReadySource[];
}

async function createKeyEntry(options: KeyEntryOptions): Promise<KeyringKey> {
  const { taskId, id, bytes, ready, random, clock } = options;
  const scryptCost = options.scryptCost ?? SCRYPT_COST;
  const derivations: PassphraseSalts = new Map();
  const slots: KeyringSlot[] = [];
  for (const source of ready) {
    const { secret } = source;
    slots.push(
      await createSlot({ task: taskId, keyId: id, source, secret, key: bytes, random, scryptCost, derivations }),
    );
  }
  return { id, generation: 1, state: "active", created: new Date(clock.nowMs()).toISOString(), slots };
}

/**
 * Opens every slot of the active key that a source at hand is for, as a reader would, from the file's own bytes.
 *
 * Errors: KEY_SOURCE_INVALID when a source does not open what was made for it; INTERNAL when a slot is nobody's.
 * Source: STORAGE section 1.6 (keyring), sops issue 479.
 */
export async function proveKeyring(
  keyring: Keyring,
  proof: { readonly sources: readonly ReadySource[]; readonly key: Uint8Array },
): Promise<void> {
  const { header } = keyring;
  const entry = header.keys.find((key) => key.id === header.active);
  assert(entry !== undefined, "a keyring without its active key was built");
  assert(
    proof.sources.some(({ secret }) => canOpen(secret)),
    "a keyring was built that no source opens",
  );
  for (const source of proof.sources) {
    if (!canOpen(source.secret)) continue;
    if (await opensKey(entry, source, { task: header.task, key: proof.key })) continue;
    throw new SplashdownError("KEY_SOURCE_INVALID", `the ${source.label} does not open what it was just used to seal`, {
      details: { source: source.label },
    });
  }
}

/** True when the source opens the entry and gives that very key. Errors: those of a key command. */
export async function opensKey(
  entry: KeyringKey,
  source: ReadySource,
  expected: { readonly task: string; readonly key: Uint8Array },
): Promise<boolean> {
  const { secret } = source;
  const place: SlotPlace = { task: expected.task, keyId: entry.id };
  for (const slot of entry.slots) {
    if (slot.type !== source.setting.kind || !isSlotFor(slot, secret)) continue;
    const outcome = await openSlot(slot, secret, place);
    if (outcome.state === "opened" && isSameBytes(outcome.key, expected.key)) return true;
  }
  return false;
}

export interface OpenVaultOptions {
  /** Absent: whichever task the keyring is of. */
  readonly taskId?: string;
  readonly store: KeyringObjects;
  readonly sources: readonly KeySourceSetting[];
  readonly ports: KeyPorts;
  readonly random: RandomSource;
  /** `encryption: false` was set: a task without a keyring is opened as plain (needs `taskId`), plain files are read. */
  readonly allowPlain?: boolean;
  readonly log?: Log;
  readonly trust?: KeyringTrust;
}

/**
 * Opens the vault of a task that exists; writes nothing.
 *
 * Errors: KEYRING_CORRUPT (damaged, or there is none), FORMAT_VERSION, TASK_SWAPPED (of another task), KEY_MISSING,
 * KEY_WRONG, KEY_SOURCE_INVALID, KEYRING_TAMPERED, KEYRING_UNPROVEN, KEYRING_FOREIGN, KEY_NOT_TRIED.
 */
export async function openTaskVault(options: OpenVaultOptions): Promise<TaskVault> {
  const allowPlain = options.allowPlain ?? false;
  const loaded = await loadKeyring(options.store);
  if (loaded === undefined) {
    if (allowPlain && options.taskId !== undefined) return createPlainVault(options.taskId);
    throw new SplashdownError(
      "KEYRING_CORRUPT",
      "the task has no keyring; only a task written with encryption: false has none",
      {
        details: { task: options.taskId ?? null },
      },
    );
  }
  requireTask(loaded, options.taskId);
  reportDamage(loaded, options.log ?? silentLog);
  const { keyring, file } = loaded;
  const sources = await readSources(options.sources, options.ports);
  const trust = await withKeptOrigin(options.trust, options.ports);
  const { active, keys } = await unlockKeyring({ keyring, file, sources, trust });
  const { task, min_generation: minGeneration } = keyring.header;
  const { random } = options;
  return createSealedVault({
    taskId: task,
    active,
    keys,
    minGeneration,
    random,
    allowPlain,
    keyring: standingOf(keyring.header),
    lineage: keyring.header.lineage.map((entry) => entry.id),
  });
}

/** What is trusted, and what the user's own kept origin signed. */
export async function withKeptOrigin(trust: KeyringTrust | undefined, ports: KeyPorts): Promise<KeyringTrust> {
  const kept = await ports.readKeptOrigin?.();
  if (kept === undefined) return trust ?? {};
  return { ...trust, origins: [...(trust?.origins ?? []), originOfKeptKey(kept).publicKey] };
}

/** Errors: TASK_SWAPPED. */
export function requireTask(loaded: LoadedKeyring, taskId: string | undefined): void {
  const { task } = loaded.keyring.header;
  if (taskId === undefined || task === taskId) return;
  throw new SplashdownError(
    "TASK_SWAPPED",
    `the keyring file ${loaded.file} belongs to task ${task}, not to ${taskId}`,
    {
      details: { file: loaded.file, task: taskId, found: task },
    },
  );
}

function reportDamage(loaded: LoadedKeyring, log: Log): void {
  for (const { problem } of loaded.damaged) log.warn(`${problem}; ${loaded.file} is used instead`);
}
