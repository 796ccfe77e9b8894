/** The events of a task in order, as they stand or as they come. Follows the journal's bytes, never a promise of them. */
import { readHistory, type ScanCache } from "../../../journal/history.js";
import type { TaskStore } from "../../../store/contract/contract.js";
import type { EventView } from "../../views/task-views.js";
import { findTask } from "../../tasks/finding.js";
import { openTask } from "../../tasks/reading.js";
import type { Services } from "../../services/services.js";
import { viewEvent } from "../../views/event-text.js";

const POLL_MS = 500;

export async function* streamEvents(
  services: Services,
  reference: string,
  options: { readonly from?: number; readonly follow?: boolean; readonly signal?: AbortSignal } = {},
): AsyncGenerator<EventView> {
  const task = await findTask(services, reference, "read");
  try {
    const { vault } = await services.audit.watch({ task, verb: "events" }, openTask(services, task));
    await services.audit.note({ task, vault }, { event: "read", verb: "events" });
    const cache: ScanCache = new Map();
    let next = Math.max(1, options.from ?? 1);
    for (;;) {
      const isOver = options.follow !== true || options.signal?.aborted === true || !(await isAlive(task));
      const history = await readHistory({ task, vault, cache });
      for (const record of history.recordsFrom(next)) {
        yield viewEvent(record.position.n, record.decode());
        next = record.position.n + 1;
      }
      if (isOver) return;
      await services.clock.sleep(POLL_MS, options.signal).catch(() => undefined);
    }
  } finally {
    await task.close();
  }
}

/** Judged before the journal is read, so that the last events of an owner that leaves are not missed. */
async function isAlive(task: TaskStore): Promise<boolean> {
  const { state } = await task.ownerState();
  return state === "alive" || state === "unclear";
}
