/**
 * Where wrapping keys come from: key file, environment, passphrase, command.
 *
 * Owns: the settings' shape and what each source has to say at this moment. `key-file.ts` owns the file's text,
 * `key-command.ts` the protocol with a command, `slot.ts` what is done with a secret. The environment and processes
 * arrive as ports: this room reads neither.
 *
 * V5: a source that is absent is a fact, not an error: another one may open the keyring. A source that is there but
 * malformed or unsafe is reported by name and never used.
 */
import type { FileSystem } from "../base/file-system.js";
import { isErrorCode, SplashdownError } from "../base/errors.js";
import { decodeBase64Url } from "../base/digest.js";
import type { KeyCommandRunner } from "./key-command.js";
import { KEY_BYTES } from "./derivation.js";
import { type AgeBox, type AgeSecret, readAgeSecret } from "./age-wrap.js";
import { loadAgeIdentities, loadKeyFile } from "./key-file.js";

/** As in schemas/keyring.schema.json. */
const LABEL_CHARS_MAX = 200;

/** A passphrase that is in no variable: in a file or on a descriptor (`/dev/fd/3`), or in somebody's head. */
export type KeptPassphrase =
  | { readonly file: string }
  /** `added`: not the one that opens what there is, but one that shall. */
  | { readonly typed: "opens" | "added" };

/** A key source as settings name it. */
export type KeySourceSetting =
  | { readonly kind: "keyfile"; readonly path: string }
  | { readonly kind: "passphrase"; readonly environment: string }
  | ({ readonly kind: "passphrase" } & KeptPassphrase)
  | { readonly kind: "env"; readonly name: string }
  /**
   * `provesOrigin`: only its owners can wrap with it, so that what it unwraps was locked by one of them (V21).
   * `variables`: of the environment, beside PATH, HOME and the like.
   */
  | {
      readonly kind: "command";
      readonly argv: readonly string[];
      readonly provesOrigin?: boolean;
      readonly variables?: readonly string[];
    }
  /** `recipients`: public, `age1…`; `identity`: path of an age identity file, without which it only locks. */
  | { readonly kind: "age"; readonly recipients: readonly string[]; readonly identity?: string }
  /** An entry of the system's keyring (Keychain, Credential Manager, Secret Service). */
  | { readonly kind: "system"; readonly service: string; readonly account: string };

/** What the sources need of the world. */
export interface KeyPorts {
  readonly fileSystem: FileSystem;
  /** The value of an environment variable; `undefined` when it is not set. */
  readonly readSecret: (name: string) => string | undefined;
  /** Errors: KEY_SOURCE_INVALID, CANCELLED. Absent where neither files nor terminals are asked for passphrases. */
  readonly readPassphrase?: (kept: KeptPassphrase) => Promise<string | undefined>;
  /** Absent where commands cannot be run; command sources are then not at hand. */
  readonly runCommand?: KeyCommandRunner;
  /** Errors: KEY_SOURCE_INVALID when the package is not installed. Absent where there is none to load. */
  readonly loadAge?: () => Promise<AgeBox>;
  /** A text the system keeps; `undefined` when it has none. Errors: KEY_SOURCE_INVALID. */
  readonly readSystemSecret?: (service: string, account: string) => Promise<string | undefined>;
  /** Derives from passphrases, each once and one at a time. Absent: each time anew. */
  readonly derive?: PassphraseDeriver;
  /** The secret of a kept origin (origin.ts), for owners whose sources give no key to sign with; `undefined` for none. */
  readonly readKeptOrigin?: () => Promise<Uint8Array | undefined>;
}

/** What a derivation costs. */
export interface ScryptCost {
  readonly log2n: number;
  readonly r: number;
  readonly p: number;
}

/** The wrapping key of a passphrase. */
export type PassphraseDeriver = (text: string, salt: Uint8Array, cost: ScryptCost) => Promise<Uint8Array>;

/** A secret at hand, by its nature: what can be done with it, not where it came from. */
export type Secret =
  | { readonly nature: "key"; readonly bytes: Uint8Array }
  | { readonly nature: "passphrase"; readonly text: string; readonly derive?: PassphraseDeriver | undefined }
  | { readonly nature: "command"; readonly argv: readonly string[]; readonly run: KeyCommandRunner }
  | ({ readonly nature: "age" } & AgeSecret);

/** True for a secret that opens what it locks; age recipients without an identity only lock. */
export function canOpen(secret: Secret): boolean {
  return secret.nature !== "age" || secret.identities.length > 0;
}

