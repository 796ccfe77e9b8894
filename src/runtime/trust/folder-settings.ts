/**
 * The settings file that lies in a folder, with its digest and what in it waits to be trusted; and who trusts it.
 *
 * Owns: what `openSplashdown` asks before it uses such settings, and what is told of those it does not use.
 */
import { writeCommand } from "../../base/command-text.js";
import { readUtf8 } from "../../base/utf8-text.js";
import { resolve } from "node:path";
import { readBoundedFile } from "../../base/bounded-file.js";
import { SplashdownError } from "../../base/errors.js";
import { LIMITS } from "../../base/limits.js";
import { formatCount } from "../../base/plain-text.js";
import { loadSettingsFile, SETTINGS_FILES } from "../../definition/settings/settings-sources.js";
import type { SettingsLayer } from "../../definition/settings/settings.js";
import { splitSettings, type WaitingSetting } from "../../definition/settings/waiting-settings.js";
import type { Environment } from "../platform/environment.js";
import { digestOfTexts, isTrustedByEnvironment, loadTrust, realFolder, type TrustPlace } from "./trusted-folders.js";

export interface FolderSettings {
  /** Its real path. */
  readonly folder: string;
  readonly file: string;
  readonly digest: string;
  readonly waiting: readonly WaitingSetting[];
  readonly layer: SettingsLayer;
}

/** What a person is asked about. */
export type TrustQuestion = Omit<FolderSettings, "layer">;
export type IsTrusted = (question: TrustQuestion) => Promise<boolean>;

export interface Waiting {
  readonly file: string;
  readonly settings: readonly WaitingSetting[];
}

/** Never more of it than a settings file may have; its reader says so. */
export async function readSettingsText(path: string): Promise<string> {
  const read = readUtf8(await readBoundedFile(path, { sizeBytesMax: LIMITS.settingsFileBytesMax }));
  if ("text" in read) return read.text;
  throw new SplashdownError("SETTING_INVALID", `${path} ${read.problem}; save it in that encoding`, {
    details: { file: path },
  });
}

/** Shape: `undefined` where the folder has no such file. Errors: SETTING_INVALID. */
export async function readFolderSettings(
  folder: string,
  environment: Pick<Environment, "get">,
): Promise<FolderSettings | undefined> {
  for (const name of SETTINGS_FILES) {
    const file = resolve(folder, name);
    const texts = new Map<string, string>();
    const readText = async (path: string): Promise<string> => {
      const text = await readSettingsText(path);
      texts.set(path, text);
      return text;
    };
    const layer = await loadSettingsFile(file, { readText, environment: environment.get });
    if (layer === undefined) continue;
    const { waiting } = splitSettings(layer.values);
    return { folder: await realFolder(folder), file, digest: digestOfTexts(texts), waiting, layer };
  }
  return undefined;
}

/** Asks the environment, what is remembered, and then the person, whose answer `decide` remembers. */
export function createTrust(
  place: TrustPlace,
  decide: ((question: TrustQuestion) => Promise<boolean>) | undefined,
): IsTrusted {
  return async (question) => {
    if (await isTrustedByEnvironment(place, question.folder)) return true;
    const record = await loadTrust(place, question.folder);
    if (record?.digest === question.digest) return record.decision === "trusted";
    return decide === undefined ? false : decide(question);
  };
}

/** What is said once of settings that are not used. */
export function describeWaiting({ file, settings }: Waiting): string {
  const keys = settings.map(({ key }) => key).join(", ");
  const [count, are] = [formatCount(settings.length, "setting"), settings.length === 1 ? "is" : "are"];
  return `${count} of ${file} ${are} not used, as nobody has trusted this folder: ${keys}; look at the file, then: ${writeCommand("trust")}`;
}

/** The error of a verb that needs what waits; `keys`: of these alone. */
export function notTrusted({ file, settings }: Waiting, keys: readonly string[], what: string): SplashdownError {
  const named = settings.map(({ key }) => key).filter((key) => keys.includes(key));
  return new SplashdownError(
    "FOLDER_NOT_TRUSTED",
    `${what} by ${named.join(", ")} in ${file}, and nobody has trusted that file`,
    { details: { file, keys: named, folder: resolve(file, "..") } },
  );
}

/** Settings that say where tasks are. */
const STORE_KEYS = ["store", "checkpoint_config.storage_path"];

function isWaiting(waiting: Waiting | undefined, keys: readonly string[]): waiting is Waiting {
  return waiting?.settings.some(({ key }) => keys.includes(key)) === true;
}

/** Why the store of the settings is not opened; `origins`: of what is in force instead. */
export function findStoreRefusal(
  waiting: Waiting | undefined,
  origins: Readonly<Record<string, string>>,
): (() => SplashdownError) | undefined {
  if (!isWaiting(waiting, STORE_KEYS) || STORE_KEYS.some((key) => origins[key] !== undefined)) return undefined;
  return () => notTrusted(waiting, STORE_KEYS, "where tasks are is said");
}

/** Why there is no key of the settings. */
export function findKeyRefusal(waiting: Waiting | undefined): (() => SplashdownError) | undefined {
  return isWaiting(waiting, ["keys"]) ? () => notTrusted(waiting, ["keys"], "keys are named") : undefined;
}
