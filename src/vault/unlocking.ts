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

/** The key of the first slot that opens, or what was tried. */
async function openKey(request: UnlockRequest, key: KeyringKey): Promise<Buffer | Attempt[]> {
  const attempts: Attempt[] = [];
  for (const pair of selectPairs(key, request.sources)) {
    const attempt = await tryPair(pair, { task: request.keyring.header.task, keyId: key.id });
    if ("outcome" in attempt && attempt.outcome.state === "opened") return attempt.outcome.key;
    attempts.push(attempt);
  }
  return attempts;
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
 * source is unusable and no other opened it), KEYRING_TAMPERED.
 */
export async function unlockKeyring(request: UnlockRequest): Promise<UnlockedKeyring> {
  const { header } = request.keyring;
  const activeEntry = header.keys.find((key) => key.id === header.active);
  assert(activeEntry !== undefined, "a keyring without its active key was decoded");
  const opened = await openKey(request, activeEntry);
  if (Array.isArray(opened)) throw explainRefusal(request, activeEntry, opened);
  const active = requireNamed(request, activeEntry, opened);
  if (!isKeyringAuthentic(request.keyring, active.bytes))
    throw tampered(request, "was changed by someone without its key");
  const keys = [active];
  for (const entry of header.keys) {
    if (entry === activeEntry) continue;
    const older = await openKey(request, entry);
    if (!Array.isArray(older)) keys.push(requireNamed(request, entry, older));
  }
  return { active, keys };
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
  return attempts.length > 0 ? explainWrong(request, key, attempts) : explainMissing(request, key);
}

function findProblem(request: UnlockRequest, attempts: readonly Attempt[]): SplashdownError | undefined {
  for (const attempt of attempts) if ("problem" in attempt) return attempt.problem;
  return request.sources.find((source) => source.problem !== undefined)?.problem;
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
