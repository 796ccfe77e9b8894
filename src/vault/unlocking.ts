/**
 * Opens a keyring with what the configured sources give, or says exactly why it cannot.
 *
 * Owns: the order in which slots are tried (cheap ones first), and the choice between the errors a person can act on:
 * no key at hand, a wrong one, a source that is unusable, a keyring that was changed. Source: STORAGE section 2.4.
 *
 * V12: a keyring counts as ours only after its mac was checked with the active key.
 */
import { assert, isErrorCode, SplashdownError } from "../base/errors.js";
import type { KeyId } from "../base/ids.js";
import type { KeyringKey, KeyringSlot } from "../schema/generated/keyring.js";
import { computeFingerprint } from "./derivation.js";
import { isKeyringAuthentic, type Keyring } from "./keyring-format.js";
import { isReadySource, type ReadySource, type Secret, type SourceState } from "./key-source.js";
import { firstKeyOf, isOfOrigin, leadsToActive, originsOf, provesLocker } from "./origin.js";
import type { TaskKey } from "./sealing.js";
import { isSlotFor, openSlot, type SlotOutcome } from "./slot.js";

/** A slot and a source that may open it. */
export interface SlotPair {
  readonly slot: KeyringSlot;
  readonly source: ReadySource;
}

/** What became of one secret on one slot. */
export type Attempt = SlotPair & ({ readonly outcome: SlotOutcome } | { readonly problem: SplashdownError });

export interface UnlockRequest {
  readonly keyring: Keyring;
  /** For messages. */
  readonly file: string;
  readonly sources: readonly SourceState[];
  readonly trust?: KeyringTrust | undefined;
}

/** What is known beside the keyring of who may have locked it. */
export interface KeyringTrust {
  /** The task's first key by its public name, as this machine saw it the first time (origin.ts). */
  readonly firstKey?: string | undefined;
  /** Origins that a person trusts, beside those that the sources make. */
  readonly origins?: readonly string[];
  /** A person has said so, for this once: whoever locked it, and with whatever first key. */
  readonly isAccepted?: boolean;
  /** Nothing that costs is tried: no derivation from a passphrase, no command. */
  readonly isFrugal?: boolean;
}

const EFFORT: Readonly<Record<Secret["nature"], number>> = { key: 0, age: 1, command: 2, passphrase: 3 };

/** The pairs of slot and source that may fit, cheap ones first. */
export function selectPairs(key: KeyringKey, sources: readonly SourceState[]): SlotPair[] {
  const ready = sources.filter(isReadySource);
  ready.sort((left, right) => EFFORT[left.secret.nature] - EFFORT[right.secret.nature]);
  return ready.flatMap((source) =>
    key.slots.filter((slot) => isSlotFor(slot, source.secret)).map((slot) => ({ slot, source })),
  );
}

/** Tries one pair. Errors: none of the key's; a failing key command is the attempt's problem. */
export async function tryPair(
  pair: SlotPair,
  place: { readonly task: string; readonly keyId: string },
): Promise<Attempt> {
  const { slot, source } = pair;
  try {
    return { slot, source, outcome: await openSlot(slot, source.secret, place) };
  } catch (error) {
    if (error instanceof SplashdownError && isErrorCode(error, "KEY_SOURCE_INVALID"))
      return { slot, source, problem: error };
    throw error;
  }
}

interface OpenedKey {
  readonly bytes: Buffer;
  readonly source: ReadySource;
}

/** Whether nothing is to be asked further once a slot has opened. */
type IsEnough = (opened: OpenedKey) => boolean;

/** The key of the first slot that opens and is enough, else of the first that opens at all, or what was tried. */
async function openKey(request: UnlockRequest, key: KeyringKey, isEnough: IsEnough): Promise<OpenedKey | Attempt[]> {
  const attempts: Attempt[] = [];
  let found: OpenedKey | undefined;
  for (const pair of selectAffordable(request, key)) {
    const attempt = await tryPair(pair, { task: request.keyring.header.task, keyId: key.id });
    if ("outcome" in attempt && attempt.outcome.state === "opened") {
      const opened = { bytes: attempt.outcome.key, source: pair.source };
      if (isEnough(opened)) return opened;
      found ??= opened;
    } else attempts.push(attempt);
  }
  return found ?? attempts;
}

