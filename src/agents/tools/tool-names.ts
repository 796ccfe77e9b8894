/**
 * The names that models are given for the tools of servers, and which tools a name of the file means.
 *
 * A model takes letters, digits, dash and underscore, 64 at most. A name that is fit as it is stays; every other one is
 * made fit and ends in a digest of server and tool. Both are functions of server and tool alone, so a name means the same
 * tool on every attempt, whatever else a server has by then. Where two tools would still share a name nothing is asked.
 */
import { sha256Hex } from "../../base/digest.js";
import { SplashdownError } from "../../base/errors.js";

/** A tool by what its server calls it. */
export interface NamedTool {
  readonly server: string;
  readonly tool: string;
}

const NAME_CHARS_MAX = 64;
const DIGEST_CHARS = 8;
/** A fit name that looks as if it had been made fit. */
const LOOKS_MADE_FIT = /_[0-9a-f]{8}$/;
/** With these `<server>__<tool>` could be split in two ways. */
const IS_SPLIT_TWICE = /__|_$/;

/** What approvals and records know a tool by; no two tools share it. */
export function identityOf({ server, tool }: NamedTool): string {
  return JSON.stringify([server, tool]);
}

/** The same for a function of the workflow. */
export function identityOfFunction(name: string): string {
  return JSON.stringify([name]);
}

export function fullNameOf({ server, tool }: NamedTool): string {
  return `${server}__${tool}`;
}

export function describeTool({ server, tool }: NamedTool): string {
  return `${JSON.stringify(tool)} of the server ${server}`;
}

/** Pure: see the head of this file. */
export function fitName(named: NamedTool): string {
  const full = fullNameOf(named);
  const fit = full.replace(/[^A-Za-z0-9_-]/g, "_");
  const isKept =
    fit === full && fit.length <= NAME_CHARS_MAX && !LOOKS_MADE_FIT.test(fit) && !IS_SPLIT_TWICE.test(named.server);
  if (isKept) return fit;
  const digest = sha256Hex(identityOf(named)).slice(0, DIGEST_CHARS);
  return `${fit.slice(0, NAME_CHARS_MAX - DIGEST_CHARS - 1)}_${digest}`;
}

/**
 * Refuses tools that would share a name: one of two would be told and the other be called.
 *
 * Shape: `functions` are names of functions, which stay as the file has them.
 * Errors: TOOL_UNAVAILABLE, with both.
 */
export function requireDistinct(tools: readonly NamedTool[], functions: readonly string[]): void {
  const known = new Map(functions.map((name) => [name, `the function ${name}`]));
  for (const named of tools) {
    const name = fitName(named);
    const other = known.get(name);
    if (other !== undefined) throw twins(name, other, describeTool(named));
    known.set(name, describeTool(named));
  }
}

function twins(name: string, one: string, other: string): SplashdownError {
  const text = `two tools would both be ${name} to a model: ${one} and ${other}; allow one of them, or rename the server or the function`;
  return new SplashdownError("TOOL_UNAVAILABLE", text, { details: { tool: name } });
}

/** The tools that a name of the file means: `<server>__<tool>`, else `<tool>` of any server. Errors: TOOL_UNAVAILABLE. */
export function selectNamed<T extends NamedTool>(tools: readonly T[], name: string): readonly T[] {
  const full = tools.filter((one) => fullNameOf(one) === name);
  const other = full.find((one) => identityOf(one) !== identityOf(full[0] ?? one));
  if (full[0] !== undefined && other !== undefined) throw twins(name, describeTool(full[0]), describeTool(other));
  return full.length > 0 ? full : tools.filter(({ tool }) => tool === name);
}
