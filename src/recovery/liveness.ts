/**
 * Whether the owner of a task lives: alive, gone or unclear.
 *
 * Owns: the judgement and the watching. The store knows how to ask (socket, counter); the epoch claim decides who
 * writes. A wrong judgement costs availability, never correctness: a claimer fences whoever is there.
 *
 * R1: a task is taken up only when its owner is provably gone, or a person says `--take-over`; a pid alone proves nothing, nor
 *     does a lost connection, a host's name, or a boot beside a counter that still moves.
 * R2: an unclear owner is watched on the observer's own clock; no clock of another machine is compared.
 * Source: DESIGN section 7 (Ownership).
 */
import type { Clock } from "../base/clock.js";
import { SplashdownError } from "../base/errors.js";
import type { JsonObject } from "../base/json.js";
import { LIMITS } from "../base/limits.js";
import type { OwnerFacts, OwnerState, TaskStore } from "../store/contract/contract.js";

export interface Liveness {
  readonly state: "alive" | "gone" | "unclear" | "none";
  readonly owner: OwnerFacts | undefined;
}

export interface LivenessOptions {
  readonly task: TaskStore;
  readonly clock: Clock;
  /** How long an unclear owner's counter is watched; 0 judges at once. */
  readonly watchMs?: number;
  readonly signal?: AbortSignal;
}

/** Looks this often at a counter that should rise every LIMITS.ownerBeatMs. */
const POLL_MS = 1_000;

/**
 * Judges the owner, watching its counter when it cannot be told at once.
 *
 * Units: `watchMs` on the observer's monotonic clock. Errors: CANCELLED by the signal.
 */
export async function observeOwner(options: LivenessOptions): Promise<Liveness> {
  const { task, clock, watchMs = LIMITS.ownerWatchMs, signal } = options;
  const first = await task.ownerState();
  if (isCertain(first)) return livenessOf(first);
  const endMs = clock.monotonicMs() + watchMs;
  for (let restMs = watchMs; restMs > 0; restMs = endMs - clock.monotonicMs()) {
    await clock.sleep(Math.min(POLL_MS, restMs), signal);
    const now = await task.ownerState();
    if (isCertain(now)) return livenessOf(now);
    if (now.counter !== undefined && now.counter !== first.counter) return { state: "alive", owner: now.owner };
  }
  return livenessOf(first);
}

function isCertain({ state, hasBooted = false }: OwnerState): boolean {
  return state !== "unclear" && !hasBooted;
}

function livenessOf({ state, owner }: OwnerState): Liveness {
  return { state, owner };
}

/**
 * Demands that nobody owns the task.
 *
 * Shape: the answer says what was found; `unclear` only with `takeOver`, or `hasNoRecords`: where nothing was recorded nobody has
 * acted, and the claim keeps it so; its owner is watched, and then superseded without a question.
 * Errors: OWNER_ALIVE, who and since when; OWNER_UNCLEAR without either.
 */
export async function requireOwnerGone(
  options: LivenessOptions & { readonly takeOver: boolean; readonly hasNoRecords?: boolean },
): Promise<Liveness> {
  const { takeOver, hasNoRecords = false, task } = options;
  // A person who takes over has decided already: only a provably living owner stands against it.
  const liveness = await observeOwner(takeOver ? { ...options, watchMs: 0 } : options);
  const details: JsonObject = { task: task.name, owner: liveness.owner ?? null };
  if (liveness.state === "alive") {
    throw new SplashdownError("OWNER_ALIVE", `task ${task.name} is owned by ${describeOwner(liveness.owner)}`, {
      details,
    });
  }
  if (liveness.state === "unclear" && !takeOver && !hasNoRecords) {
    const text = `it is unclear whether ${describeOwner(liveness.owner)}, the last owner of task ${task.name}, still runs`;
    throw new SplashdownError("OWNER_UNCLEAR", text, { details });
  }
  return liveness;
}

/** Looks this often for a process that has just claimed a task. */
const CLAIMANT_POLL_MS = 50;

/**
 * Demands that nobody is about to begin: an epoch that was claimed and has no journal yet belongs to a process that shows
 * itself in a moment, or that ended in between. It is waited for, so that an owner is not superseded in its first moments
 * and whoever leaves names one that stays (R14).
 *
 * Units: at most LIMITS.claimantShowsMs on the monotonic clock; no longer than it takes the claimant to begin, and not at
 * all where it showed itself and died.
 * Errors: OWNER_ALIVE; CANCELLED by the signal.
 */
export async function requireNoClaimant(
  options: Pick<LivenessOptions, "task" | "clock" | "signal"> & { readonly epoch: number },
): Promise<void> {
  const { task, clock, signal, epoch } = options;
  const endMs = clock.monotonicMs() + LIMITS.claimantShowsMs;
  for (;;) {
    // Who has a journal has shown itself before.
    const hasBegun = (await task.segments()).some((segment) => segment.epoch === epoch && segment.sizeBytes > 0);
    const { owner } = await requireOwnerGone({ task, clock, takeOver: true });
    if (hasBegun || owner?.epoch === epoch || clock.monotonicMs() >= endMs) return;
    await clock.sleep(CLAIMANT_POLL_MS, signal);
  }
}

/** Who it is, in one line. */
export function describeOwner(owner: OwnerFacts | undefined): string {
  if (owner === undefined) return "an unknown process";
  return `process ${owner.pid} on ${owner.host} since ${owner.since}`;
}
