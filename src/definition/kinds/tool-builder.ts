/**
 * Builds the tools of a workflow: functions, servers, and what is said of the tools of servers.
 *
 * A tool that is only named, or has no function, is one of a server: `<tool>`, or `<server>__<tool>` where several servers
 * have one of that name. Where the workflow names such tools, no others of its servers are used. Source: CONDUCTOR-YAML 1.4.
 */
import type { McpServer, Runtime, Step, Tool } from "../../schema/generated/workflow.js";
import type { FaultList, FaultPath } from "../faults/fault.js";
import { findNearest } from "../faults/nearest.js";
import { buildOutputSchema, omitUndefined, optionalMs, textMap } from "./step-fields.js";
import type { FunctionTool, ServerReach, ToolDefinition, ToolPolicy, ToolServer } from "../model/tool-definition.js";

/** What the steps of a workflow may choose from. */
export interface ToolShelf {
  readonly functions: ReadonlyMap<string, FunctionTool>;
  readonly servers: readonly ToolServer[];
  /** Tools of servers that the workflow names. */
  readonly named: ReadonlySet<string>;
}

export interface ToolSources {
  readonly tools: readonly Tool[];
  readonly runtime: Runtime;
  readonly codeDigests: ReadonlyMap<string, string>;
}

/** Shape: functions in the order of the file. */
export function buildTools({ tools, runtime, codeDigests }: ToolSources, faults: FaultList): ToolShelf {
  const functions = new Map<string, FunctionTool>();
  const named = new Set<string>();
  const policies: Record<string, ToolPolicy> = {};
  for (const [index, tool] of tools.entries()) {
    const { name, ...more } = typeof tool === "string" ? { name: tool } : tool;
    if (functions.has(name) || named.has(name))
      faults.add({ code: "duplicate_name", path: ["tools", index], message: `there are two tools ${name}` });
    if ("function" in more && more.function !== undefined) {
      functions.set(name, buildFunction({ ...more, name, function: more.function }, codeDigests));
      continue;
    }
    named.add(name);
    if (typeof tool === "string") continue;
    refuseFunctionKeys(tool, ["tools", index], faults);
    policies[name] = buildPolicy(tool);
  }
  const servers = Object.entries(runtime.mcp_servers ?? {}).map(([name, server]) =>
    buildServer(name, server, policies),
  );
  return { functions, servers: named.size === 0 ? servers : servers.map((server) => allow(server, [...named])), named };
}

type NamedTool = Exclude<Tool, string>;

function buildFunction(
  tool: NamedTool & { readonly function: string },
  codeDigests: ReadonlyMap<string, string>,
): FunctionTool {
  return {
    name: tool.name,
    ...omitUndefined("description", tool.description),
    function: tool.function,
    parameters: buildOutputSchema(tool.input ?? {}),
    effects: tool.effects ?? "external",
    ...omitUndefined("approve", tool.approve),
    ...optionalMs("timeoutMs", tool.timeout),
    ...omitUndefined("code", codeDigests.get(tool.function.split("#")[0] ?? "")),
  };
}

function buildPolicy({ effects, approve, timeout }: NamedTool): ToolPolicy {
  return {
    ...omitUndefined("effects", effects),
    ...omitUndefined("approve", approve),
    ...optionalMs("timeoutMs", timeout),
  };
}

/** A tool of a server is described by its server. */
function refuseFunctionKeys(tool: NamedTool, path: FaultPath, faults: FaultList): void {
  for (const key of ["description", "input"] as const) {
    if (tool[key] === undefined) continue;
    const message = `${key} belongs to a tool that is a function; a server describes its own`;
    faults.add({
      code: "misplaced_key",
      path: [...path, key],
      message,
      suggestion: "remove it, or add function",
      atKey: true,
    });
  }
}

function buildServer(name: string, server: McpServer, policies: Readonly<Record<string, ToolPolicy>>): ToolServer {
  const own = server.tools ?? ["*"];
  return {
    server: name,
    reach: buildReach(server),
    allowed: own.includes("*") ? [] : [own],
    policies,
    ...omitUndefined("approve", server.approve),
    ...omitUndefined("timeoutMs", server.timeout),
  };
}

function buildReach({ type, command, args, env, url, headers }: McpServer): ServerReach {
  if (type === "http" || type === "sse") return { by: type, url: url ?? "", headers: textMap(headers) };
  return { by: "stdio", command: [command ?? "", ...(args ?? []).map(String)], environment: textMap(env) };
}