/** One configured source and what it gives now. */
export interface SourceState {
  readonly setting: KeySourceSetting;
  /** Names the source for people; never holds a secret. */
  readonly label: string;
  readonly secret?: Secret;
  /** Why there is no secret: not there at all (`absent`) or there but of no use. */
  readonly absence?: string;
  readonly problem?: SplashdownError;
}

/** A source with a secret at hand. */
export type ReadySource = SourceState & { readonly secret: Secret };

export function isReadySource(source: SourceState): source is ReadySource {
  return source.secret !== undefined;
}

/** Names a source for people, as in settings. */
export function formatSource(setting: KeySourceSetting): string {
  switch (setting.kind) {
    case "keyfile":
      return `key file ${setting.path}`;
    case "passphrase":
      if ("environment" in setting) return `passphrase in $${setting.environment}`;
      return "file" in setting ? `passphrase in ${setting.file}` : "passphrase typed at the terminal";
    case "env":
      return `key in $${setting.name}`;
    case "command":
      return `command ${nameCommand(setting.argv)}`;
    case "age":
      return `age ${setting.identity === undefined ? `recipients ${setting.recipients.join(", ")}` : `identity ${setting.identity}`}`;
    case "system":
      return `system keyring entry ${setting.service}/${setting.account}`;
  }
}

/** What the slot of a source is labelled with: short, and without a path that names a person. */
export function computeSlotLabel(setting: KeySourceSetting): string {
  switch (setting.kind) {
    case "keyfile":
      return lastPart(setting.path);
    case "passphrase":
      if ("environment" in setting) return shorten(setting.environment);
      return "file" in setting ? lastPart(setting.file) : "typed";
    case "env":
      return shorten(setting.name);
    case "command":
      return shorten(nameCommand(setting.argv.map((part) => part.replace(/^.*[\\/]/, ""))));
    case "age":
      return shorten(setting.recipients[0] ?? lastPart(setting.identity ?? ""));
    case "system":
      return shorten(`${setting.service}/${setting.account}`);
  }
}

/** Programs that run another one: what they run is the name. */
const INTERPRETERS = /^(node|deno|bun|python3?|ruby|perl|sh|bash)(\.exe)?$/;

/** The program; of an interpreter with its script. No other argument: it may hold a secret. */
function withVariables(run: KeyCommandRunner, variables: readonly string[] | undefined): KeyCommandRunner {
  return variables === undefined ? run : (call) => run({ ...call, environment: variables });
}

function nameCommand(argv: readonly string[]): string {
  const program = programOf(argv);
  const script = argv[1];
  const isRun = INTERPRETERS.test(lastPart(program)) && script !== undefined && !script.startsWith("-");
  return isRun ? `${program} ${script}` : program;
}

function programOf(argv: readonly string[]): string {
  return argv[0] ?? "";
}

function lastPart(path: string): string {
  return shorten(path.replace(/^.*[\\/]/, ""));
}

function shorten(text: string): string {
  return text === "" ? "unnamed" : text.slice(0, LABEL_CHARS_MAX);
}

/**
 * Asks every configured source for its secret.
 *
 * Shape: one state per setting, in their order.
 * Errors: none; a malformed or unsafe source carries its `problem`.
 */
export async function readSources(settings: readonly KeySourceSetting[], ports: KeyPorts): Promise<SourceState[]> {
  return Promise.all(settings.map((setting) => readSource(setting, ports)));
}

async function readSource(setting: KeySourceSetting, ports: KeyPorts): Promise<SourceState> {
  const label = formatSource(setting);
  try {
    const found = await findSecret(setting, ports);
    return typeof found === "string" ? { setting, label, absence: found } : { setting, label, secret: found };
  } catch (error) {
    if (!(error instanceof SplashdownError) || !isErrorCode(error, "KEY_SOURCE_INVALID")) throw error;
    return { setting, label, problem: error };
  }
}

/** The secret, or why there is none. */
async function findSecret(setting: KeySourceSetting, ports: KeyPorts): Promise<Secret | string> {
  switch (setting.kind) {
    case "keyfile": {
      const key = await loadKeyFile(ports.fileSystem, setting.path);
      return key === undefined ? "the file does not exist" : { nature: "key", bytes: key.bytes };
    }
    case "passphrase":
      if ("environment" in setting)
        return readVariable(setting.environment, ports, (text) => passphraseOf(text, ports));
      return findKeptPassphrase(setting, ports);
    case "env":
      return readVariable(setting.name, ports, parseEnvironmentSecret);
    case "command":
      if (programOf(setting.argv) === "") throw invalidSource(setting, "names no program");
      if (ports.runCommand === undefined) return "commands cannot be run here";
      return { nature: "command", argv: setting.argv, run: withVariables(ports.runCommand, setting.variables) };
    case "age":
      return findAgeSecret(setting, ports);
    case "system":
      return findSystemSecret(setting, ports);
  }
}

