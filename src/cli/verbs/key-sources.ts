/** The flags that name a key, a passphrase or a command that opens a task. */
import type { Command } from "commander";
import { SplashdownError } from "../../base/errors.js";
import type { KeySourceSetting } from "../../runtime/contract.js";

export interface SourceFlags {
  readonly keyFile?: readonly string[];
  readonly env?: readonly string[];
  readonly passphrase?: readonly string[];
  readonly passphraseFile?: readonly string[];
  readonly passphraseTyped?: boolean;
  readonly command?: readonly string[];
  readonly age?: readonly string[];
  readonly system?: readonly string[];
}

export function addSourceFlags(command: Command): Command {
  const collect = (value: string, before: readonly string[] = []): string[] => [...before, value];
  return command
    .option("--key-file <path>", "a key file; make one with: splashdown keys init --key-file PATH", collect)
    .option("--env <name>", "the variable that holds a key (base64 of 32 bytes)", collect)
    .option("--passphrase <name>", "the variable that holds a passphrase", collect)
    .option("--passphrase-file <path>", "a file with a passphrase in its one line, or a descriptor: /dev/fd/3", collect)
    .option("--passphrase-typed", "a passphrase that you are asked for at the terminal, twice")
    .option("--command <json>", 'a command that wraps and unwraps, as JSON: ["vault-wrap", "--key", "x"]', collect)
    .option(
      "--system <entry>",
      "SERVICE/ACCOUNT of the system's keyring, which holds a key (base64 of 32 bytes)",
      collect,
    )
    .option("--age <recipient>", "a public age recipient, age1…; it locks for whoever has the identity", collect);
}

/** Errors: USAGE_INVALID. */
export function readSourceFlags(flags: SourceFlags): KeySourceSetting[] {
  const { keyFile, env, passphrase, passphraseFile, command, age, system } = flags;
  return [
    ...(keyFile ?? []).map((path): KeySourceSetting => ({ kind: "keyfile", path })),
    ...(env ?? []).map((name): KeySourceSetting => ({ kind: "env", name })),
    ...(passphrase ?? []).map((name): KeySourceSetting => ({ kind: "passphrase", environment: name })),
    ...(passphraseFile ?? []).map((file): KeySourceSetting => ({ kind: "passphrase", file })),
    ...(flags.passphraseTyped === true ? [{ kind: "passphrase", typed: "added" } as const] : []),
    ...(system ?? []).map(parseEntry),
    ...(age === undefined ? [] : [{ kind: "age", recipients: age } as const]),
    ...(command ?? []).map((text): KeySourceSetting => ({ kind: "command", argv: parseArgv(text) })),
  ];
}

/** Errors: USAGE_INVALID when there is none, or more than one. */
export function requireOneSource(flags: SourceFlags): KeySourceSetting {
  const [source, ...more] = readSourceFlags(flags);
  if (source !== undefined && more.length === 0) return source;
  throw new SplashdownError(
    "USAGE_INVALID",
    "give exactly one of --key-file, --env, --passphrase, --passphrase-file, --passphrase-typed, --system, --age and --command",
  );
}

/** The account is what follows the last slash. */
function parseEntry(text: string): KeySourceSetting {
  const [, service, account] = /^(.+)\/([^/]+)$/.exec(text) ?? [];
  if (service !== undefined && account !== undefined) return { kind: "system", service, account };
  throw new SplashdownError("USAGE_INVALID", `--system takes SERVICE/ACCOUNT, not ${text.slice(0, 200)}`);
}

function parseArgv(text: string): readonly string[] {
  try {
    const argv: unknown = JSON.parse(text);
    if (Array.isArray(argv) && argv.length > 0 && argv.every((part) => typeof part === "string")) return argv;
  } catch {
    // Said below: text that is no JSON is as wrong as JSON that is no list.
  }
  throw new SplashdownError("USAGE_INVALID", `--command takes a JSON list of strings, not ${text.slice(0, 200)}`);
}
