/**
 * Changes of a task's keyring: another way to open it, one less, fresh wraps, a new task key.
 *
 * Owns: which slots the next revision has. keyring-revisions.ts gives it its number, keyring-format.ts its bytes. The
 * data of the task is not touched: all of these cost the same for a task of any size.
 *
 * V17: whoever changes a keyring can open every generation in it, before and after: the new revision is proved from its
 * own bytes, for each of its keys, before it gets its name. V18: a slot that cannot be wrapped again (its secret is not at
 * hand) is dropped only when that was said beforehand. What takes something away, or gives another key, ends as
 * keyring-revocation.ts has it (V19). V20: a generation is given out once, though the revision that tells of it is damaged
 * or gone: a revision makes one more at most, and what is named after generations tells of them.
 * Source: STORAGE sections 1.6 (keyring), 2.3.
 */
import { assert, SplashdownError } from "../base/errors.js";
import { LIMITS } from "../base/limits.js";
import { formatCount } from "../base/plain-text.js";
import type { KeyringHeader, KeyringKey, KeyringSlot } from "../schema/generated/keyring.js";
import { computeFingerprint, KEY_BYTES } from "./derivation.js";
import { decodeKeyring, encodeKeyring } from "./keyring-format.js";
import { type KeyringDraft, loadKeyring, saveNextRevision } from "./keyring-revisions.js";
import { openAll, requireActive, type KeyringChangeOptions, type OpenedKeyring } from "./keyring-opening.js";
import { isLockedFor, lockedOut, proveEveryKey } from "./keyring-proof.js";
import { finishRevocation } from "./keyring-revocation.js";
import { isReadySource, type KeyPorts, type KeySourceSetting, type ReadySource, readSources } from "./key-source.js";
import { extendLineage, signOrigin } from "./origin.js";
import { findPassphraseSalts } from "./passphrase-salts.js";
import type { TaskKey } from "./sealing.js";
import { createSlot, SCRYPT_COST, sumScryptWork, type PassphraseSalts } from "./slot.js";
import { findOrigin, opensKey } from "./task-vault.js";
import { formatSlot, selectPairs, tryPair } from "./unlocking.js";

const KEYS_MAX = LIMITS.keyringSlotsMax;
/** Derived at the cost that is written. */
const KEYRING_PASSPHRASES_MAX = 8;

