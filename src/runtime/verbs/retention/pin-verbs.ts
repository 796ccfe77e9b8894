/**
 * `checkpoints pin|unpin`: a pin, and taking it back, is a sealed message that is left without owning the task, so a living
 * owner and any other process see it at their next removal.
 */
import { messageOf } from "../../../base/errors.js";
import type { JsonObject } from "../../../base/json.js";
import { listCheckpoints } from "../../../checkpoint/listing.js";
import { isPinning, listPinMessages, pinKeyOf } from "../../../checkpoint/pins.js";
import { postMessage, loadMessage, removeMessage } from "../../mailbox/control-folder.js";
import { findCheckpoint, type FoundCheckpoint } from "../../tasks/finding.js";
import type { PinView } from "../../views/past-views.js";
import type { Services } from "../../services/services.js";
import { formatTime } from "../../views/views.js";

/** Errors: CHECKPOINT_NOT_FOUND, CHECKPOINT_AMBIGUOUS, TASK_NOT_FOUND. */
export async function pinCheckpoint(
  services: Services,
  reference: string,
  options: { readonly note?: string } = {},
): Promise<PinView> {
  return withCheckpoint(services, { reference, verb: "checkpoints pin" }, async (found) => {
    const note = options.note === undefined ? {} : { note: options.note };
    const changed = await leave(services, found, { kind: "pin", ...note });
    if (changed) await notePin(services, found, "pinned");
    return { ...(await describe(found, true)), changed, ...(await readPin(services, found)) };
  });
}

/** Shape: false where it is so already. The message before holds though it does not open. */
async function leave(
  services: Services,
  found: FoundCheckpoint,
  said: { readonly kind: "pin" | "unpin"; readonly note?: string },
): Promise<boolean> {
  const { checkpointId: id } = found.checkpoint;
  const messages = await listPinMessages(found.task, id);
  const newest = messages[0]?.number ?? 0;
  if (isPinning(newest) === (said.kind === "pin")) return false;
  const { user: by } = services.environment;
  const body: JsonObject = { ...said, checkpoint_id: id, by, at: formatTime(services.clock.nowMs()) };
  if (!(await postMessage({ ...services, ...found }, pinKeyOf(id, newest + 1), body))) return false;
  for (const { about } of messages) await removeMessage(found.task, about);
  return true;
}

/** Errors: as `pinCheckpoint`. */
export async function unpinCheckpoint(services: Services, reference: string): Promise<PinView> {
  return withCheckpoint(services, { reference, verb: "checkpoints unpin" }, async (found) => {
    const changed = await leave(services, found, { kind: "unpin" });
    if (changed) await notePin(services, found, "unpinned");
    return { ...(await describe(found, false)), changed };
  });
}

function notePin(services: Services, found: FoundCheckpoint, event: "pinned" | "unpinned"): Promise<void> {
  const { checkpointId, seq } = found.checkpoint;
  const verb = event === "pinned" ? "checkpoints pin" : "checkpoints unpin";
  return services.audit.note(found, { event, verb, details: { seq, checkpoint_id: checkpointId } });
}

async function withCheckpoint<T>(
  services: Services,
  { reference, verb }: { readonly reference: string; readonly verb: string },
  act: (found: FoundCheckpoint) => Promise<T>,
): Promise<T> {
  const found = await findCheckpoint(services, reference, { verb });
  try {
    return await act(found);
  } finally {
    await found.task.close();
  }
}

/** After the pin is there: a file that is listed now stays. */
async function describe({ task, checkpoint }: FoundCheckpoint, pinned: boolean): Promise<Omit<PinView, "changed">> {
  const { checkpoints } = await listCheckpoints([checkpoint], task);
  const file = checkpoints[0]?.file?.name;
  const { checkpointId, seq, phase } = checkpoint;
  return {
    task: task.name,
    checkpoint_id: checkpointId,
    seq,
    phase,
    pinned,
    ...(file === undefined ? {} : { file }),
  };
}

/** Who pinned it, as the pin that is there says; one that does not open holds all the same. */
async function readPin(
  services: Services,
  { task, vault, checkpoint }: FoundCheckpoint,
): Promise<Pick<PinView, "by" | "at" | "note">> {
  try {
    const [newest] = await listPinMessages(task, checkpoint.checkpointId);
    const body = newest === undefined ? {} : ((await loadMessage({ task, vault }, newest.about))?.body ?? {});
    return Object.fromEntries(
      ["by", "at", "note"].flatMap((name) => (typeof body[name] === "string" ? [[name, body[name]]] : [])),
    );
  } catch (error) {
    services.log.warn(`the pin of checkpoint ${checkpoint.seq} holds, but cannot be read: ${messageOf(error)}`);
    return {};
  }
}