type SettingOf<K extends KeySourceSetting["kind"]> = Extract<KeySourceSetting, { kind: K }>;

async function findAgeSecret(setting: SettingOf<"age">, ports: KeyPorts): Promise<Secret | string> {
  if (ports.loadAge === undefined) return "age cannot be used here";
  const { identity, recipients } = setting;
  const found = identity === undefined ? [] : await loadAgeIdentities(ports.fileSystem, identity);
  if (found === undefined && recipients.length === 0) return "the identity file does not exist";
  const box = await ports.loadAge();
  const secret = await readAgeSecret({ box, recipients, identities: found ?? [] });
  if (typeof secret === "string") throw invalidSource(setting, secret);
  return { nature: "age", ...secret };
}

async function findSystemSecret(setting: SettingOf<"system">, ports: KeyPorts): Promise<Secret | string> {
  if (ports.readSystemSecret === undefined) return "the system's keyring cannot be used here";
  const text = await ports.readSystemSecret(setting.service, setting.account);
  if (text === undefined) return "the system's keyring has no such entry";
  const bytes = decodeKeyText(text);
  if (bytes === undefined) throw invalidSource(setting, `does not hold a key: ${describeNoKey(text)}`);
  return { nature: "key", bytes };
}

async function findKeptPassphrase(
  setting: Extract<SettingOf<"passphrase">, KeptPassphrase>,
  ports: KeyPorts,
): Promise<Secret | string> {
  const text = await ports.readPassphrase?.(setting);
  if (text === undefined) return "file" in setting ? "the file does not exist" : "there is no terminal to type it at";
  if (text.trim() === "") throw invalidSource(setting, "is empty");
  return passphraseOf(text, ports);
}

function passphraseOf(text: string, { derive }: KeyPorts): Secret {
  return { nature: "passphrase", text, derive };
}

function readVariable(name: string, ports: KeyPorts, parse: (text: string, name: string) => Secret): Secret | string {
  const text = ports.readSecret(name);
  if (text === undefined) return "the variable is not set";
  if (text.trim() === "") {
    throw new SplashdownError("KEY_SOURCE_INVALID", `the key variable $${name} is empty`, {
      details: { variable: name },
    });
  }
  return parse(text, name);
}

/** A key and nothing else: a key with a slip in it would make a passphrase that nobody knows. */
function parseEnvironmentSecret(text: string, name: string): Secret {
  const bytes = decodeKeyText(text);
  if (bytes !== undefined) return { nature: "key", bytes };
  const other = name === "SPLASHDOWN_KEY" ? "SPLASHDOWN_PASSPHRASE" : "a source of type passphrase";
  throw new SplashdownError(
    "KEY_SOURCE_INVALID",
    `the variable $${name} does not hold a key: ${describeNoKey(text)}; a passphrase is for ${other}`,
    { details: { variable: name } },
  );
}

const HEX_KEY = /^[0-9A-Fa-f]{64}$/;

/** 32 bytes as base64 or base64url, with padding or without, or as hex digits; `undefined` for anything else. */
function decodeKeyText(text: string): Buffer | undefined {
  if (HEX_KEY.test(text)) return Buffer.from(text, "hex");
  const bytes = decodeBase64Url(text.replace(/=$/, "").replaceAll("+", "-").replaceAll("/", "_"));
  return bytes?.length === KEY_BYTES ? bytes : undefined;
}

/** What is wrong with a text that is no key, without a character of it. */
function describeNoKey(text: string): string {
  const inner = text.trim().replace(/^(["'])(.*)\1$/s, "$2");
  if (inner !== text && decodeKeyText(inner.trim()) !== undefined)
    return inner === text.trim() ? "it begins or ends with white space" : "it stands in quotes";
  const wanted = "32 bytes as base64 (44 characters) or hex (64)";
  return `it has ${text.length} characters and is not ${wanted}`;
}

function invalidSource(setting: KeySourceSetting, what: string): SplashdownError {
  const source = formatSource(setting);
  return new SplashdownError("KEY_SOURCE_INVALID", `the key source "${source}" ${what}`, {
    details: { source },
  });
}