function selectAffordable({ sources, trust }: UnlockRequest, key: KeyringKey): SlotPair[] {
  const pairs = selectPairs(key, sources);
  return trust?.isFrugal === true ? pairs.filter(({ source }) => !isCostly(source)) : pairs;
}

/** Sources that cost nothing to try. */
export function selectCheap(sources: readonly SourceState[]): SourceState[] {
  return sources.filter((source) => !isReadySource(source) || !isCostly(source));
}

function isCostly({ secret }: ReadySource): boolean {
  return secret.nature === "passphrase" || secret.nature === "command";
}

export interface UnlockedKeyring {
  readonly active: TaskKey;
  /** All generations that could be opened, the active one among them. */
  readonly keys: readonly TaskKey[];
}

/**
 * Unwraps the active key, proves the keyring with it, then unwraps what else is in it.
 *
 * Errors: KEY_MISSING (no source has what a slot needs), KEY_WRONG (another key or passphrase), KEY_SOURCE_INVALID (a
 * source is unusable and no other opened it), KEY_NOT_TRIED (only what costs would open it), KEYRING_TAMPERED;
 * KEYRING_UNPROVEN and KEYRING_FOREIGN (V21).
 */
export async function unlockKeyring(request: UnlockRequest): Promise<UnlockedKeyring> {
  const { header } = request.keyring;
  const activeEntry = header.keys.find((key) => key.id === header.active);
  assert(activeEntry !== undefined, "a keyring without its active key was decoded");
  const ready = request.sources.filter(isReadySource);
  const isEnough: IsEnough = ({ bytes, source }) =>
    provesLocker(source) ||
    isVouchedFor(request, { ...activeEntry, id: activeEntry.id as KeyId, bytes }, ready) ||
    request.trust?.isAccepted === true;
  const opened = await openKey(request, activeEntry, isEnough);
  if (Array.isArray(opened)) throw explainRefusal(request, activeEntry, opened);
  const active = requireNamed(request, activeEntry, opened.bytes);
  if (!isKeyringAuthentic(request.keyring, active.bytes))
    throw tampered(request, "was changed by someone without its key");
  requireFirstKey(request, active);
  if (!isEnough(opened)) throw unproven(request, opened.source);
  const keys = [active];
  for (const entry of header.keys) {
    if (entry === activeEntry) continue;
    const older = await openKey(request, entry, () => true);
    if (!Array.isArray(older)) keys.push(requireNamed(request, entry, older.bytes));
  }
  return { active, keys };
}

/** By the machine, which has seen the task before, or by an owner's signature (V21, V22). */
export function isVouchedFor(
  { keyring: { header }, trust }: Pick<UnlockRequest, "keyring" | "trust">,
  active: TaskKey,
  ready: readonly ReadySource[],
): boolean {
  const { firstKey } = trust ?? {};
  if (firstKey !== undefined && leadsToActive(header, active, firstKey)) return true;
  const own = ready.flatMap(({ secret }) => originsOf(secret).map(({ publicKey }) => publicKey));
  return isOfOrigin(header, [...own, ...(trust?.origins ?? [])]) && leadsToActive(header, active);
}

/** Errors: KEYRING_FOREIGN where this machine has seen the task with another first key. */
function requireFirstKey({ keyring: { header }, file, trust }: UnlockRequest, active: TaskKey): void {
  const { firstKey, isAccepted } = trust ?? {};
  if (firstKey === undefined || isAccepted === true || leadsToActive(header, active, firstKey)) return;
  const { task } = header;
  throw new SplashdownError(
    "KEYRING_FOREIGN",
    `the keyring file ${file} does not come from the key that this machine has seen task ${task} begin with`,
    { details: { task, file, first_key: firstKeyOf(header), known_first_key: firstKey } },
  );
}

function unproven({ keyring: { header }, file }: UnlockRequest, { label }: ReadySource): SplashdownError {
  const { task, origin } = header;
  const by = origin === undefined ? "nobody signed it" : `it is signed by ${origin.key}, whom nobody here knows`;
  return new SplashdownError(
    "KEYRING_UNPROVEN",
    `the keyring file ${file} opens by the ${label}, for which anybody can lock, and ${by}`,
    { details: { task, file, origin: origin?.key ?? null } },
  );
}