/** What a change came to; `revision` is absent where nothing had to be changed. */
export interface KeyringChange {
  readonly task: string;
  readonly revision?: number;
  /** The key that new files are sealed with. */
  readonly active: string;
  readonly generation: number;
  /** `type fingerprint (label)` of slots. */
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

interface Edit {
  readonly keys: readonly KeyringKey[];
  /** The active key, when it is another one now. */
  readonly active?: TaskKey;
  readonly minGeneration?: number;
  /** Not to hang on one file: something is taken away, or there is a new key (V19). */
  readonly isDoubled?: boolean;
}

/**
 * Adds a way to open every generation; nothing is changed where it opens them all already.
 *
 * Errors: KEY_SOURCE_INVALID when the new source gives nothing usable; those of `openTaskVault`.
 */
export async function addKeySource(options: KeyringChangeOptions, setting: KeySourceSetting): Promise<KeyringChange> {
  const source = await requireSource(setting, options.ports);
  return changeKeyring(options, [source], async (opened) => {
    const keys = await openForAll(options, opened, [source]);
    return keys.every((entry, at) => entry === opened.header.keys[at]) ? undefined : { keys };
  });
}

/**
 * Takes a way to open it from every generation, by its fingerprint, label or type.
 *
 * Errors: KEY_SLOT_NOT_FOUND naming those there are; KEY_LOCKED_OUT when none of the sources at hand would open it any
 * more; those of `openTaskVault`.
 */
export async function removeKeySlots(options: KeyringChangeOptions, name: string): Promise<KeyringChange> {
  const isNamed = ({ fingerprint, label, type }: KeyringSlot): boolean => [fingerprint, label, type].includes(name);
  return changeKeyring(options, [], ({ header }) => {
    const slots = header.keys.flatMap((entry) => entry.slots);
    if (!slots.some(isNamed)) {
      throw new SplashdownError(
        "KEY_SLOT_NOT_FOUND",
        `nothing named ${name} opens it; there are ${[...new Set(slots.map(formatSlot))].join(", ")}`,
        { details: { name, slots: slots.map(({ fingerprint }) => fingerprint) } },
      );
    }
    const keys = header.keys.map((entry) => ({ ...entry, slots: entry.slots.filter((slot) => !isNamed(slot)) }));
    if (keys.some(({ slots: left }) => left.length === 0)) throw lockedOut(`${name} is the only way to open it`);
    return Promise.resolve({ keys, isDoubled: true });
  });
}

/**
 * Wraps the keys anew, for every source at hand and for no other: after a key file or passphrase was changed or may be
 * known to others. The task's keys stay: whoever has one of them keeps it.
 *
 * Errors: KEY_NOT_CREATED, KEY_SOURCE_INVALID; KEY_LOCKED_OUT when slots of sources that are not at hand would go and
 * `dropAbsent` is not set; those of `openTaskVault`.
 */
export async function rewrapKeys(
  options: KeyringChangeOptions,
  { dropAbsent = false }: { readonly dropAbsent?: boolean } = {},
): Promise<KeyringChange> {
  return changeKeyring(options, [], async (opened) => {
    const { header, keys, ready } = opened;
    if (!dropAbsent) await refuseDropping(header.keys, opened);
    const entries: KeyringKey[] = [];
    const salts: PassphraseSalts = new Map();
    for (const [at, key] of keys.entries()) {
      const entry = header.keys[at];
      if (entry !== undefined)
        entries.push({ ...entry, slots: await wrapAll(options, { task: header.task, key, ready, salts }) });
    }
    return { keys: entries, isDoubled: true };
  });
}

export interface RotationOptions {
  readonly dropAbsent?: boolean;
  /** Where the keyring is full nothing is changed, instead of the error. */
  readonly isFullKept?: boolean;
}

/**
 * Makes the next generation of the task's key: new files are sealed with it, older generations stay for older files.
 *
 * Errors: as `rewrapKeys`; KEYRING_FULL when the keyring holds as many as it can.
 */
export async function rotateTaskKey(
  options: KeyringChangeOptions,
  { dropAbsent = false, isFullKept = false }: RotationOptions = {},
): Promise<KeyringChange> {
  return changeKeyring(options, [], async (opened) => {
    const { header, ready, salts } = opened;
    if (!dropAbsent)
      await refuseDropping(
        header.keys.filter((entry) => entry.id === header.active),
        opened,
      );
    const bytes = options.random.bytes(KEY_BYTES);
    const generation = (await findHighestGeneration(options, opened)) + 1;
    const key: TaskKey = { id: computeFingerprint(bytes, "task-key"), generation, bytes };
    const entry: KeyringKey = {
      id: key.id,
      generation,
      state: "active",
      created: new Date(options.clock.nowMs()).toISOString(),
      slots: await wrapAll(options, { task: header.task, key, ready, salts }),
    };
    const older = await openForAll(options, opened, ready);
    const keys = [...older.map((one): KeyringKey => ({ ...one, state: "retired" })), entry];
    return isFullKept && isTooFull(keys) ? undefined : { keys, active: key, isDoubled: true };
  });
}

/** As far as generations were given out, those in revisions that cannot be read any more counted (V20). */
async function findHighestGeneration(options: KeyringChangeOptions, opened: OpenedKeyring): Promise<number> {
  const { header, lostRevisions } = opened;
  const listed = Math.max(...header.keys.map(({ generation }) => generation));
  return Math.max(listed + lostRevisions, (await options.highestNamed?.()) ?? 0);
}

/**
 * Refuses files of generations below one from now on and forgets their keys. For after everything was sealed again under
 * that one; whoever made a newer one meanwhile keeps it, and this one.
 *
 * Errors: those of `openTaskVault`.
 */
export async function retireKeysBelow(options: KeyringChangeOptions, generation: number): Promise<KeyringChange> {
  return changeKeyring(options, [], ({ header }) => {
    const kept = header.keys.filter((entry) => entry.generation >= generation);
    const minGeneration = Math.max(header.min_generation, generation);
    const isDone = kept.length === header.keys.length && minGeneration === header.min_generation;
    return Promise.resolve(isDone ? undefined : { keys: kept, minGeneration, isDoubled: true });
  });
}

/** A keyring that is written nowhere yet. */
export interface CarriedKeyring {
  /** Name below the task's checkpoints, as that of the revision it was made from. */
  readonly key: string;
  readonly bytes: Buffer;
  /** `type fingerprint (label)` of what opens it. */
  readonly slots: readonly string[];
}

/**
 * The task's keyring for others: every generation, wrapped for the named sources and for nobody else. Nothing is changed.
 *
 * Errors: KEY_SOURCE_INVALID when a named source gives nothing usable; those of `openTaskVault`.
 */
export async function wrapForOthers(
  options: KeyringChangeOptions,
  settings: readonly KeySourceSetting[],
): Promise<CarriedKeyring> {
  const others: ReadySource[] = [];
  for (const setting of settings) others.push(await requireSource(setting, options.ports));
  const loaded = await loadKeyring(options.store);
  if (loaded === undefined) throw new SplashdownError("KEYRING_CORRUPT", "the task has no keyring to wrap for others");
  const opened = await openAll(options, loaded);
  // Nothing stands before it where it is carried to.
  const { min_revision: _min, ...header } = opened.header;
  const keys: KeyringKey[] = [];
  const salts: PassphraseSalts = new Map();
  for (const [at, key] of opened.keys.entries()) {
    const entry = header.keys[at];
    if (entry !== undefined)
      keys.push({ ...entry, slots: await wrapAll(options, { task: header.task, key, ready: others, salts }) });
  }
  const bytes = encodeKeyring({ ...header, keys }, requireActive(opened).bytes);
  const proof = {
    ready: others,
    added: others,
    isForOthers: true,
    keys: new Map(opened.keys.map((key) => [key.id, key.bytes])),
  };
  await proveEveryKey(decodeKeyring(bytes, loaded.file), proof);
  return { key: loaded.file, bytes, slots: listSlots(keys) };
}

/** With the salts of the passphrases at hand: the next slot of one takes the same. */
type Changing = OpenedKeyring & { readonly salts: PassphraseSalts };

async function changeKeyring(
  options: KeyringChangeOptions,
  added: readonly ReadySource[],
  edit: (opened: Changing) => Promise<Edit | undefined>,
): Promise<KeyringChange> {
  await finishRevocation(options);
  let change: Omit<KeyringChange, "revision"> | undefined;
  let keysAfter: ReadonlyMap<string, Uint8Array> = new Map();
  let ready: readonly ReadySource[] = [];
  const revision = await saveNextRevision(
    options.store,
    async (loaded): Promise<KeyringDraft | undefined> => {
      const opened = await openAll(options, loaded);
      ready = [...opened.ready, ...added];
      const before = opened.header;
      const salts = await findPassphraseSalts(before, ready, options.scryptCost ?? SCRYPT_COST);
      const edited = await edit({ ...opened, salts });
      const active = edited?.active ?? requireActive(opened);
      const keys = edited?.keys ?? before.keys;
      change = {
        task: before.task,
        active: active.id,
        generation: active.generation,
        ...compareSlots(before.keys, keys),
      };
      if (edited === undefined) return undefined;
      const { rev: _rev, ...kept } = before;
      const header = {
        ...kept,
        ...(await vouch(options, opened, edited.active)),
        min_generation: edited.minGeneration ?? before.min_generation,
      };
      if (isTooFull(keys) || header.lineage.length > LIMITS.keyLineageMax) throw full(before);
      keysAfter = new Map([...opened.keys, active].map((key) => [key.id, key.bytes]));
      const isDoubled = edited.isDoubled === true;
      return { header: { ...header, keys: [...keys], active: active.id }, activeKey: active.bytes, isDoubled };
    },
    (keyring) => proveEveryKey(keyring, { ready, added, keys: keysAfter }),
  );
  assert(change !== undefined, "a keyring was changed without being read");
  if (revision === undefined) return change;
  return { ...change, revision: (await finishRevocation(options)) ?? revision };
}

/** Who vouches for the keys from now on: the active key for the next one, an owner at hand for a task that nobody signed. */
async function vouch(
  { ports }: KeyringChangeOptions,
  opened: OpenedKeyring,
  next: TaskKey | undefined,
): Promise<Pick<KeyringHeader, "lineage" | "origin">> {
  const { header, ready } = opened;
  const lineage = next === undefined ? header.lineage : extendLineage(header, { active: requireActive(opened), next });
  if (header.origin !== undefined) return { lineage };
  const signer = await findOrigin(ready, ports);
  const origin = signer === undefined ? undefined : signOrigin({ ...header, lineage }, signer);
  return { lineage, ...(origin === undefined ? {} : { origin }) };
}

function isTooFull(keys: readonly KeyringKey[]): boolean {
  const slots = keys.flatMap((key) => key.slots);
  return (
    keys.length > KEYS_MAX ||
    slots.length > LIMITS.keyringSlotsMax ||
    sumScryptWork(slots) > LIMITS.scryptKeyringWorkMax
  );
}

function full({ keys, task }: KeyringHeader): SplashdownError {
  const [generations, slots] = [keys.length, keys.flatMap((key) => key.slots).length];
  const held = `${formatCount(generations, "generation")} of the task's key in ${formatCount(slots, "slot")}`;
  const most = `no more than ${KEYS_MAX} of either and ${KEYRING_PASSPHRASES_MAX} passphrases`;
  return new SplashdownError("KEYRING_FULL", `the keyring holds ${held}, and ${most}`, {
    details: { workflow_id: task, generations, slots },
  });
}

async function requireSource(setting: KeySourceSetting, ports: KeyPorts): Promise<ReadySource> {
  const [source] = await readSources([setting], ports);
  assert(source !== undefined, "one setting gives one source");
  if (isReadySource(source)) return source;
  throw (
    source.problem ??
    new SplashdownError("KEY_SOURCE_INVALID", `the ${source.label}: ${source.absence ?? "gives nothing"}`, {
      details: { source: source.label },
    })
  );
}

interface WrapRequest {
  readonly task: string;
  readonly key: TaskKey;
  readonly salts: PassphraseSalts;
}

function wrap(
  options: KeyringChangeOptions,
  request: WrapRequest & { readonly source: ReadySource },
): Promise<KeyringSlot> {
  const { task, key, source, salts: derivations } = request;
  const scryptCost = options.scryptCost ?? SCRYPT_COST;
  const { random } = options;
  return createSlot({
    task,
    keyId: key.id,
    source,
    secret: source.secret,
    key: key.bytes,
    random,
    scryptCost,
    derivations,
  });
}

async function wrapAll(
  options: KeyringChangeOptions,
  { ready, ...request }: WrapRequest & { readonly ready: readonly ReadySource[] },
): Promise<KeyringSlot[]> {
  const slots: KeyringSlot[] = [];
  for (const source of ready) slots.push(await wrap(options, { ...request, source }));
  return slots;
}

/** The entries, each with a slot more for every source that does not open it yet. */
async function openForAll(
  options: KeyringChangeOptions,
  { header, keys, salts }: Changing,
  sources: readonly ReadySource[],
): Promise<KeyringKey[]> {
  const { task } = header;
  const entries: KeyringKey[] = [];
  for (const [at, entry] of header.keys.entries()) {
    const key = keys[at];
    const added: KeyringSlot[] = [];
    for (const source of key === undefined ? [] : sources) {
      if (key === undefined || isLockedFor(entry, source) || (await opensKey(entry, source, { task, key: key.bytes })))
        continue;
      added.push(await wrap(options, { task, key, source, salts }));
    }
    entries.push(added.length === 0 ? entry : { ...entry, slots: [...entry.slots, ...added] });
  }
  return entries;
}

/** Slots that no source at hand opens cannot be made again here. */
async function refuseDropping(keys: readonly KeyringKey[], { header, ready }: OpenedKeyring): Promise<void> {
  const lost = new Set<string>();
  for (const entry of keys) {
    const pairs = selectPairs(entry, ready);
    for (const slot of entry.slots) {
      const tried = await Promise.all(
        pairs.filter((pair) => pair.slot === slot).map((pair) => tryPair(pair, { task: header.task, keyId: entry.id })),
      );
      const isOurs =
        tried.some((attempt) => "outcome" in attempt && attempt.outcome.state === "opened") ||
        ready.some((source) => isLockedFor({ ...entry, slots: [slot] }, source));
      if (!isOurs) lost.add(formatSlot(slot));
    }
  }
  if (lost.size === 0) return;
  throw lockedOut(
    `${[...lost].join(", ")} cannot be wrapped again here and would be dropped; with --drop-absent it is`,
    [...lost],
  );
}

function compareSlots(
  before: readonly KeyringKey[],
  after: readonly KeyringKey[],
): Pick<KeyringChange, "added" | "removed"> {
  const [old, now] = [listSlots(before), listSlots(after)];
  return { added: now.filter((slot) => !old.includes(slot)), removed: old.filter((slot) => !now.includes(slot)) };
}

function listSlots(keys: readonly KeyringKey[]): string[] {
  return [...new Set(keys.flatMap(({ slots }) => slots.map(formatSlot)))];
}
