/**
 * What earlier tasks of a workflow say of its specialists' confidence, kept from task to task.
 *
 * Owns: `<state folder>/calibration/<workflow>/<start>_<task uuid>.json`, one file per task that has ended with a score.
 * A task that ends again (resumed, recovered) replaces its own file, so it counts once however often it was taken up; a
 * fork writes none, for what it took over is counted already. The newest `LIMITS.calibrationTasksMax` are kept. It holds
 * names, times and figures, in the clear.
 * What counts is read as a task starts and is part of its first record: nothing here is looked at again.
 * A specialist that was carried out by something else (another model, another kind) is another one.
 * Nothing here stops a task: what cannot be read or written is told, and the task goes on without. A task whose process
 * dies between its last record and its file is missing.
 */
import { join } from "node:path";
import { errnoOf, messageOf } from "../../base/errors.js";
import { sha256Hex } from "../../base/digest.js";
import { isJsonObject, type JsonObject } from "../../base/json.js";
import { canonicalJson } from "../../base/json-encoding.js";
import { LIMITS } from "../../base/limits.js";
import { chooseProvider } from "../../definition/settings/provider-map.js";
import type { EffectiveSettings } from "../../definition/settings/settings.js";
import type { WorkflowDefinition } from "../../definition/model/workflow.js";
import type { StepDefinition } from "../../definition/model/step.js";
import type { TrackRecords } from "../../engine/model/confidence.js";
import type { TaskState } from "../../engine/model/state.js";
import { computeRecords, listMeasuredClaims } from "../../engine/rules/phases/track-record.js";
import { createFolders, describeFailure, readWhole, replaceWhole } from "../../vault/private-file.js";
import type { Services } from "../services/services.js";

const FORMAT = "splashdown.calibration";
const VERSION = "1.0";
const ENDS: ReadonlySet<string> = new Set(["done", "partial", "failed"]);
const NAME = /^\d{13,16}_[0-9a-f-]{36}\.json$/;

export type CalibrationDeps = Pick<Services, "fileSystem" | "random" | "environment" | "log" | "store">;

/** By path: what carries the specialist out, with today's map of providers. */
type Carriers = ReadonlyMap<string, string>;

interface KeptClaim {
  readonly path: string;
  readonly by: string;
  readonly claimed: number;
  readonly measured: number;
}

/** A workflow's folder: a name that is fit for one, and a digest, because two names may look alike in it. */
function folderOf({ environment }: CalibrationDeps, workflow: string): string {
  const shown = workflow.replaceAll(/[^A-Za-z0-9-]+/g, "-").slice(0, 60);
  return join(environment.stateFolder, "calibration", `${shown}-${sha256Hex(workflow).slice(0, 12)}`);
}

/**
 * What a task that begins is to know of its specialists.
 *
 * Shape: `undefined` when there is nothing to know, when a person switched it off, or when tasks are kept in memory.
 */
export async function loadTrackRecords(
  deps: CalibrationDeps,
  definition: WorkflowDefinition,
  settings: EffectiveSettings,
): Promise<TrackRecords | undefined> {
  if (!isKept(deps, definition, settings)) return undefined;
  const folder = folderOf(deps, definition.name);
  const names = await listFiles(deps, folder);
  const carriers = carriersOf(definition, settings);
  const tasks: KeptClaim[][] = [];
  for (const name of names.slice(-LIMITS.calibrationTasksMax)) {
    const claims = await readClaims(deps, join(folder, name));
    // The specialists of a goal are not known before it is planned.
    tasks.push(claims.filter(({ path, by }) => (carriers.get(path) ?? by) === by));
  }
  const records = computeRecords(tasks);
  return Object.keys(records).length === 0 ? undefined : records;
}

