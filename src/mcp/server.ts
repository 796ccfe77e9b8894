/**
 * The MCP server: tools over what runtime gives, for one client on stdin and stdout.
 *
 * Owns: the list of tools, the judging of a call's arguments, the bound on calls under way, progress and cancelling. What
 * a tool does is in its file; how answers look in answer-form.ts; the lines in line-transport.ts. The SDK speaks the
 * versions of the protocol, the one with a handshake and the one without.
 */
import { readVersion } from "../base/package-files.js";
import type { Server, ServerContext } from "@modelcontextprotocol/server";
import type { Clock } from "../base/clock.js";
import { messageOf, SplashdownError } from "../base/errors.js";
import type { JsonObject } from "../base/json.js";
import { LIMITS } from "../base/limits.js";
import type { Log } from "../base/log.js";
import { showControls } from "../base/plain-text.js";
import type { Splashdown } from "../runtime/contract.js";
import { formAnswer, formError, type RepeatFlags } from "./answer-form.js";
import { LineTransport } from "./line-transport.js";
import { createQuestionTools } from "./question-tools.js";
import { createReadingTools } from "./reading-tools.js";
import { createRunTools } from "./run-tools.js";
import { Starts, type Background } from "../runtime/platform/background-starts.js";
import { SeenQuestions } from "./seen-questions.js";
import type { ToolContext, Tool, ToolCall } from "./tool.js";
import { answerSchema } from "./view-schema.js";

export interface McpServerOptions {
  readonly splashdown: Splashdown;
  readonly background: Background;
  readonly clock: Clock;
  readonly log: Log;
  /** Real path of the folder that workflow files must lie below. */
  readonly root: string;
  /** Agents may answer questions, gates for people too. */
  readonly mayAnswer: boolean;
  /** Modules may be loaded: by processes of their own, never by this one. */
  readonly mayLoadModules: boolean;
  readonly checkModule: (file: string) => Promise<JsonObject>;
  /** Who started the server: answers and requests are told to come from them, through the client. */
  readonly user: string;
  /** Commands with the flags that the server was given. */
  readonly repeat: RepeatFlags;
  readonly input: AsyncIterable<unknown>;
  readonly write: (text: string) => void;
  readonly signal: AbortSignal;
}

type Sdk = typeof import("@modelcontextprotocol/server");

const INSTRUCTIONS = `Splashdown runs workflows that survive crashes. run_workflow starts one in the background and returns its name at once;
wait_for_task waits a little for it and is called again while it runs; task_result has what it brought, at any time. A task
continues when you are gone. Questions (list_questions) are for people unless answer_question says otherwise.`;

/** Serves one client until it closes its end or the signal fires. The tasks go on. */
export async function serveMcp(options: McpServerOptions): Promise<void> {
  // What the first call needs, before it comes: it is to be answered within a second.
  await Promise.all([import("../runtime/tasks/finding.js"), import("../runtime/tasks/summaries.js")]);
  const sdk = await import("@modelcontextprotocol/server");
  const { serveStdio } = await import("@modelcontextprotocol/server/stdio");
  const { input, write, log, signal } = options;
  const tools = createTools(options);
  const transport = new LineTransport({ input, write, parse: (value) => sdk.parseJSONRPCMessage(value) });
  const onerror = (error: Error): void => log.debug(`mcp: ${error.message}`);
  const handle = serveStdio(() => createServer(sdk, options, tools), { transport, onerror });
  const leave = (): void => void handle.close();
  if (signal.aborted) leave();
  signal.addEventListener("abort", leave, { once: true });
  await transport.closed;
  signal.removeEventListener("abort", leave);
  await handle.close();
}

function createTools(options: McpServerOptions): Tool[] {
  const { splashdown, clock, root, mayAnswer, mayLoadModules, checkModule, background } = options;
  const starts = new Starts(clock, background);
  const may = { mayAnswer, mayLoadModules };
  const context: ToolContext = {
    splashdown: withoutSpent(splashdown),
    clock,
    root,
    ...may,
    checkModule,
    starts,
    told: new SeenQuestions(),
  };
  return [...createRunTools(context), ...createQuestionTools(context), ...createReadingTools(context)];
}