function requireNamed(request: UnlockRequest, entry: KeyringKey, bytes: Buffer): TaskKey {
  if (computeFingerprint(bytes, "task-key") !== entry.id)
    throw tampered(request, `names a key ${entry.id} that it does not hold`);
  return { id: entry.id as KeyId, generation: entry.generation, bytes };
}

function tampered(request: UnlockRequest, what: string): SplashdownError {
  const { task } = request.keyring.header;
  return new SplashdownError("KEYRING_TAMPERED", `the keyring file ${request.file} ${what}`, {
    details: { file: request.file, task },
  });
}

function explainRefusal(request: UnlockRequest, key: KeyringKey, attempts: readonly Attempt[]): SplashdownError {
  if (attempts.some((attempt) => "outcome" in attempt && attempt.outcome.state === "tampered")) {
    return tampered(request, "was changed by someone without its key");
  }
  const problem = findProblem(request, attempts);
  if (problem !== undefined) return problem;
  if (request.trust?.isFrugal === true && selectPairs(key, request.sources).some(({ source }) => isCostly(source)))
    return notTried(request, key);
  return attempts.length > 0 ? explainWrong(request, key, attempts) : explainMissing(request, key);
}

function findProblem(request: UnlockRequest, attempts: readonly Attempt[]): SplashdownError | undefined {
  for (const attempt of attempts) if ("problem" in attempt) return attempt.problem;
  return request.sources.find((source) => source.problem !== undefined)?.problem;
}

function notTried(request: UnlockRequest, key: KeyringKey): SplashdownError {
  const { task } = request.keyring.header;
  return new SplashdownError(
    "KEY_NOT_TRIED",
    `this machine has not opened it before, and ${key.slots.map(formatSlot).join(" or ")} is not tried unasked`,
    { details: { task, file: request.file } },
  );
}

/** `passphrase slot 0f1e… (NAME)`. */
export function formatSlot(slot: KeyringSlot): string {
  return `${slot.type} ${slot.fingerprint} (${slot.label})`;
}

function explainWrong(request: UnlockRequest, key: KeyringKey, attempts: readonly Attempt[]): SplashdownError {
  const slots = [...new Set(attempts.map(({ slot }) => slot))];
  const sources = [...new Set(attempts.map(({ source }) => source))];
  const given = sources.map(describeGiven);
  const { task } = request.keyring.header;
  return new SplashdownError(
    "KEY_WRONG",
    `the keyring file ${request.file} needs ${slots.map(formatSlot).join(" or ")}; given was ${given.join(" and ")}`,
    {
      details: {
        task,
        file: request.file,
        key: key.id,
        needed: slots.map(({ fingerprint }) => fingerprint),
        given: sources.map(({ secret, label }) => fingerprintOf(secret) ?? label),
      },
    },
  );
}

function fingerprintOf(secret: Secret): KeyId | undefined {
  return secret.nature === "key" ? computeFingerprint(secret.bytes, "wrapping-key") : undefined;
}

function describeGiven(source: ReadySource): string {
  const { secret, label } = source;
  const fingerprint = fingerprintOf(secret);
  if (fingerprint !== undefined) return `${fingerprint} (${label})`;
  const endsBlank = secret.nature === "passphrase" && secret.text !== secret.text.trim();
  return endsBlank ? `another ${label}, which begins or ends with white space` : `another ${label}`;
}

function explainMissing(request: UnlockRequest, key: KeyringKey): SplashdownError {
  const { task } = request.keyring.header;
  const looked = request.sources.map(
    (source) => `${source.label}: ${isReadySource(source) ? describeUnfit(source.secret) : source.absence}`,
  );
  const where = looked.length === 0 ? "no key source is configured" : `looked in ${looked.join("; ")}`;
  return new SplashdownError(
    "KEY_MISSING",
    `the keyring file ${request.file} needs ${key.slots.map(formatSlot).join(" or ")}; ${where}`,
    {
      details: {
        task,
        file: request.file,
        key: key.id,
        needed: key.slots.map(({ fingerprint }) => fingerprint),
        looked_in: looked,
      },
    },
  );
}

/** What a source gives that no slot of the keyring is for. */
function describeUnfit(secret: Secret): string {
  const given = secret.nature === "age" ? "an age identity" : `a ${secret.nature}`;
  return `gives ${given}, which none of these is for`;
}
