/** What `keys show` and `keys verify` tell of a keyring: plain facts, no secret, and no key needed for the first. */
import type { KeyringKey, KeyringSlot } from "../schema/generated/keyring.js";
import { SplashdownError } from "../base/errors.js";
import { isKeyringAuthentic } from "./keyring-format.js";
import {
  isUnfinished,
  loadKeyring,
  type DamagedRevision,
  type KeyringObjects,
  type LoadedKeyring,
} from "./keyring-revisions.js";
import { readSources, type KeyPorts, type KeySourceSetting, type SourceState } from "./key-source.js";
import { withKeptOrigin } from "./task-vault.js";
import { selectCheap, selectPairs, tryPair, unlockKeyring, type Attempt, type KeyringTrust } from "./unlocking.js";

export interface SlotView {
  readonly type: KeyringSlot["type"];
  readonly label: string;
  readonly fingerprint: string;
  /** `scrypt 2^17, r 8, p 1`, `command`, or absent where the secret is the key. */
  readonly derivation?: string;
}

export interface KeyView {
  readonly id: string;
  readonly generation: number;
  readonly active: boolean;
  readonly createdAt: string;
  readonly slots: readonly SlotView[];
}

export interface KeyringView {
  readonly file: string;
  readonly task: string;
  readonly revision: number;
  /** No older revision counts. */
  readonly minRevision: number;
  /** The highest one that is there, readable or not. */
  readonly revisionMax: number;
  readonly minGeneration: number;
  /** Who signed the task's first key, by public key; absent where nobody did. */
  readonly origin?: string;
  readonly keys: readonly KeyView[];
  readonly damaged: readonly DamagedRevision[];
  /** A change that is to stand in two files was cut off (V19); the next one who owns the task, or changes its keys, ends it. */
  readonly unfinished: boolean;
}

/**
 * The keyring that counts, as its file tells it.
 *
 * Shape: `undefined` when the task has none. Not authenticated: that needs a key, see `verifyKeyring`.
 * Errors: KEYRING_CORRUPT, FORMAT_VERSION.
 */
export async function inspectKeyring(store: KeyringObjects): Promise<KeyringView | undefined> {
  const loaded = await loadKeyring(store);
  return loaded === undefined ? undefined : viewKeyring(loaded);
}

function viewKeyring(loaded: LoadedKeyring): KeyringView {
  const { header } = loaded.keyring;
  return {
    file: loaded.file,
    task: header.task,
    revision: header.rev,
    minRevision: header.min_revision ?? 1,
    revisionMax: loaded.revMax,
    ...(header.origin === undefined ? {} : { origin: header.origin.key }),
    minGeneration: header.min_generation,
    keys: header.keys.map((key) => ({
      id: key.id,
      generation: key.generation,
      active: key.id === header.active,
      createdAt: key.created,
      slots: key.slots.map(viewSlot),
    })),
    damaged: loaded.damaged,
    unfinished: isUnfinished(loaded),
  };
}

function viewSlot(slot: KeyringSlot): SlotView {
  const { type, label, fingerprint, kdf } = slot;
  if (kdf === undefined) return { type, label, fingerprint };
  const derivation = kdf.name === "scrypt" ? `scrypt 2^${kdf.log2n}, r ${kdf.r}, p ${kdf.p}` : "command";
  return { type, label, fingerprint, derivation };
}

export interface SlotVerdict extends SlotView {
  readonly key: string;
  /** `opens`; `absent`: no source of its kind is at hand; `wrong`: another secret; `tampered`; `failed`: see `reason`. */
  readonly verdict: "opens" | "absent" | "wrong" | "tampered" | "failed";
  readonly reason?: string;
  /** The source that was tried, for people. */
  readonly source?: string;
}

export interface KeyringVerdict {
  readonly view: KeyringView;
  readonly slots: readonly SlotVerdict[];
  /** Whether the keyring is ours; `undefined` when no slot of the active key opens. */
  readonly authentic: boolean | undefined;
  /** Why it does not count though it opens: nobody is known to have locked it, or it is another task's (V21). */
  readonly refusal?: SplashdownError;
  /** Sources that are configured and unusable. */
  readonly problems: readonly string[];
}

/**
 * Tries every slot with every source of its kind.
 *
 * Shape: `undefined` when the task has no keyring. Wrong and absent secrets are verdicts, not errors.
 * Errors: KEYRING_CORRUPT, FORMAT_VERSION.
 */
export async function verifyKeyring(options: {
  readonly store: KeyringObjects;
  readonly sources: readonly KeySourceSetting[];
  readonly ports: KeyPorts;
  readonly trust?: KeyringTrust;
}): Promise<KeyringVerdict | undefined> {
  const loaded = await loadKeyring(options.store);
  if (loaded === undefined) return undefined;
  const { header } = loaded.keyring;
  const sources = await readSources(options.sources, options.ports);
  const slots: SlotVerdict[] = [];
  let authentic: boolean | undefined;
  for (const key of header.keys) {
    const attempts = await tryAll(key, header.task, options.trust?.isFrugal === true ? selectCheap(sources) : sources);
    const opened = attempts.find((attempt) => "outcome" in attempt && attempt.outcome.state === "opened");
    if (key.id === header.active && opened !== undefined && "outcome" in opened && opened.outcome.state === "opened") {
      authentic = isKeyringAuthentic(loaded.keyring, opened.outcome.key);
    }
    for (const slot of key.slots) slots.push(judgeSlot(key, slot, attempts));
  }
  const problems = sources.flatMap(({ problem }) => (problem === undefined ? [] : [problem.message]));
  const refusal = authentic === true ? await findRefusal(loaded, sources, options) : undefined;
  return { view: viewKeyring(loaded), slots, authentic, problems, ...(refusal === undefined ? {} : { refusal }) };
}

async function findRefusal(
  { keyring, file }: LoadedKeyring,
  sources: readonly SourceState[],
  options: { readonly ports: KeyPorts; readonly trust?: KeyringTrust },
): Promise<SplashdownError | undefined> {
  try {
    await unlockKeyring({ keyring, file, sources, trust: await withKeptOrigin(options.trust, options.ports) });
    return undefined;
  } catch (error) {
    if (error instanceof SplashdownError && error.code !== "INTERNAL") return error;
    throw error;
  }
}

async function tryAll(key: KeyringKey, task: string, sources: readonly SourceState[]): Promise<Attempt[]> {
  const attempts: Attempt[] = [];
  for (const pair of selectPairs(key, sources)) attempts.push(await tryPair(pair, { task, keyId: key.id }));
  return attempts;
}

/** The best thing that any source made of the slot. */
function judgeSlot(key: KeyringKey, slot: KeyringSlot, attempts: readonly Attempt[]): SlotVerdict {
  const own = attempts.filter((attempt) => attempt.slot === slot).map(judgeAttempt);
  const order: readonly SlotVerdict["verdict"][] = ["opens", "tampered", "failed", "wrong"];
  const best = order.map((verdict) => own.find((candidate) => candidate.verdict === verdict)).find(Boolean);
  return { ...viewSlot(slot), key: key.id, ...(best ?? { verdict: "absent" as const }) };
}

function judgeAttempt(attempt: Attempt): Pick<SlotVerdict, "verdict" | "reason" | "source"> {
  const source = attempt.source.label;
  if ("problem" in attempt) return { verdict: "failed", reason: describe(attempt.problem), source };
  const { state } = attempt.outcome;
  return { verdict: state === "opened" ? "opens" : state, source };
}

function describe(problem: SplashdownError): string {
  return problem.message;
}
