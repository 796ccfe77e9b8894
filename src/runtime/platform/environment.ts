/**
 * The environment of this process: the only place that reads it.
 *
 * Names of our own key variables are taken out of what children get; where folders of the user lie follows env-paths.
 */
import { SplashdownError } from "../../base/errors.js";
import { homedir, hostname, userInfo } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { hasPassword } from "../../base/store-address.js";
import { PACKAGES_VARIABLE } from "../../base/optional-package.js";
import { wipeInitialEnvironment } from "../../process/initial-environment.js";

export interface Environment {
  /** A variable's value; an empty one counts as absent. */
  readonly get: (name: string) => string | undefined;
  readonly all: Readonly<Record<string, string>>;
  readonly homeFolder: string;
  readonly configFolder: string;
  readonly stateFolder: string;
  readonly workingFolder: string;
  /** Where a person lets optional packages be loaded from, beside our own installation; absent: nowhere. */
  readonly packagesFolder: string | undefined;
  /** Whose rules file names and folders follow. */
  readonly platform: NodeJS.Platform;
  readonly host: string;
  readonly user: string;
}

/** Variables that hold keys of ours; children never see them. */
const OWN_KEY_VARIABLES = ["SPLASHDOWN_KEY", "SPLASHDOWN_PASSPHRASE"];
/** Variables that may hold an address of a database with a password in it. */
const STORE_VARIABLES = ["SPLASHDOWN_STORE", "SPLASHDOWN_CACHE", "WORKFLOW_CHECKPOINT_DSN"];

/** What was taken out of this process's environment, for ourselves. */
const taken = new Map<string, string>();
let isOwnProcess = false;

/**
 * Makes this process ours: variables with keys leave its environment, for functions that run in it and for whoever looks
 * at it from outside. A program that uses the library keeps its own.
 */
export function takeKeyVariables(): void {
  isOwnProcess = true;
  hideVariables(["SPLASHDOWN_KEY", "SPLASHDOWN_PASSPHRASE", "SPLASHDOWN_AGE_IDENTITY"]);
}

/** The same for variables that settings name as keys; nothing in a process that is not ours. */
export function hideVariables(names: readonly string[]): void {
  if (!isOwnProcess) return;
  const present = names.filter((name) => process.env[name] !== undefined);
  if (present.length === 0) return;
  for (const name of present) {
    taken.set(name, process.env[name] ?? "");
    delete process.env[name];
  }
  wipeInitialEnvironment(new Set(present));
}

/** The environment of a process of ours that only reads a workflow file: all of it but our own key variables. */
export function environmentOfCheck(): Record<string, string> {
  return childEnvironmentOf(readEnvironment(), []);
}

/** Reads the real environment. */
export function readEnvironment(): Environment {
  const all: Record<string, string> = Object.fromEntries(taken);
  for (const [name, value] of Object.entries(process.env)) {
    if (value !== undefined) all[name] = value;
  }
  return createEnvironment(all, readWorkingFolder());
}

/** One variable of the real environment, for who needs no folder. */
export function readVariable(name: string): string | undefined {
  return process.env[name];
}

/** Errors: USAGE_INVALID where the folder was removed under the shell that stands in it. */
function readWorkingFolder(): string {
  try {
    return process.cwd();
  } catch (error) {
    throw new SplashdownError("USAGE_INVALID", "the working folder is not there any more: it was removed or moved", {
      details: { commands: ['cd "$HOME"'] },
      cause: error,
    });
  }
}

/** An environment of given variables, for programs that run several side by side and for tests. */
export function createEnvironment(
  all: Readonly<Record<string, string>>,
  workingFolder: string,
  platform: NodeJS.Platform = process.platform,
): Environment {
  const home = isAbsolute(all["HOME"] ?? "") ? (all["HOME"] ?? "") : readHome();
  /** A relative one of the desktop's is no place, as its own rules have it; ours is meant from here. */
  const folderOf = (own: string, shared: string, below: string): string => {
    if (all[own]) return resolve(workingFolder, all[own]);
    const base = isAbsolute(all[shared] ?? "") ? (all[shared] ?? "") : join(home, below);
    return join(base, "splashdown");
  };
  return {
    get: (name) => (all[name] === "" ? undefined : all[name]),
    all,
    homeFolder: home,
    configFolder: folderOf("SPLASHDOWN_CONFIG_DIR", "XDG_CONFIG_HOME", ".config"),
    stateFolder: folderOf("SPLASHDOWN_STATE_DIR", "XDG_STATE_HOME", join(".local", "state")),
    workingFolder,
    packagesFolder: all[PACKAGES_VARIABLE] ? resolve(workingFolder, all[PACKAGES_VARIABLE]) : undefined,
    platform,
    host: hostname(),
    user: all["USER"] ?? all["LOGNAME"] ?? readUserName(),
  };
}

/** What a child may inherit: everything but our own key variables; the performer picks its minimal set from it. */
export function childEnvironmentOf(environment: Environment, keyVariables: readonly string[]): Record<string, string> {
  const secretStores = STORE_VARIABLES.filter((name) => hasPassword(environment.all[name] ?? ""));
  const hidden = new Set([...OWN_KEY_VARIABLES, ...secretStores, ...keyVariables]);
  return Object.fromEntries(Object.entries(environment.all).filter(([name]) => !hidden.has(name)));
}

/** What a program needs to be found and to run at all; nothing in it is a secret. */
const PLAIN_VARIABLES = [
  ...(["PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "TZ", "TMPDIR", "TERM"] as const),
  ...(["SystemRoot", "ComSpec", "PATHEXT", "TEMP", "TMP", "USERPROFILE", "APPDATA", "LOCALAPPDATA"] as const),
];

/** The environment of a key command: what every program needs, and the variables that its setting names. */
export function plainEnvironmentOf(
  { all }: Pick<Environment, "all">,
  names: readonly string[],
): Record<string, string> {
  const given: Record<string, string> = {};
  for (const name of [...PLAIN_VARIABLES, ...names]) {
    const value = all[name];
    if (value !== undefined) given[name] = value;
  }
  return given;
}

/** A user of a container may have neither HOME nor an entry in the system's list; then it is what such containers set. */
function readHome(): string {
  return [homedir, () => userInfo().homedir].map(readFolder).find(isAbsolute) ?? "/";
}

function readFolder(read: () => string): string {
  try {
    return read();
  } catch {
    return "";
  }
}

function readUserName(): string {
  try {
    return userInfo().username;
  } catch {
    return "unknown";
  }
}
