/**
 * The one error class of the project and the closed table of its codes.
 *
 * Owns: codes, and for each code what it means, its exit status, whether a later try may succeed and the next
 * command to type. The command line owns how an error is printed.
 *
 * B1: a failure of the world is a `SplashdownError`; a mistake of ours is `INTERNAL` with a stack.
 * B2: callers match on `code`, never on the class: an error may come back from a journal or from another process.
 */
import { constants } from "node:os";
import { inspect } from "node:util";
import { fillHint } from "./command-text.js";
import type { JsonObject, JsonValue } from "./json.js";
import { ERROR_TABLE, type ErrorCode } from "./error-table.js";

export interface ErrorOptionsWithDetails {
  /** JSON-safe facts; placeholders `{name}` of the table's hint are filled from here. */
  details?: JsonObject;
  cause?: unknown;
}

/** How Node calls an error that it has no name for; its number follows. */
const UNNAMED = "Unknown system error ";
/** By number. Those that Node's own table lacks are Linux's. Source: asm-generic/errno.h. */
const ERRNO_NAMES: ReadonlyMap<number, string> = new Map([
  ...(process.platform === "linux"
    ? ([
        [112, "EHOSTDOWN"],
        [117, "EUCLEAN"],
        [121, "EREMOTEIO"],
        [123, "ENOMEDIUM"],
        [124, "EMEDIUMTYPE"],
        [126, "ENOKEY"],
      ] as const)
    : []),
  ...Object.entries(constants.errno).map(([name, number]) => [number, name] as const),
]);

/** A failure of the world with a stable code. */
export class SplashdownError extends Error {
  override readonly name = "SplashdownError";
  readonly code: ErrorCode;
  readonly details: JsonObject;

  constructor(code: ErrorCode, message: string, options: ErrorOptionsWithDetails = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.details = options.details ?? {};
  }

  get retryable(): boolean {
    return ERROR_TABLE[this.code].retryable;
  }

  /** The next command to type; several, one a line, where `details.commands` names them. */
  get hint(): string {
    const { commands } = this.details;
    if (isTexts(commands)) return commands.join("\n");
    return fillHint(ERROR_TABLE[this.code].hint, this.details);
  }

  get exitStatus(): number {
    return ERROR_TABLE[this.code].exitStatus;
  }

  toJSON(): JsonObject {
    return {
      code: this.code,
      message: this.message,
      hint: this.hint,
      retryable: this.retryable,
      details: this.details,
    };
  }
}

/** The code of any thrown value, also of one that crossed a process border; `undefined` for foreign errors. */
export function errorCodeOf(error: unknown): ErrorCode | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  const { code } = error;
  return typeof code === "string" && Object.hasOwn(ERROR_TABLE, code) ? (code as ErrorCode) : undefined;
}

/** True when the thrown value carries one of the codes. */
export function isErrorCode(error: unknown, ...codes: ErrorCode[]): boolean {
  const code = errorCodeOf(error);
  return code !== undefined && codes.includes(code);
}

/**
 * The errno name (`ENOENT`, …) of a thrown value of the platform, if it has one.
 *
 * Node has no name for some numbers (a disk quota, a stale NFS handle): it says `UNKNOWN` or `Unknown system error -122`
 * then. Those are named by their number; a number nobody knows is `ERRNO` and the number.
 */
export function errnoOf(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  const { code } = error;
  if (typeof code !== "string") return undefined;
  if (code !== "UNKNOWN" && !code.startsWith(UNNAMED)) return code;
  const number = "errno" in error && typeof error.errno === "number" ? error.errno : Number(code.slice(UNNAMED.length));
  return Number.isInteger(number) && number < 0 ? (ERRNO_NAMES.get(-number) ?? `ERRNO${-number}`) : code;
}

/** The text of any thrown value, also of what is no Error; of an error that only gathers others, as where a host has several addresses, theirs. */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === "")
    return [...new Set(error.errors.map(messageOf))].join("; ");
  if (error instanceof Error) return error.message;
  return typeof error === "object" && error !== null
    ? inspect(error, { depth: 0, breakLength: Infinity })
    : String(error);
}

/** Crashes on a mistake of ours; never used on bytes or messages from outside. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new SplashdownError("INTERNAL", message);
}

/** Ends a `switch` over a closed union. */
export function unreachable(value: never): never {
  throw new SplashdownError("INTERNAL", `unreachable value ${JSON.stringify(value)}`);
}

function isTexts(value: JsonValue | undefined): value is readonly string[] {
  return Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === "string");
}