/** Keeps what a task that has ended says of its specialists. */
export async function keepClaims(deps: CalibrationDeps, state: TaskState, settings: EffectiveSettings): Promise<void> {
  const { task } = state;
  if (task === undefined || task.forkedFrom !== undefined || !ENDS.has(task.status)) return;
  const { definition } = task;
  if (!isKept(deps, definition, settings)) return;
  const carriers = carriersOf(definition, settings);
  const claims = listMeasuredClaims(state)
    .flatMap((claim) => {
      const by = carriers.get(claim.path);
      return by === undefined ? [] : [{ ...claim, by }];
    })
    .slice(0, LIMITS.calibrationClaimsMax);
  if (claims.length === 0) return;
  const folder = folderOf(deps, definition.name);
  const name = `${String(task.startedAtMs).padStart(13, "0")}_${task.id}.json`;
  const body = canonicalJson({ format: FORMAT, version: VERSION, workflow: definition.name, task: task.id, claims });
  const suffix = Buffer.from(deps.random.bytes(8)).toString("hex");
  try {
    await createFolders(deps.fileSystem, folder);
    await replaceWhole(deps.fileSystem, join(folder, name), {
      bytes: Buffer.from(`${body}\n${sha256Hex(body)}\n`),
      suffix,
    });
    await dropOldest(deps, folder);
  } catch (error) {
    deps.log.warn(
      `what was measured of this task is not kept for later ones: ${folder} cannot be written (${describeFailure(error)})`,
    );
  }
}

function isKept({ store }: CalibrationDeps, { root }: WorkflowDefinition, { calibration }: EffectiveSettings): boolean {
  return calibration && store.manifest.durable && root.scope === "phases";
}

function carriersOf({ root }: WorkflowDefinition, { provider_map: map }: EffectiveSettings): Carriers {
  const phases = root.scope === "phases" ? root.children : [];
  const carrierOf = (step: StepDefinition): string => {
    if (step.kind === "cli") return `cli ${step.cli} ${step.model ?? ""}`.trim();
    if (step.kind !== "model") return step.kind;
    const { provider, model } = chooseProvider(map, step.provider, step.model);
    return `model ${provider} ${model ?? ""}`.trim();
  };
  return new Map(
    phases.flatMap(({ children }) =>
      children.flatMap((step) => (step.node === "step" ? [[step.path, carrierOf(step)] as const] : [])),
    ),
  );
}

/** The oldest first. */
async function listFiles({ fileSystem, log }: CalibrationDeps, folder: string): Promise<readonly string[]> {
  try {
    return (await fileSystem.readdir(folder)).filter((name) => NAME.test(name)).toSorted();
  } catch (error) {
    if (errnoOf(error) !== "ENOENT")
      log.warn(`claims of earlier tasks are not counted: ${folder} cannot be read (${describeFailure(error)})`);
    return [];
  }
}

async function dropOldest(deps: CalibrationDeps, folder: string): Promise<void> {
  const names = await listFiles(deps, folder);
  for (const name of names.slice(0, -LIMITS.calibrationTasksMax)) {
    // Another task that ended may have been quicker.
    await deps.fileSystem.unlink(join(folder, name)).catch((error: unknown) => {
      if (errnoOf(error) !== "ENOENT") throw error;
    });
  }
}

/** Shape: empty for a file that cannot be trusted, which is told. */
async function readClaims({ fileSystem, log }: CalibrationDeps, file: string): Promise<readonly KeptClaim[]> {
  try {
    const handle = await fileSystem.open(file, "read");
    try {
      const bytes = await readWhole(handle, LIMITS.calibrationFileBytesMax);
      if (bytes === undefined) throw new Error("it is too large");
      return parseClaims(Buffer.from(bytes).toString("utf8"));
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return [];
    log.warn(`what an earlier task measured is not counted: ${file} cannot be used (${messageOf(error)})`);
    return [];
  }
}

function parseClaims(text: string): readonly KeptClaim[] {
  const [body = "", sum, end, ...more] = text.split("\n");
  if (sum !== sha256Hex(body) || end !== "" || more.length > 0) throw new Error("it does not match its own checksum");
  const value: unknown = JSON.parse(body);
  if (!isJsonObject(value) || value["format"] !== FORMAT || value["version"] !== VERSION)
    throw new Error("it has an unknown format");
  const { claims } = value;
  if (!Array.isArray(claims)) throw new Error("it has no claims");
  return claims.map((claim) => readClaim(isJsonObject(claim) ? claim : {}));
}

function readClaim({ path, by, claimed, measured }: JsonObject): KeptClaim {
  if (typeof path !== "string" || typeof by !== "string" || !isShare(claimed) || !isShare(measured))
    throw new Error("it has a malformed claim");
  return { path, by, claimed, measured };
}

function isShare(value: unknown): value is number {
  return typeof value === "number" && value >= 0 && value <= 1;
}
