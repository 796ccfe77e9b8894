/** The `keys` verbs. They show fingerprints and places, never a key. */
import { resolve } from "node:path";
import { EXIT_STATUS } from "../../../base/error-table.js";
import { messageOf, SplashdownError } from "../../../base/errors.js";
import type { FileSystem } from "../../../base/file-system.js";
import type { JsonObject } from "../../../base/json.js";
import type { RandomSource } from "../../../base/random.js";
import type { TaskStore } from "../../../store/contract/contract.js";
import { acknowledgeKey, initKeyFile } from "../../../vault/default-key.js";
import { loadKeyFile } from "../../../vault/key-file.js";
import { formatSource, readSources } from "../../../vault/key-source.js";
import { inspectKeyring, verifyKeyring, type KeyringVerdict, type KeyringView } from "../../../vault/keyring-view.js";
import { seenOf, type KeyAccess } from "../../keychain/key-access.js";
import { findKeyringRollback } from "../../keychain/key-memory.js";
import { whileOpen } from "../../tasks/reading.js";

export interface KeysDeps {
  readonly access: KeyAccess;
  readonly fileSystem: FileSystem;
  readonly random: RandomSource;
  readonly workingFolder: string;
  readonly encryption: boolean;
  /** The named task, or every task; the caller closes them. */
  readonly tasks: (name: string | undefined) => Promise<TaskStore[]>;
}

/** Of a keyring. */
const UNFINISHED =
  "a change of its keys was cut off, and an older revision may still give what it took away; whoever continues with the task ends it, or: splashdown keys rotate TASK";

/** Names of tasks with a change of keys that was cut off. */
export async function listUnfinishedChanges(tasks: AsyncIterable<TaskStore>): Promise<string[]> {
  const names: string[] = [];
  for await (const task of tasks) {
    const view = await whileOpen(task, (each) => inspectKeyring(each).catch(() => undefined));
    if (view?.unfinished === true) names.push(task.name);
  }
  return names;
}

const BACK_UP = "back it up: without it the checkpoints sealed with it cannot be read";

export async function initKeys(
  deps: KeysDeps,
  options: { keyFile?: string; ifMissing?: boolean },
): Promise<JsonObject> {
  if (options.ifMissing === true) {
    const missing = await isEverySourceMissing(deps);
    if (!missing) return { created: false, text: "a key is configured already; nothing was made" };
  }
  const path =
    options.keyFile === undefined ? deps.access.defaultKeyPath : resolve(deps.workingFolder, options.keyFile);
  const key = await initKeyFile({ fileSystem: deps.fileSystem, path, random: deps.random });
  const use =
    path === deps.access.defaultKeyPath
      ? ""
      : `\nuse it with: SPLASHDOWN_KEY_FILE=${path} (or keys: in splashdown.config.yaml)`;
  return {
    created: true,
    file: key.path,
    fingerprint: key.fingerprint,
    text: `made key ${key.fingerprint} in ${key.path}; ${BACK_UP}${use}`,
  };
}

async function isEverySourceMissing(deps: KeysDeps): Promise<boolean> {
  const states = await readSources(deps.access.sources(), deps.access.ports);
  return states.every((state) => state.absence !== undefined);
}

export async function showKeys(deps: KeysDeps, name: string | undefined): Promise<JsonObject> {
  if (name !== undefined) return showTaskKeys(deps, name);
  const states = await deps.access.probe();
  const sources: JsonObject[] = [];
  for (const state of states) {
    const problem = state.problem === undefined ? null : messageOf(state.problem);
    const fingerprint =
      state.setting.kind === "keyfile" && state.secret !== undefined
        ? await fingerprintOf(deps, state.setting.path)
        : null;
    sources.push({
      source: formatSource(state.setting),
      at_hand: state.secret !== undefined,
      absence: state.absence ?? null,
      problem,
      fingerprint,
    });
  }
  const lines = sources.map((source) => `${textOf(source["source"])}: ${describeSource(source)}`);
  return {
    encryption: deps.encryption,
    sources,
    text: [deps.encryption ? "encryption is on" : "encryption is OFF", ...lines].join("\n"),
  };
}

async function fingerprintOf(deps: KeysDeps, path: string): Promise<string | null> {
  return (await loadKeyFile(deps.fileSystem, path))?.fingerprint ?? null;
}

function describeSource(source: JsonObject): string {
  if (typeof source["problem"] === "string") return source["problem"];
  if (typeof source["absence"] === "string") return source["absence"];
  return typeof source["fingerprint"] === "string" ? `at hand, fingerprint ${source["fingerprint"]}` : "at hand";
}

async function showTaskKeys(deps: KeysDeps, name: string): Promise<JsonObject> {
  const [task] = await deps.tasks(name);
  if (task === undefined) throw new SplashdownError("TASK_NOT_FOUND", `no task ${name}`, { details: { task: name } });
  const view = await whileOpen(task, inspectKeyring);
  if (view === undefined) return { task: task.name, encrypted: false, text: `task ${task.name} is not encrypted` };
  const older = await findOlder(deps, view);
  const shown = { task: task.name, encrypted: true, keyring: viewAsJson(view) };
  const text = formatKeyring(task.name, view);
  if (older === undefined) return { ...shown, text };
  return {
    ...shown,
    problem: older.code,
    exit_status: EXIT_STATUS.tampered,
    text: `${text}\n  OLDER: ${older.message}`,
  };
}

