/**
 * Replaces `${VAR}` and `${VAR:-default}` in the texts of a file, keys excepted.
 *
 * A text that may hold a secret is left alone and filled at the moment of use, so that it is never stored (`keeps`).
 * `$${VAR}` stays `${VAR}`. A name with dots, such as `${workflow.name}`, is filled from `names` first; `{TASK}` is not
 * touched here. Source: CONDUCTOR-YAML 1.8, DESIGN section 10.
 */
import { isJsonObject, type JsonValue } from "../../base/json.js";
import type { FaultList, FaultPath } from "../faults/fault.js";

/** Looks up one environment variable; the real environment is known to runtime only. */
export type EnvironmentLookup = (name: string) => string | undefined;

export interface SubstitutionOptions {
  readonly environment: EnvironmentLookup;
  /** Values of dotted names, such as `workflow.name`. */
  readonly names?: Readonly<Record<string, string>>;
  readonly faults: FaultList;
  /** Dotted names that are not known yet stay as they are: they are filled when the task is known. */
  readonly keepsDotted?: boolean;
  /** Places whose texts stay as they are. */
  readonly keeps?: (path: FaultPath) => boolean;
}

const PATTERN = /\$(\$)?\{([A-Za-z_][\w.]*)(?::-((?:[^{}]|\{[^{}]*\})*))?\}/g;
const DEPTH_MAX = 10;

/** The value with every text replaced. Errors: none; a variable that is not set is a fault. */
export function substituteEnvironment(value: JsonValue, options: SubstitutionOptions, path: FaultPath = []): JsonValue {
  if (typeof value === "string") {
    return value.includes("${") && options.keeps?.(path) !== true ? substituteText(value, options, path) : value;
  }
  if (Array.isArray(value))
    return value.map((item: JsonValue, index) => substituteEnvironment(item, options, [...path, index]));
  if (!isJsonObject(value)) return value;
  const result: Record<string, JsonValue> = {};
  for (const [key, item] of Object.entries(value)) {
    if (item !== undefined) result[key] = substituteEnvironment(item, options, [...path, key]);
  }
  return result;
}

function substituteText(text: string, options: SubstitutionOptions, path: FaultPath): string {
  return replacePlaces(text, { options, path, depth: 0 });
}

interface Replacing {
  readonly options: SubstitutionOptions;
  readonly path: FaultPath;
  readonly depth: number;
}

function replacePlaces(text: string, replacing: Replacing): string {
  return text.replace(PATTERN, (...match: (string | undefined)[]) => {
    const [whole = "", escaped, name = "", otherwise] = match;
    return escaped === undefined ? replaceOne({ whole, name, otherwise }, replacing) : whole.slice(1);
  });
}

interface Place {
  readonly whole: string;
  readonly name: string;
  readonly otherwise: string | undefined;
}

function replaceOne({ whole, name, otherwise }: Place, { options, path, depth }: Replacing): string {
  const isDotted = name.includes(".");
  const found = options.names?.[name] ?? (isDotted ? undefined : options.environment(name));
  if (found !== undefined && (found !== "" || otherwise === undefined)) return found;
  if (isDotted && options.keepsDotted === true) return whole;
  if (otherwise !== undefined) {
    return depth < DEPTH_MAX ? replacePlaces(otherwise, { options, path, depth: depth + 1 }) : otherwise;
  }
  options.faults.add({
    code: "variable",
    path,
    message: `the environment variable ${name} is not set`,
    suggestion: `set it, write \${${name}:-default}, or $\${${name}} for the text itself`,
  });
  return whole;
}

const SECRET_KEYS = new Set(["api_key", "bearer_token", "auth_token", "runtime_token", "headers", "env"]);

/** Texts of providers and tool servers that may hold a secret among other things. */
const LATE_KEYS: Readonly<Record<string, ReadonlySet<string>>> = {
  provider: new Set(["base_url"]),
  mcp_servers: new Set(["url", "args"]),
};

/** What is filled at the moment of use: an address or an argument may carry a key, and none is part of a definition. */
export function isFilledLate(path: FaultPath): boolean {
  if (isSecretPlace(path)) return true;
  const [first, second, third, ...rest] = path;
  const late = first === "workflow" && second === "runtime" ? LATE_KEYS[String(third)] : undefined;
  return late !== undefined && rest.some((part) => late.has(String(part)));
}

/** Keys and tokens of providers and tool servers: read when they are used, never part of a definition. */
export function isSecretPlace(path: FaultPath): boolean {
  const [first, second, third, ...rest] = path;
  const isConfigured =
    first === "workflow" && second === "runtime" && (third === "provider" || third === "mcp_servers");
  return isConfigured && rest.some((part) => SECRET_KEYS.has(String(part)));
}
