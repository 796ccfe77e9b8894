/**
 * The roll of processes that stand in no task's record: commands of keys, probes, checks of `doctor`.
 *
 * Owns: `<state folder>/processes/<digest>.json`. A key is asked for before there is a journal to write to, and a probe before
 * a new owner's first record, so both are noted here. Nothing is synced: what a machine's crash takes away has taken the
 * processes too. A note that cannot be written stops nobody; one that cannot be read is nobody's.
 */
import { join } from "node:path";
import { sha256Hex } from "../base/digest.js";
import type { FileSystem } from "../base/file-system.js";
import { isJsonObject, type JsonValue } from "../base/json.js";
import { canonicalJson } from "../base/json-encoding.js";
import type { Log } from "../base/log.js";
import type { NotedProcess, ProcessIdentity, ProcessRoll } from "../process/contract.js";
import { createFolders, describeFailure, readWhole, writeWhole } from "../vault/private-file.js";

const FORMAT = "splashdown.process";
const VERSION = "1.0";
const FILE_BYTES_MAX = 8192;
const NAME_DIGITS = 32;
const SUFFIX = ".json";

export interface RollPlace {
  readonly fileSystem: FileSystem;
  readonly log: Log;
  /** The user's state folder of this application; absolute. */
  readonly stateFolder: string;
}

export function openProcessRoll({ fileSystem, log, stateFolder }: RollPlace): ProcessRoll {
  const folder = join(stateFolder, "processes");
  const pathOf = (noted: NotedProcess): string => join(folder, nameOf(noted));
  return {
    add: async (noted) => {
      try {
        await createFolders(fileSystem, folder);
        await writeWhole(fileSystem, pathOf(noted), { bytes: Buffer.from(formatNote(noted)), isSynced: false });
      } catch (error) {
        log.debug(`process ${noted.process.pid} is not noted: ${describeFailure(error)}`);
      }
    },
    drop: (noted) => fileSystem.unlink(pathOf(noted)).catch(() => undefined),
    list: async () => {
      const files = await fileSystem.readdir(folder).catch(() => [] as string[]);
      const notes = await Promise.all(files.filter(isNote).map((file) => loadNote(fileSystem, join(folder, file))));
      return notes.filter((noted) => noted !== undefined);
    },
  };
}

const isNote = (file: string): boolean => file.endsWith(SUFFIX);

/** Equal for one process, so that whoever drops it needs no other name. */
function nameOf({ process }: NotedProcess): string {
  return `${sha256Hex(canonicalJson(jsonOf(process))).slice(0, NAME_DIGITS)}${SUFFIX}`;
}

function formatNote({ owner, process }: NotedProcess): string {
  return `${canonicalJson({ format: FORMAT, version: VERSION, owner: jsonOf(owner), process: jsonOf(process) })}\n`;
}

function jsonOf({ pid, startTicks, host, machineId, bootId, namespace, mark }: ProcessIdentity) {
  return { pid, startTicks, host, machineId, bootId, namespace, ...(mark === undefined ? {} : { mark }) };
}

async function loadNote(fileSystem: FileSystem, path: string): Promise<NotedProcess | undefined> {
  try {
    const handle = await fileSystem.open(path, "read");
    try {
      const bytes = await readWhole(handle, FILE_BYTES_MAX);
      return bytes === undefined ? undefined : parseNote(Buffer.from(bytes).toString("utf8"));
    } finally {
      await handle.close();
    }
  } catch {
    return undefined;
  }
}

function parseNote(text: string): NotedProcess | undefined {
  const value: unknown = JSON.parse(text);
  if (!isJsonObject(value) || value["format"] !== FORMAT || value["version"] !== VERSION) return undefined;
  const [owner, process] = [readIdentity(value["owner"]), readIdentity(value["process"])];
  return owner === undefined || process === undefined ? undefined : { owner, process };
}

function readIdentity(value: JsonValue | undefined): ProcessIdentity | undefined {
  if (!isJsonObject(value)) return undefined;
  const { pid, startTicks, host, machineId, bootId, namespace, mark } = value;
  if (!isNumber(pid) || !isNumber(startTicks)) return undefined;
  if (!isText(host) || !isText(machineId) || !isText(bootId) || !isText(namespace)) return undefined;
  return { pid, startTicks, host, machineId, bootId, namespace, ...(isText(mark) ? { mark } : {}) };
}

const isNumber = (value: unknown): value is number => typeof value === "number" && Number.isSafeInteger(value);
const isText = (value: unknown): value is string => typeof value === "string";
