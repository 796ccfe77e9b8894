/**
 * The tools of MCP servers as tools of a model step.
 *
 * What may be called again after a crash: what the file says, else what the server's own hints say; a tool without a hint
 * is taken to act on the world. Source: specification 2025-11-25, ToolAnnotations.
 */
import { isErrorCode, messageOf, SplashdownError } from "../../base/errors.js";
import { LIMITS } from "../../base/limits.js";
import type { ServerReach, ToolPolicy, ToolServer } from "../../definition/model/tool-definition.js";
import type { Effects } from "../../definition/model/values.js";
import type { JsonObject, JsonValue } from "../../base/json.js";
import type { StepSink, StepWork } from "../../engine/model/ports.js";
import { inheritedEnvironment } from "../commands/child-environment.js";
import { formatPlainValue } from "../../base/plain-value.js";
import type { PerformerDeps } from "../outcome/contract.js";
import { checkAgainst, formatFault } from "../outcome/output-check.js";
import { isOwnVariable } from "../outcome/secrets.js";
import type { Tool } from "./tool-call.js";
import { fillVariables } from "../outcome/variables.js";
import { readResult } from "./servers/server-result.js";
import type { ConnectedServer, ServerAnswer, ServerPlace, ServerTool } from "../outcome/connected-server.js";
import {
  describeTool,
  fitName,
  fullNameOf,
  identityOf,
  requireDistinct,
  selectNamed,
  type NamedTool,
} from "./tool-names.js";

export interface ServerToolsRequest {
  readonly servers: readonly ToolServer[];
  readonly sink: StepSink;
  /** Names of functions that the same model is told. */
  readonly functions?: readonly string[];
}

/** Errors: TOOL_SERVER_FAILED; TOOL_UNAVAILABLE when the step names a tool that no server has, or two share a name. */
export async function openServerTools(
  deps: PerformerDeps,
  work: StepWork,
  { servers, sink, functions = [] }: ServerToolsRequest,
): Promise<readonly Tool[]> {
  const found: FoundTool[] = [];
  for (const from of servers.filter(mayGive)) {
    const place = placeOf(deps, work, from);
    const connect = (): Promise<ConnectedServer> => deps.toolServers.connect(place);
    for (const told of await (await connect()).tools())
      found.push({ server: from.server, tool: told.name, from, connect, told });
  }
  requireNamed(work, servers, found);
  const allowed = withoutCopies(found.filter((one) => isAllowed(one, found)));
  requireDistinct(allowed, functions);
  return allowed.map((one) => createTool(deps, { ...one, policy: policyOf(one, found) }, sink));
}

interface FoundTool extends NamedTool {
  readonly from: ToolServer;
  /** A server that broke is connected anew. */
  readonly connect: () => Promise<ConnectedServer>;
  readonly told: ServerTool;
}

/** A server may tell one tool twice, word for word; two that differ are twins. */
function withoutCopies(found: readonly FoundTool[]): readonly FoundTool[] {
  const seen = new Set<string>();
  return found.filter(({ server, told }) => {
    const key = JSON.stringify([server, told]);
    const isNew = !seen.has(key);
    seen.add(key);
    return isNew;
  });
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
    if (name === "*" || name.endsWith("__*") || selectNamed(found, name).length > 0) continue;
    const known = found.map(fullNameOf).join(", ");
    const text = `step ${step.path} names the tool ${name}, which no server has; there are ${known || "none"}`;
    throw new SplashdownError("TOOL_UNAVAILABLE", text, { details: { tool: name, step: step.path } });
  }
}

/** A server none of whose tools is allowed is not started. */
function mayGive({ server, allowed }: ToolServer): boolean {
  return allowed.every((names) => names.some((name) => !name.includes("__") || name.startsWith(`${server}__`)));
}

function isAllowed(one: FoundTool, found: readonly FoundTool[]): boolean {
  return one.from.allowed.every((names) => names.some((name) => isMeant(name, one, found)));
}

function isMeant(name: string, one: FoundTool, found: readonly FoundTool[]): boolean {
  return name === "*" || name === `${one.server}__*` || selectNamed(found, name).includes(one);
}

/** What the file says of the tool itself: of its full name, else of its own where that means no other. */
function policyOf(one: FoundTool, found: readonly FoundTool[]): ToolPolicy {
  const { policies } = one.from;
  const name = [fullNameOf(one), one.tool].find(
    (candidate) => Object.hasOwn(policies, candidate) && selectNamed(found, candidate).includes(one),
  );
  return (name === undefined ? undefined : policies[name]) ?? {};
}

interface OwnTool extends FoundTool {
  readonly policy: ToolPolicy;
}

function createTool(deps: PerformerDeps, one: OwnTool, sink: StepSink): Tool {
  const { from, connect, policy, told } = one;
  const { name, description, parameters } = told;
  return {
    identity: identityOf(one),
    fullName: fullNameOf(one),
    description: { name: fitName(one), parameters, ...(description === undefined ? {} : { description }) },
    effects: policy.effects ?? effectsOf(told),
    approve: policy.approve ?? from.approve ?? "never",
    call: async ({ input, idempotencyKey, signal }) => {
      const timeoutMs = policy.timeoutMs ?? from.timeoutMs ?? LIMITS.toolCallTimeoutMs;
      const onProgress = (message = `${name} is at work`): void => sink.progress({ message });
      const connection = await connect();
      const answer = await connection.call({
        tool: name,
        input: formatPlainValue(input) as JsonObject,
        parameters,
        idempotencyKey,
        timeoutMs,
        signal,
        onProgress,
      });
      return { ...keepResult(one, answer), ...(await findBrokenForm(deps, one, answer)) };
    },
  };
}

/** Errors: TOOL_FAILED, as the server says; what cannot be stored, told as answered. */
function keepResult(one: OwnTool, answer: ServerAnswer): JsonObject {
  try {
    return readResult(answer);
  } catch (error) {
    if (!isErrorCode(error, "VALUE_UNSUPPORTED", "VALUE_TOO_DEEP")) throw error;
    const text = `what ${describeTool(one)} answered cannot be taken: ${messageOf(error)}`;
    throw new SplashdownError("VALUE_UNSUPPORTED", text, { details: { sent: true, answered: true }, cause: error });
  }
}

/** The call was made, whatever is wrong with the form of its answer: the answer is kept, and the fault beside it. */
async function findBrokenForm(
  deps: PerformerDeps,
  { told: { outputSchema }, ...one }: OwnTool,
  { structured }: ServerAnswer,
): Promise<{ readonly fault?: string }> {
  if (outputSchema === undefined) return {};
  const words = await findFormFault(deps, outputSchema, structured);
  if (words === undefined) return {};
  const fault = `the answer is not of the form that the server declares for it: ${words}`;
  deps.log.warn(`the tool ${describeTool(one)} was called, and ${fault}`);
  return { fault };
}

async function findFormFault(
  deps: PerformerDeps,
  schema: JsonObject,
  structured: JsonValue | undefined,
): Promise<string | undefined> {
  if (structured === undefined) return "there is no structured content";
  const faults = await checkAgainst(deps, schema, structured);
  return faults.length === 0 ? undefined : faults.map(formatFault).join("; ");
}

function effectsOf({ isReadOnly, isIdempotent }: ServerTool): Effects {
  if (isReadOnly) return "none";
  return isIdempotent ? "idempotent" : "external";
}
