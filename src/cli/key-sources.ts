/** The flags that name a key, a passphrase or a command that opens a task. */
import type { Command } from "commander";
import { SplashdownError } from "../base/errors.js";
import type { KeySourceSetting } from "../runtime/contract.js";

export interface SourceFlags {
  readonly keyFile?: readonly string[];
  readonly env?: readonly string[];
  readonly passphrase?: readonly string[];
  readonly command?: readonly string[];
  readonly age?: readonly string[];
}

export function addSourceFlags(command: Command): Command {
  const collect = (value: string, before: readonly string[] = []): string[] => [...before, value];
  return command
    .option("--key-file <path>", "a key file; make one with: splashdown keys init --key-file PATH", collect)
    .option("--env <name>", "the variable that holds a key (base64 of 32 bytes)", collect)
    .option("--passphrase <name>", "the variable that holds a passphrase", collect)
    .option("--command <json>", 'a command that wraps and unwraps, as JSON: ["vault-wrap", "--key", "x"]', collect)
    .option("--age <recipient>", "a public age recipient, age1…; it locks for whoever has the identity", collect);
}

/** Errors: USAGE_INVALID. */
export function readSourceFlags({ keyFile, env, passphrase, command, age }: SourceFlags): KeySourceSetting[] {
  return [
    ...(keyFile ?? []).map((path): KeySourceSetting => ({ kind: "keyfile", path })),
    ...(env ?? []).map((name): KeySourceSetting => ({ kind: "env", name })),
    ...(passphrase ?? []).map((name): KeySourceSetting => ({ kind: "passphrase", environment: name })),
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
    "give exactly one of --key-file, --env, --passphrase, --age and --command",
  );
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
