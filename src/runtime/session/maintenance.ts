/**
 * Owns a task for a moment without running it: to remove what retention lets go, to write a fact into its history.
 *
 * The order is that of every owner: nobody else lives → restored and claimed → journal opened → act → anchor raised. A
 * task that crashed stays crashed: nothing here says that it was resumed.
 */
import { messageOf } from "../../base/errors.js";
import type { EffectiveSettings } from "../../definition/settings/settings.js";
import type { EngineEvent } from "../../engine/model/events.js";
import { evolve } from "../../engine/fold/evolve.js";
import { openJournalWriter, type JournalWriter } from "../../journal/writer.js";
import type { Restored } from "../../recovery/restore.js";
import { raiseAnchor } from "../../vault/anchor.js";
import { presenceDeps, takeOver } from "./start-task.js";
import { whileOwning } from "./presence.js";
import type { OpenedTask } from "../tasks/reading.js";
import type { Services } from "../services/services.js";

/** What an owner continues. */
export type SessionStart = Pick<Restored, "state" | "epoch" | "prev" | "repeated" | "base" | "journalBytes">;

export interface OwnedTask {
  readonly restored: Restored;
  readonly journal: JournalWriter;
  /** Takes an event into the history; durable on return. */
  readonly record: (event: EngineEvent) => Promise<void>;
  /** Never before the last event. */
  readonly nowMs: () => number;
}

/** Errors: OWNER_ALIVE, OWNER_UNCLEAR, those of `restoreTask` and of the act. */
export function withOwnedTask<T>(
  services: Services,
  { opened, settings }: { readonly opened: OpenedTask; readonly settings: EffectiveSettings },
  act: (care: OwnedTask) => Promise<T>,
): Promise<T> {
  const taking = { opened, settings, signal: undefined, takeOver: false, acceptLoss: false, isToGoOn: () => true };
  return whileOwning(presenceDeps(services, opened.task), async (presence) => {
    const restored = await takeOver(services, taking, presence);
    return withJournal(services, { opened, begun: restored }, (care) => act({ ...care, restored }));
  });
}

/** Opens the journal of an epoch that was claimed, acts, and closes it. */
export async function withJournal<T>(
  services: Services,
  { opened, begun }: { readonly opened: OpenedTask; readonly begun: SessionStart },
  act: (care: Omit<OwnedTask, "restored">) => Promise<T>,
): Promise<T> {
  const { task, vault } = opened;
  const { clock, log } = services;
  const { state, epoch, prev, repeated, base, journalBytes } = begun;
  const continued = { epoch, prev, repeated, base, sizeBytes: journalBytes };
  const journal = await openJournalWriter({ ...continued, task, vault, clock, log });
  const record = async (event: EngineEvent): Promise<void> => {
    evolve(state, event);
    journal.append([event]);
    await journal.durable();
  };
  try {
    return await act({ journal, record, nowMs: () => Math.max(clock.nowMs(), state.atMs) });
  } finally {
    await raise(services, opened, journal).catch((error: unknown) => log.warn(messageOf(error)));
    await journal.close();
  }
}

/** Remembers outside the folder how far the task came, unless a later owner may have gone another way. */
export async function raise(
  services: Services,
  { vault }: Pick<OpenedTask, "vault">,
  journal: Pick<JournalWriter, "position" | "confirm">,
): Promise<void> {
  const { position } = journal;
  if (position === undefined || !services.store.manifest.durable) return;
  await journal.confirm();
  const { fileSystem, random, environment } = services;
  await raiseAnchor({
    fileSystem,
    random,
    stateFolder: environment.stateFolder,
    taskId: vault.taskId,
    fields: { position: { epoch: position.epoch, n: position.n, hash: position.h } },
  });
}
