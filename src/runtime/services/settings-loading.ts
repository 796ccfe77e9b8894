/**
 * Settings of one opened Splashdown: file < environment < flags, and for a task its workflow's blocks between file and
 * environment. Reading the file is definition/'s; where it lies and what the store is follows here.
 */
import { resolve } from "node:path";
import { SplashdownError } from "../../base/errors.js";
import type { JsonValue } from "../../base/json.js";
import { hidePassword } from "../../base/store-address.js";
import { explainSettings, listSettings } from "../../definition/settings/settings-notes.js";
import {
  loadSettingsFile,
  readEnvironmentSettings,
  settingsOfFlags,
  settingsOfWorkflow,
} from "../../definition/settings/settings-sources.js";
import { splitSettings } from "../../definition/settings/waiting-settings.js";
import { readFolderSettings, readSettingsText, type IsTrusted, type Waiting } from "../trust/folder-settings.js";
import {
  mergeSettings,
  type EffectiveSettings,
  type MergedSettings,
  type SettingsLayer,
} from "../../definition/settings/settings.js";
import type { WorkflowDefinition } from "../../definition/model/workflow.js";
import type { KeySourceSetting } from "../../vault/key-source.js";
import type { ConfigView } from "../views/verb-views.js";
import type { Environment } from "../platform/environment.js";

export interface LoadedSettings {
  readonly merged: MergedSettings;
  readonly settings: EffectiveSettings;
  /** Address of the store in force. */
  readonly store: string;
  readonly keys: readonly KeySourceSetting[];
  /** What a person set and should know about. */
  readonly notes: readonly string[];
  /** What the folder's file says and is not used until a person trusts it. */
  readonly waiting: Waiting | undefined;
  /** Settings of a task: with its workflow's blocks. Errors: SETTING_INVALID. */
  readonly forWorkflow: (definition: Pick<WorkflowDefinition, "settings" | "name">) => EffectiveSettings;
  /** The store that a workflow's blocks name; `undefined` where they name none. Errors: SETTING_INVALID. */
  readonly storeOfWorkflow: (definition: Pick<WorkflowDefinition, "settings" | "name">) => string | undefined;
  /** False where a flag or the environment names the store: it counts for every workflow. */
  readonly mayMove: boolean;
}

export interface SettingsFlags {
  readonly configFile: string | undefined;
  readonly store: string | undefined;
  /** Whether a person trusts the folder's settings; absent: what is waiting waits. */
  readonly isTrusted?: IsTrusted;
}

/** Errors: SETTING_INVALID, also for a named file that does not exist. */
export async function loadSettings(environment: Environment, flags: SettingsFlags): Promise<LoadedSettings> {
  const { layers: file, waiting } = await loadFile(environment, flags);
  const above = [
    readEnvironmentSettings(environment.get),
    settingsOfFlags(flags.store === undefined ? {} : { store: flags.store }, "flag", { store: "flag --store" }),
  ];
  const merged = mergeSettings([...file, ...above]);
  const mayMove = !above.some(namesStore);
  return {
    merged,
    waiting,
    settings: merged.settings,
    store: storeOf(merged),
    keys: merged.settings.keys.map(keySourceOf),
    notes: explainSettings(merged).map((note) => `${note.key}: ${note.text}`),
    forWorkflow: (definition) => mergeSettings([...file, settingsOfWorkflow(definition), ...above]).settings,
    storeOfWorkflow: (definition) => {
      const own = settingsOfWorkflow(definition);
      if (!mayMove || !namesStore(own)) return undefined;
      return storeOf(mergeSettings([own])).replaceAll("${workflow.name}", definition.name);
    },
    mayMove,
  };
}

function namesStore({ values }: SettingsLayer): boolean {
  return values.store !== undefined || values.checkpoint_config?.storage_path !== undefined;
}

interface FileLayers {
  readonly layers: readonly SettingsLayer[];
  readonly waiting: Waiting | undefined;
}

