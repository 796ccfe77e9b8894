/** The settings a workflow file brings along: its blocks, and the short `checkpoint` blocks of seed 000 and Conductor. */
import type { JsonObject, JsonValue } from "../../base/json.js";
import type { CheckpointBlock, WorkflowFile } from "../../schema/generated/workflow.js";
import type { FaultList } from "../faults/fault.js";

const BLOCKS = ["store", "calibration", "recovery_config", "performance_config"] as const;

/**
 * The settings layer of a workflow file, checked and not merged.
 *
 * Shape: keys as in splashdown.config.yaml; `checkpoint_config` wins over the short blocks.
 */
export function collectSettings(file: WorkflowFile, faults: FaultList): JsonObject {
  refuseSettingsOfPlace(file, faults);
  const settings: Record<string, JsonValue> = {};
  const block = file.workflow.checkpoint;
  const short = block === undefined ? {} : mapBlock(block);
  const runtime = mapRuntime(file);
  const checkpoint = { ...runtime, ...short, ...(file.checkpoint_config as JsonObject | undefined) };
  if (Object.keys(checkpoint).length > 0) settings["checkpoint_config"] = checkpoint;
  const pricing = file.workflow.cost?.pricing;
  if (pricing !== undefined) settings["pricing"] = pricing as unknown as JsonValue;
  for (const key of BLOCKS) if (file[key] !== undefined) settings[key] = file[key] as unknown as JsonValue;
  const store = block === undefined ? undefined : storeOf(block);
  if (store === undefined) return settings;
  if (file.store !== undefined && file.store !== store) {
    faults.add({
      code: "conflict",
      path: ["store"],
      message: `the store is ${file.store} here and ${store} in workflow.checkpoint`,
      suggestion: "keep one",
      atKey: true,
    });
  }
  return { ...settings, store: file.store ?? store };
}

/** What no workflow can say of itself, and why. */
const OF_PLACE = [
  { block: "checkpoint_config", key: "trash_days", why: "the trash belongs to the store" },
  { block: "recovery_config", key: "new_here", why: "no workflow says of itself that another machine may run it" },
] as const;

function refuseSettingsOfPlace(file: WorkflowFile, faults: FaultList): void {
  for (const { block, key, why } of OF_PLACE) {
    if ((file[block] as JsonObject | undefined)?.[key] === undefined) continue;
    faults.add({
      code: "misplaced_key",
      path: [block, key],
      message: `${block}.${key} is no setting of a workflow: ${why}`,
      suggestion: "write it into splashdown.config.yaml",
      atKey: true,
    });
  }
}

/** Source: seed 000, "YAML Syntax". */
function mapBlock({ enabled, storage, path, retention }: CheckpointBlock): Record<string, JsonValue> {
  const isFolder = path !== undefined && (storage === undefined || storage === "file");
  return {
    ...(enabled === undefined ? {} : { enabled }),
    ...(isFolder ? { storage_path: path } : {}),
    ...(retention?.max_checkpoints === undefined ? {} : { max_checkpoints: Math.max(retention.max_checkpoints, 2) }),
    ...(retention?.max_age_days === undefined ? {} : { retention_days: retention.max_age_days }),
    ...(retention?.keep_successful === undefined ? {} : { keep_successful: retention.keep_successful }),
  };
}

/** Databases are named by store address; a path alone says where files go. */
function storeOf({ storage, path }: CheckpointBlock): string | undefined {
  if (storage === "memory") return "memory:";
  if (storage === undefined || storage === "file") return undefined;
  if (storage === "postgres") return path?.startsWith("postgres") === true ? path : "postgres:";
  const place = path ?? ".splashdown/checkpoints.db";
  // SQLite keeps a file; seed 000 names its folder.
  return storage === "sqlite" && place.endsWith("/") ? `sqlite:${place}${DATABASE_FILE}` : `${storage}:${place}`;
}

const DATABASE_FILE = "checkpoints.db";

/** Source: CONDUCTOR-YAML 1.3, `checkpoint`. */
function mapRuntime({ workflow }: WorkflowFile): Record<string, JsonValue> {
  const block = workflow.runtime?.checkpoint;
  return {
    ...(block?.every_seconds === undefined ? {} : { interval_seconds: block.every_seconds }),
    ...(block?.keep_last === undefined ? {} : { max_checkpoints: Math.max(block.keep_last, 2) }),
  };
}
