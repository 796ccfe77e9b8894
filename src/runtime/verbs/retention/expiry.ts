/**
 * Whole tasks that go by themselves: where a person has set `retention_days` or `max_tasks`, in the settings or in the
 * workflow's `checkpoint.retention`, a run looks through the store when it ends, and every `cleanup_interval_minutes` while
 * it lasts.
 *
 * What goes, and what never does, is `task-retention.ts`'s: only ended tasks, to the trash, from which `store restore` brings
 * them back until `trash_days` are over. Each is one line of the log and an entry of the task's audit. A look that fails is
 * told, and never the failure of the run.
 */
import { messageOf } from "../../../base/errors.js";
import type { EffectiveSettings } from "../../../definition/settings/settings.js";
import type { Services } from "../../services/services.js";

/** Carries out a run, and looks through the store of its task with the settings that it has. Errors: those of the run. */
export async function withExpiry<T>(
  services: Services,
  { checkpoint_config: config }: EffectiveSettings,
  run: () => Promise<T>,
): Promise<T> {
  if (config.retention_days === undefined && config.max_tasks === undefined) return run();
  let looking: Promise<void> = Promise.resolve();
  const stop = services.clock.every(config.cleanup_interval_minutes * 60_000, () => {
    looking = looking.then(() => expireTasks(services));
  });
  try {
    const ended = await run();
    stop();
    await looking;
    await expireTasks(services);
    return ended;
  } finally {
    stop();
  }
}

/** Shape: done when all that is over is gone. Errors: none. */
async function expireTasks(services: Services): Promise<void> {
  try {
    const { pruneCheckpoints } = await import("./prune-verb.js");
    await pruneCheckpoints(services, { wholeOnly: true });
  } catch (error) {
    services.log.warn(`tasks that are over by retention could not be removed: ${messageOf(error)}`);
  }
}