/** Whether a keyring is older than this machine remembers. */
async function findOlder({ access }: KeysDeps, view: KeyringView): Promise<SplashdownError | undefined> {
  const { keyring } = await access.memory.load(view.task);
  return findKeyringRollback(view.task, seenOf(view), keyring);
}

function viewAsJson(view: KeyringView): JsonObject {
  return JSON.parse(JSON.stringify(view)) as JsonObject;
}

function formatKeyring(task: string, view: KeyringView): string {
  const keys = view.keys.flatMap((key) => [
    `  key ${key.id}${key.active ? " (active)" : ""}, generation ${key.generation}, since ${key.createdAt}`,
    ...key.slots.map((slot) => `    opened by ${slot.type} ${slot.label}, fingerprint ${slot.fingerprint}`),
  ]);
  const damaged = view.damaged.map((revision) => `  damaged: ${revision.problem}`);
  const unfinished = view.unfinished ? [`  unfinished: ${UNFINISHED}`] : [];
  return [`task ${task}, keyring revision ${view.revision}`, ...keys, ...damaged, ...unfinished].join("\n");
}

/** Says that the key files in use are backed up; the reminders end. */
export async function acknowledgeKeys(deps: KeysDeps): Promise<JsonObject> {
  const said: JsonObject[] = [];
  for (const source of deps.access.sources()) {
    if (source.kind !== "keyfile") continue;
    const key = await acknowledgeKey(deps.fileSystem, source.path);
    said.push({ file: key.path, fingerprint: key.fingerprint });
  }
  const text =
    said.length === 0
      ? "no key file is in use"
      : said.map((key) => `noted: key ${textOf(key["fingerprint"])} in ${textOf(key["file"])} is backed up`).join("\n");
  return { acknowledged: said, text };
}

export async function verifyKeys(deps: KeysDeps, name: string | undefined): Promise<JsonObject> {
  const results: Judged[] = [];
  for (const task of await deps.tasks(name)) {
    try {
      results.push(await verifyTask(deps, task, name !== undefined));
    } finally {
      await task.close();
    }
  }
  const ok = results.every((result) => result.ok);
  return {
    ok,
    exit_status: Math.max(EXIT_STATUS.done, ...results.map(({ status }) => status)),
    tasks: results.map((result) => ({ task: result.task, ok: result.ok, ...result.detail })),
    text: results.length === 0 ? "no tasks" : results.map((result) => result.text).join("\n"),
  };
}

interface Judged {
  readonly task: string;
  readonly ok: boolean;
  readonly status: number;
  readonly text: string;
  readonly detail: JsonObject;
}

async function verifyTask(deps: KeysDeps, task: TaskStore, isNamed: boolean): Promise<Judged> {
  const view = await inspectKeyring(task);
  const known = view === undefined ? undefined : await deps.access.memory.load(view.task);
  // Of a task that was never opened here only what costs nothing is tried, until it is named.
  const isFrugal = !isNamed && known?.isKnown === false;
  const trust = view === undefined ? {} : { ...(await deps.access.trustOf(view.task)), isFrugal };
  const { access } = deps;
  const verdict = await verifyKeyring({ store: task, sources: access.sources(), ports: access.ports, trust });
  const older =
    verdict === undefined ? undefined : findKeyringRollback(verdict.view.task, seenOf(verdict.view), known?.keyring);
  return judge(task.name, verdict, older ?? verdict?.refusal ?? (await findUnknownKey(access, task, verdict)));
}

/** A key that the task's own trail names and its keyring does not know of. */
async function findUnknownKey(
  access: KeyAccess,
  task: TaskStore,
  verdict: KeyringVerdict | undefined,
): Promise<SplashdownError | undefined> {
  if (verdict?.authentic !== true) return undefined;
  try {
    await access.open(task);
    return undefined;
  } catch (error) {
    return error instanceof SplashdownError && error.code === "KEYRING_ROLLED_BACK" ? error : undefined;
  }
}

function judge(task: string, verdict: KeyringVerdict | undefined, refusal: SplashdownError | undefined): Judged {
  if (verdict === undefined)
    return { task, ok: true, status: 0, text: `ok   ${task}: not encrypted`, detail: { encrypted: false } };
  const ok = verdict.authentic === true && refusal === undefined;
  const status = ok ? EXIT_STATUS.done : (refusal?.exitStatus ?? EXIT_STATUS.key);
  const slots = verdict.slots.map(
    (slot) =>
      `       ${slot.type} ${slot.label}: ${slot.verdict}${slot.reason === undefined ? "" : ` (${slot.reason})`}`,
  );
  const head = ok ? `ok   ${task}: opens` : `FAIL ${task}: ${refusal?.message ?? "no configured key opens it"}`;
  const problems = [...verdict.problems, ...(verdict.view.unfinished ? [UNFINISHED] : [])];
  const { refusal: _refusal, ...facts } = verdict;
  const problem = refusal === undefined ? {} : { problem: refusal.code };
  const detail = { encrypted: true, ...(JSON.parse(JSON.stringify(facts)) as JsonObject), ...problem };
  return {
    task,
    ok,
    status,
    text: [head, ...slots, ...problems.map((line) => `       ${line}`)].join("\n"),
    detail,
  };
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