/** Leaves `spent` out of the answers to agents: the list of tools has a size limit (view-schema.ts). */
function withoutSpent(splashdown: Splashdown): Splashdown {
  const list: Splashdown["list"] = async (task) =>
    (await splashdown.list(task)).map(({ spent: _spent, ...row }) => row);
  return { ...splashdown, list };
}

function createServer(sdk: Sdk, options: McpServerOptions, tools: readonly Tool[]): Server {
  const server = new sdk.Server(
    { name: "splashdown", title: "Splashdown", version: readVersion() },
    { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
  );
  const desk = new CallDesk({ sdk, options, tools, clientName: () => server.getClientVersion()?.name });
  server.setRequestHandler("tools/list", () => ({ tools: tools.map(describeTool) }));
  server.setRequestHandler("tools/call", async ({ params }, context) => {
    const result = await desk.call({ name: params.name, input: (params.arguments ?? {}) as JsonObject, context });
    return server.projectCallToolResult({ ...result }, undefined);
  });
  return server;
}

function describeTool({ name, title, description, input, result, hints }: Tool) {
  return {
    name,
    title,
    description,
    inputSchema: input as { type: "object" },
    outputSchema: answerSchema(result) as { type: "object" },
    annotations: { title, ...hints },
  };
}

interface DeskParts {
  readonly sdk: Sdk;
  readonly options: McpServerOptions;
  readonly tools: readonly Tool[];
  readonly clientName: () => string | undefined;
}

interface Request {
  readonly name: string;
  readonly input: JsonObject;
  readonly context: ServerContext;
}

const NAME_CHARS_MAX = 60;

/** Takes calls: judges what they bring, counts them, and forms what comes of them. */
class CallDesk {
  #underWay = 0;
  readonly #checks = new Map<string, ReturnType<Sdk["fromJsonSchema"]>>();

  constructor(private readonly parts: DeskParts) {}

  async call(request: Request) {
    const { repeat, log } = this.parts.options;
    const tool = this.#find(request.name);
    this.#underWay += 1;
    try {
      if (this.#underWay > LIMITS.mcpCallsMax)
        throw new SplashdownError("CALLS_TOO_MANY", `${LIMITS.mcpCallsMax} calls are under way`);
      await this.#judge(tool, request.input);
      return formAnswer(await tool.call(request.input, this.#about(request)), repeat);
    } catch (error) {
      if (!(error instanceof SplashdownError)) log.warn(`mcp: ${request.name} failed: ${describeMistake(error)}`);
      return formError(error, repeat);
    } finally {
      this.#underWay -= 1;
    }
  }

  #find(name: string): Tool {
    const tool = this.parts.tools.find((candidate) => candidate.name === name);
    if (tool !== undefined) return tool;
    const { ProtocolError, ProtocolErrorCode } = this.parts.sdk;
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `there is no tool ${name.slice(0, NAME_CHARS_MAX)}`);
  }

  /** Errors: USAGE_INVALID with every fault. */
  async #judge({ name, input: schema }: Tool, input: JsonObject): Promise<void> {
    const check = this.#checks.get(name) ?? this.parts.sdk.fromJsonSchema(schema);
    this.#checks.set(name, check);
    const verdict = await check["~standard"].validate(input);
    if (verdict.issues === undefined) return;
    const faults = verdict.issues.map(({ message }) => message.replaceAll(/\bdata(?=[ /.[])/g, "arguments")).join("; ");
    throw new SplashdownError("USAGE_INVALID", `${name}: ${faults}`, { details: { tool: name, verb: "mcp" } });
  }

  #about({ context }: Request): ToolCall {
    const { options, clientName } = this.parts;
    const { signal, _meta: meta, notify } = context.mcpReq;
    const client = showControls(clientName() ?? "an agent").slice(0, NAME_CHARS_MAX);
    const token = meta?.progressToken;
    const about = { signal, by: `${options.user} through ${client}` };
    if (token === undefined) return about;
    const tell: ToolCall["tell"] = (progress, message) => {
      const params = { progressToken: token, progress, message: showControls(message) };
      notify({ method: "notifications/progress", params }).catch(() => undefined);
    };
    return { ...about, tell };
  }
}

function describeMistake(error: unknown): string {
  return error instanceof Error && error.stack !== undefined ? error.stack : messageOf(error);
}