/** A file that a person named is the person's own; one that lies in the working folder may be anybody's. */
async function loadFile(environment: Environment, { configFile, isTrusted }: SettingsFlags): Promise<FileLayers> {
  if (configFile !== undefined) {
    const deps = { readText: readSettingsText, environment: environment.get };
    const layer = await loadSettingsFile(resolve(environment.workingFolder, configFile), deps);
    if (layer === undefined)
      throw new SplashdownError("SETTING_INVALID", `the settings file ${configFile} does not exist`, {
        details: { file: configFile },
      });
    return { layers: [layer], waiting: undefined };
  }
  const found = await readFolderSettings(environment.workingFolder, environment);
  if (found === undefined) return { layers: [], waiting: undefined };
  const { layer, ...asked } = found;
  if (asked.waiting.length === 0 || (await isTrusted?.(asked)) === true) return { layers: [layer], waiting: undefined };
  const { harmless } = splitSettings(layer.values);
  return { layers: [{ ...layer, values: harmless }], waiting: { file: asked.file, settings: asked.waiting } };
}

const TASK_FOLDER = /^(.*?)\/?\{TASK\}\/checkpoints\/?$/;

/** `store` wins; else a `storage_path` that was set says where the tasks' folders lie. */
function storeOf({ settings, origins }: MergedSettings): string {
  const path = settings.checkpoint_config.storage_path;
  if (origins["store"] !== undefined || origins["checkpoint_config.storage_path"] === undefined) return settings.store;
  const root = path.includes("{TASK}") ? TASK_FOLDER.exec(path)?.[1] : path;
  if (root !== undefined) return `file:${root === "" ? "." : root}`;
  throw new SplashdownError(
    "SETTING_INVALID",
    `checkpoint_config.storage_path must end with {TASK}/checkpoints, or name the folder of all tasks; it is ${path}`,
    {
      details: { key: "checkpoint_config.storage_path", value: path },
    },
  );
}

type ConfiguredSource = EffectiveSettings["keys"][number];

/** Whose entries of the system's keyring are meant where nobody says. */
const SYSTEM_SERVICE = "splashdown";

/** What a kind needs was checked with the settings. */
function keySourceOf(source: ConfiguredSource): KeySourceSetting {
  const given = {
    path: "",
    variable: "",
    command: [],
    recipients: [],
    service: SYSTEM_SERVICE,
    account: "",
    ...source,
  };
  switch (given.type) {
    case "keyfile":
      return { kind: "keyfile", path: given.path };
    case "passphrase":
      if (given.typed === true) return { kind: "passphrase", typed: "opens" };
      return given.path === ""
        ? { kind: "passphrase", environment: given.variable }
        : { kind: "passphrase", file: given.path };
    case "env":
      return { kind: "env", name: given.variable };
    case "command":
      return {
        kind: "command",
        argv: given.command,
        ...(given.variables === undefined ? {} : { variables: given.variables }),
        ...(given.proves_origin === undefined ? {} : { provesOrigin: given.proves_origin }),
      };
    case "age":
      return {
        kind: "age",
        recipients: given.recipients,
        ...(given.identity === undefined ? {} : { identity: given.identity }),
      };
    case "system":
      return { kind: "system", service: given.service, account: given.account };
  }
}

/** Addresses have no password where people see them. */
function shownOf({ key, value }: ReturnType<typeof listSettings>[number], store: string): JsonValue {
  if (key === "store") return hidePassword(store);
  return key === "cache" && typeof value === "string" ? hidePassword(value) : value;
}

export function viewConfig(loaded: LoadedSettings): ConfigView {
  const settings = listSettings(loaded.merged).map((row) => ({
    key: row.key,
    value: shownOf(row, loaded.store),
    origin: row.origin,
    ...noteOf(row, loaded.waiting),
  }));
  return { settings };
}

function noteOf({ key, note }: ReturnType<typeof listSettings>[number], waiting: Waiting | undefined) {
  const held = waiting?.settings.find((each) => key === each.key || key.startsWith(`${each.key}.`));
  if (held === undefined) return note === undefined ? {} : { note };
  return { note: `${waiting?.file ?? ""} says otherwise and waits for: splashdown trust` };
}
