/**
 * The tools of MCP servers as tools of a model step.
 *
 * What may be called again after a crash: what the file says, else what the server's own hints say; a tool without a hint
 * is taken to act on the world. Source: specification 2025-11-25, ToolAnnotations.
 */
import { SplashdownError } from "../../base/errors.js";
import { LIMITS } from "../../base/limits.js";
import type { ServerReach, ToolPolicy, ToolServer } from "../../definition/tool-definition.js";
import type { Effects } from "../../definition/values.js";
import type { StepSink, StepWork } from "../../engine/ports.js";
import { inheritedEnvironment } from "../child-environment.js";
import type { PerformerDeps } from "../contract.js";
import { isOwnVariable } from "../secrets.js";
import type { Tool } from "../tool-call.js";
import { fillVariables } from "../variables.js";
import { readResult } from "./server-result.js";
import type { ServerConnection, ServerPlace, ServerTool } from "./server-connection.js";

/** Errors: TOOL_SERVER_FAILED; TOOL_UNAVAILABLE when the step names a tool that no server has. */
export async function openServerTools(
  deps: PerformerDeps,
  work: StepWork,
  { servers, sink }: { readonly servers: readonly ToolServer[]; readonly sink: StepSink },
): Promise<readonly Tool[]> {
  const found: FoundTool[] = [];
  for (const server of servers.filter(mayGive)) {
    const place = placeOf(deps, work, server);
    const connect = (): Promise<ServerConnection> => deps.toolServers.connect(place);
    for (const tool of await (await connect()).tools()) found.push({ server, connect, tool });
  }
  requireNamed(work, servers, found);
  return found.filter(isAllowed).map((one) => createTool(one, sink));
}

interface FoundTool {
  readonly server: ToolServer;
  /** A server that broke is connected anew. */
  readonly connect: () => Promise<ServerConnection>;
  readonly tool: ServerTool;
}

function placeOf(deps: PerformerDeps, work: StepWork, { server, reach }: ToolServer): ServerPlace {
  const fill = (text: string): string =>
    fillVariables(text, {
      environment: (name) => (isOwnVariable(name) ? undefined : deps.environment[name]),
      learn: () => undefined,
      missing: (name) => {
        const message = `the tool server ${server} needs the variable ${name}, which is not set`;
        return new SplashdownError("TOOL_UNAVAILABLE", message, { details: { server, variable: name } });
      },
    });
  const { workflowFolder: folder } = work;
  return { server, reach: fillReach(reach, fill), folder, environment: inheritedEnvironment(deps) };
}

function fillReach(reach: ServerReach, fill: (text: string) => string): ServerReach {
  const fillAll = (texts: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, fill(text)]));
  if (reach.by !== "stdio") return { ...reach, url: fill(reach.url), headers: fillAll(reach.headers) };
  // The program itself was filled in when the file was read.
  const [program = "", ...parameters] = reach.command;
  return { ...reach, command: [program, ...parameters.map(fill)], environment: fillAll(reach.environment) };
}

/** A step that names what is not there would work without it and nobody would know. */
function requireNamed({ step }: StepWork, servers: readonly ToolServer[], found: readonly FoundTool[]): void {
  const wanted = new Set(servers.flatMap(({ required = [] }) => required));
  for (const name of wanted) {
    if (name === "*" || name.endsWith("__*") || found.some(({ server, tool }) => isCalled(name, server, tool)))
      continue;
    const known = found.map(({ server, tool }) => nameOf(server, tool)).join(", ");
    const text = `step ${step.path} names the tool ${name}, which no server has; there are ${known || "none"}`;
    throw new SplashdownError("TOOL_UNAVAILABLE", text, { details: { tool: name, step: step.path } });
  }
}

/** A server none of whose tools is allowed is not started. */
function mayGive({ server, allowed }: ToolServer): boolean {
  return allowed.every((names) => names.some((name) => !name.includes("__") || name.startsWith(`${server}__`)));
}

function isAllowed({ server, tool }: FoundTool): boolean {
  return server.allowed.every((names) => names.some((name) => isCalled(name, server, tool)));
}

function isCalled(name: string, { server }: ToolServer, { name: tool }: ServerTool): boolean {
  return [tool, `${server}__${tool}`, `${server}__*`, "*"].includes(name);
}

const NAME_CHARS_MAX = 64;

/** Models take letters, digits, dash and underscore. */
function nameOf({ server }: ToolServer, { name }: ServerTool): string {
  return `${server}__${name}`.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, NAME_CHARS_MAX);
}

function createTool({ server, connect, tool }: FoundTool, sink: StepSink): Tool {
  const policy: ToolPolicy = server.policies[`${server.server}__${tool.name}`] ?? server.policies[tool.name] ?? {};
  const { name, description, parameters } = tool;
  return {
    description: { name: nameOf(server, tool), parameters, ...(description === undefined ? {} : { description }) },
    effects: policy.effects ?? effectsOf(tool),
    approve: policy.approve ?? server.approve ?? "never",
    call: async ({ input, idempotencyKey, signal }) => {
      const timeoutMs = policy.timeoutMs ?? server.timeoutMs ?? LIMITS.toolCallTimeoutMs;
      const onProgress = (message = `${name} is at work`): void => sink.progress({ message });
      const connection = await connect();
      return readResult(await connection.call({ tool: name, input, idempotencyKey, timeoutMs, signal, onProgress }));
    },
  };
}

function effectsOf({ isReadOnly, isIdempotent }: ServerTool): Effects {
  if (isReadOnly) return "none";
  return isIdempotent ? "idempotent" : "external";
}
