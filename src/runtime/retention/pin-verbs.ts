/**
 * `checkpoints pin|unpin`: a pin is a sealed object that is created and removed without owning the task, so a living
 * owner and any other process see it at their next removal.
 */
import { messageOf } from "../../base/errors.js";
import type { JsonObject } from "../../base/json.js";
import { listCheckpoints } from "../../checkpoint/listing.js";
import { pinKeyOf } from "../../checkpoint/pins.js";
import { leaveMessage, listMessages, loadMessage, removeMessage } from "../people/control-folder.js";
import { findCheckpoint, type FoundCheckpoint } from "../finding.js";
import type { PinView } from "../past/past-views.js";
import type { Services } from "../services.js";
import { formatTime } from "../views.js";

/** Errors: CHECKPOINT_NOT_FOUND, CHECKPOINT_AMBIGUOUS, TASK_NOT_FOUND. */
export async function pinCheckpoint(
  services: Services,
  reference: string,
  options: { readonly note?: string } = {},
): Promise<PinView> {
  return withCheckpoint(services, reference, async (found) => {
    const { checkpoint } = found;
    const body: JsonObject = {
      kind: "pin",
      checkpoint_id: checkpoint.checkpointId,
      by: services.environment.user,
      at: formatTime(services.clock.nowMs()),
      ...(options.note === undefined ? {} : { note: options.note }),
    };
    const changed = await isLeft(services, found, body);
    if (changed) await notePin(services, found, "pinned");
    return { ...(await describe(found, true)), changed, ...(await readPin(services, found)) };
  });
}

/** One that does not open holds all the same. */
async function isLeft(services: Services, found: FoundCheckpoint, body: JsonObject): Promise<boolean> {
  const about = pinKeyOf(found.checkpoint.checkpointId);
  if ((await listMessages(found.task, about)).length > 0) return false;
  return leaveMessage({ ...services, ...found }, about, body);
}

/** Errors: as `pinCheckpoint`. */
export async function unpinCheckpoint(services: Services, reference: string): Promise<PinView> {
  return withCheckpoint(services, reference, async (found) => {
    const key = pinKeyOf(found.checkpoint.checkpointId);
    const changed = await removeMessage(found.task, key);
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
  reference: string,
  act: (found: FoundCheckpoint) => Promise<T>,
): Promise<T> {
  const found = await findCheckpoint(services, reference);
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
    const body = (await loadMessage({ task, vault }, pinKeyOf(checkpoint.checkpointId)))?.body ?? {};
    return Object.fromEntries(
      ["by", "at", "note"].flatMap((name) => (typeof body[name] === "string" ? [[name, body[name]]] : [])),
    );
  } catch (error) {
    services.log.warn(`the pin of checkpoint ${checkpoint.seq} holds, but cannot be read: ${messageOf(error)}`);
    return {};
  }
}
