/**
 * The protocol with a key command: a program that wraps and unwraps a wrapping key (KMS, Vault, password manager).
 *
 * The program is run without a shell, gets one JSON line on stdin and answers with one JSON object on stdout; exit
 * status 0, within 30 s. The task's own key never crosses: it is sealed under a fresh key per slot, and only that one
 * is given away to be wrapped.
 *
 *     → {"splashdown":1,"operation":"wrap","key":"<base64, 32 bytes>","context":{"task":"<uuid>","slot":"<16 hex>"}}
 *     ← {"wrapped":"<any text, at most 16,384 characters>"}
 *     → {"splashdown":1,"operation":"unwrap","wrapped":"<the same text>","context":{…the same…}}
 *     ← {"key":"<base64, 32 bytes>"}
 *     ← {"error":"<why not>"}            for either; a status other than 0 means the same
 *
 * The context may be used as associated data of the wrap. Unknown fields are to be ignored on both sides.
 */
import { decodeBase64 } from "../base/digest.js";
import { isErrorCode, messageOf, SplashdownError } from "../base/errors.js";
import { isJsonObject, type JsonObject } from "../base/json.js";
import { LIMITS } from "../base/limits.js";
import { isSameBytes, KEY_BYTES } from "./derivation.js";

const WRAPPED_CHARS_MAX = 16_384;

export interface KeyCommandResult {
  /** `undefined` when a signal ended the program. */
  readonly exitCode: number | undefined;
  readonly stdout: string;
  readonly stderrTail: string;
  readonly timedOut: boolean;
}

/** Runs a program without a shell; rejects when it cannot be started. */
export type KeyCommandRunner = (call: {
  readonly argv: readonly string[];
  readonly input: string;
  readonly timeoutMs: number;
  /** Names of the variables that the program gets beside those that every program needs. */
  readonly environment?: readonly string[] | undefined;
}) => Promise<KeyCommandResult>;

export interface KeyCommand {
  readonly argv: readonly string[];
  readonly run: KeyCommandRunner;
}

/** Which slot of which task a wrap is for. */
export interface WrapContext {
  readonly task: string;
  readonly slot: string;
}

/**
 * Has the command wrap a key.
 *
 * Errors: KEY_SOURCE_INVALID when it fails, takes too long or answers anything else.
 */
export async function wrapByCommand(command: KeyCommand, key: Uint8Array, context: WrapContext): Promise<string> {
  const answer = await ask(command, {
    operation: "wrap",
    key: Buffer.from(key).toString("base64"),
    context: { ...context },
  });
  const wrapped = answer["wrapped"];
  if (typeof wrapped === "string" && wrapped.length > 0 && wrapped.length <= WRAPPED_CHARS_MAX) return wrapped;
  throw failed(command, `answered without "wrapped", a text of at most ${WRAPPED_CHARS_MAX} characters`);
}

/**
 * Has the command unwrap a key.
 *
 * Errors: KEY_SOURCE_INVALID as in `wrapByCommand`.
 */
export async function unwrapByCommand(command: KeyCommand, wrapped: string, context: WrapContext): Promise<Buffer> {
  const answer = await ask(command, { operation: "unwrap", wrapped, context: { ...context } });
  const text = answer["key"];
  const key = typeof text === "string" ? decodeBase64(text) : undefined;
  if (key?.length === KEY_BYTES) return key;
  throw failed(command, `answered without "key", base64 of ${KEY_BYTES} bytes`);
}

/**
 * Has the command wrap a key and give it back, for nothing but to see whether it does.
 *
 * Errors: KEY_SOURCE_INVALID when it does not.
 */
export async function proveCommand(command: KeyCommand, key: Uint8Array): Promise<void> {
  const context: WrapContext = { task: "00000000-0000-0000-0000-000000000000", slot: "0".repeat(16) };
  const given = await unwrapByCommand(command, await wrapByCommand(command, key, context), context);
  if (!isSameBytes(given, key)) throw failed(command, "does not give back what it wrapped");
}

async function ask(command: KeyCommand, request: JsonObject): Promise<JsonObject> {
  const input = `${JSON.stringify({ splashdown: 1, ...request })}\n`;
  const result = await runOnce(command, input);
  if (result.timedOut) throw failed(command, `did not answer within ${LIMITS.keyCommandTimeoutMs} ms`);
  const answer = parseAnswer(result.stdout);
  if (typeof answer?.["error"] === "string") throw failed(command, `refused: ${answer["error"].slice(0, 500)}`);
  if (result.exitCode !== 0) throw failed(command, describeExit(result));
  if (answer === undefined) throw failed(command, "answered something that is no JSON object");
  return answer;
}

async function runOnce(command: KeyCommand, input: string): Promise<KeyCommandResult> {
  try {
    return await command.run({ argv: command.argv, input, timeoutMs: LIMITS.keyCommandTimeoutMs });
  } catch (error) {
    if (isErrorCode(error, "CANCELLED")) throw error;
    throw failed(command, `cannot be run: ${messageOf(error)}`, error);
  }
}

function parseAnswer(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function describeExit(result: KeyCommandResult): string {
  const status = result.exitCode === undefined ? "was killed by a signal" : `exited with status ${result.exitCode}`;
  const tail = result.stderrTail.trim().slice(-500);
  return tail === "" ? status : `${status}: ${tail}`;
}

function failed(command: KeyCommand, what: string, cause?: unknown): SplashdownError {
  const program = command.argv[0] ?? "";
  return new SplashdownError("KEY_SOURCE_INVALID", `the key command ${program} ${what}`, {
    details: { program },
    cause,
  });
}