function allow(server: ToolServer, names: readonly string[]): ToolServer {
  return { ...server, allowed: [...server.allowed, names] };
}

export interface ToolChoice {
  readonly step: Step;
  readonly at: FaultPath;
  readonly faults: FaultList;
}

/** The tools of a step: those it names, else all of the workflow. `undefined`: none. */
export function chooseTools(shelf: ToolShelf, { step, at, faults }: ToolChoice): readonly ToolDefinition[] | undefined {
  const { functions, servers } = shelf;
  if (step.tools === undefined) return listOrNone([...functions.values(), ...servers]);
  for (const [index, name] of step.tools.entries()) {
    if (isKnown(shelf, name)) continue;
    const nearest = findNearest(name, [...functions.keys(), ...shelf.named]);
    faults.add({
      code: "unknown_name",
      path: [...at, "tools", index],
      message: `there is no tool ${name} in the tools of the workflow`,
      suggestion: nearest === undefined ? "name it under tools, beside workflow" : `did you mean ${nearest}?`,
    });
  }
  const chosen = step.tools.flatMap((name) => functions.get(name) ?? []);
  const others = step.tools.filter((name) => !functions.has(name));
  return listOrNone([
    ...chosen,
    ...(others.length === 0 ? [] : servers.map((server) => ({ ...allow(server, others), required: others }))),
  ]);
}

/** The one tool of an mcp step. */
export function chooseTool(
  shelf: ToolShelf,
  choice: ToolChoice,
): { readonly server: ToolServer; readonly tool: string } {
  const { server: name = "", tool = "", effects, input } = choice.step;
  const server = shelf.servers.find((one) => one.server === name);
  if (choice.step.server === undefined || choice.step.tool === undefined) noteUnnamed(choice);
  else noteUnknown(shelf, choice, server);
  if (Array.isArray(input))
    choice.faults.add({
      code: "wrong_type",
      path: [...choice.at, "input"],
      message: "the input of a tool is a map",
      suggestion: "write input: {NAME: VALUE}",
      atKey: true,
    });
  return { server: narrow(server ?? buildServer(name, {}, {}), tool, effects), tool };
}

function noteUnnamed({ step, at, faults }: ToolChoice): void {
  const missing = step.tool === undefined ? "no tool" : "no server";
  const message = `the step ${step.name ?? ""} calls a tool of a server, and names ${missing}`;
  faults.add({ code: "missing_key", path: at, message, suggestion: "write server: NAME and tool: NAME" });
}

function noteUnknown({ servers, named }: ToolShelf, { step, at, faults }: ToolChoice, found?: ToolServer): void {
  const { server = "", tool = "" } = step;
  const fault = (key: string, message: string, suggestion: string): void =>
    faults.add({ code: "unknown_name", path: [...at, key], message, suggestion });
  const full = `${server}__${tool}`;
  if (found !== undefined && (named.size === 0 || named.has(tool) || named.has(full))) return;
  if (found !== undefined)
    return fault("tool", `${tool} is not among the tools of the workflow`, `add ${full} to tools, beside workflow`);
  const known = servers.map((one) => one.server);
  const nearest = findNearest(server, known);
  const otherwise = "name it under workflow.runtime.mcp_servers";
  fault("server", `there is no tool server ${server}`, nearest === undefined ? otherwise : `did you mean ${nearest}?`);
}

function narrow(server: ToolServer, tool: string, effects: ToolPolicy["effects"]): ToolServer {
  const full = `${server.server}__${tool}`;
  const policy = server.policies[full] ?? server.policies[tool] ?? {};
  return {
    ...allow(server, [full]),
    required: [full],
    policies: { [full]: { ...policy, ...omitUndefined("effects", effects) } },
  };
}

/** Which tools a server has is known when it runs; where none is named under `tools`, any may be meant. */
function isKnown({ functions, servers, named }: ToolShelf, name: string): boolean {
  if (functions.has(name) || named.has(name)) return true;
  if (servers.some(({ server }) => name.startsWith(`${server}__`))) return true;
  return servers.length > 0 && named.size === 0;
}

function listOrNone(tools: readonly ToolDefinition[]): readonly ToolDefinition[] | undefined {
  return tools.length === 0 ? undefined : tools;
}
