/**
 * One MCP server that is connected: what tools it has, and calls of them.
 *
 * A failure of the server is TOOL_SERVER_FAILED, VALUE_TOO_LARGE or STEP_TIMEOUT with what is known of its cause;
 * `details.sent` says that the call was on its way, so that it may have acted. A tool that says itself that it failed has
 * answered: that is a result.
 */
import type { CallToolResult, Client } from "@modelcontextprotocol/client";
import type { Clock } from "../../../base/clock.js";
import { messageOf, SplashdownError } from "../../../base/errors.js";
import type { JsonObject, JsonValue } from "../../../base/json.js";
import { LIMITS } from "../../../base/limits.js";
import type {
  ServerAnswer,
  ServerCall,
  ServerPlace,
  ServerTool,
  ConnectedServer,
} from "../../outcome/connected-server.js";
import type { ProcessHost } from "../../../process/contract.js";
import { createExactFetch, UNREADABLE } from "./exact-message.js";
import { ChildTransport, type ServerRecord } from "./child-transport.js";

export interface ConnectionDeps {
  readonly clock: Clock;
  /** Opened when a server is a program. */
  readonly processes: () => ProcessHost;
  /** Of the task, for the server of that name. */
  readonly recordOf: (server: string) => ServerRecord;
  readonly version: string;
  readonly debug: (text: string) => void;
  readonly warn: (text: string) => void;
  readonly onClose: () => void;
}

/** Errors: TOOL_SERVER_FAILED when it cannot be started or reached, or answers nothing that makes sense. */
export async function connectServer(deps: ConnectionDeps, place: ServerPlace): Promise<ServerConnection> {
  const sdk = await import("@modelcontextprotocol/client");
  const client = new sdk.Client({ name: "splashdown", version: deps.version }, { capabilities: {} });
  const transport = openTransport(sdk, deps, place);
  const connection = new ServerConnection(deps, { place, client, transport });
  Object.assign(client, {
    onerror: (error: Error) => deps.debug(`tool server ${place.server}: ${error.message}`),
    onclose: deps.onClose,
  });
  try {
    await client.connect(transport, { timeout: LIMITS.toolServerStartMs });
    return connection;
  } catch (error) {
    await connection.close();
    throw connection.failure("cannot be reached", error);
  }
}

type Sdk = typeof import("@modelcontextprotocol/client");

function openTransport(
  sdk: Sdk,
  { processes, recordOf }: ConnectionDeps,
  { server, reach, folder, environment }: ServerPlace,
) {
  if (reach.by === "stdio") {
    const [program = "", ...parameters] = reach.command;
    const spec = { program, arguments: parameters, folder, environment: { ...environment, ...reach.environment } };
    return new ChildTransport({
      processes: processes(),
      spec,
      parse: sdk.deserializeMessage,
      record: recordOf(server),
    });
  }
  const url = new URL(reach.url);
  const how = { requestInit: { headers: { ...reach.headers } }, fetch: createExactFetch(fetch) };
  return reach.by === "http" ? new sdk.StreamableHTTPClientTransport(url, how) : new sdk.SSEClientTransport(url, how);
}

interface ConnectionEnds {
  readonly place: ServerPlace;
  readonly client: Client;
  readonly transport: ReturnType<typeof openTransport>;
}

export class ServerConnection implements ConnectedServer {
  #tools: Promise<readonly ServerTool[]> | undefined;

  constructor(
    private readonly deps: Pick<ConnectionDeps, "clock" | "warn">,
    private readonly ends: ConnectionEnds,
  ) {}

  /** Its tools, asked once. Errors: TOOL_SERVER_FAILED. */
  tools(): Promise<readonly ServerTool[]> {
    this.#tools ??= this.#listTools();
    return this.#tools;
  }

  async #listTools(): Promise<readonly ServerTool[]> {
    try {
      const { tools } = await this.ends.client.listTools(undefined, { timeout: LIMITS.toolServerStartMs });
      this.#tellLeftOut(tools.slice(LIMITS.toolsPerServerMax).map(({ name }) => name));
      const kept = tools.slice(0, LIMITS.toolsPerServerMax);
      return kept.map(({ name, description, inputSchema, outputSchema, annotations }) => ({
        name,
        ...(description === undefined ? {} : { description }),
        parameters: inputSchema as JsonObject,
        ...(outputSchema === undefined ? {} : { outputSchema: outputSchema as JsonObject }),
        isReadOnly: annotations?.readOnlyHint === true,
        isIdempotent: annotations?.idempotentHint === true,
      }));
    } catch (error) {
      throw this.failure("does not say which tools it has", error);
    }
  }

  #tellLeftOut(names: readonly string[]): void {
    if (names.length === 0) return;
    const max = LIMITS.toolsPerServerMax;
    this.deps.warn(
      `the tool server ${this.ends.place.server} has ${max + names.length} tools; the first ${max} can be used, and not ${names.join(", ")}`,
    );
  }

  /** However it is given up, the server is told so; what it answers afterwards is nobody's. */
  async call(call: ServerCall): Promise<ServerAnswer> {
    const { tool, input, parameters, idempotencyKey, timeoutMs: timeout, signal, onProgress } = call;
    const overdue = new AbortController();
    const cancelLimit = this.deps.clock.schedule(LIMITS.toolCallTotalMs, () => overdue.abort());
    try {
      const result = await this.ends.client.callTool(
        { name: tool, arguments: input, _meta: { [KEY_FIELD]: idempotencyKey } },
        {
          signal: AbortSignal.any([signal, overdue.signal]),
          timeout,
          resetTimeoutOnProgress: true,
          onprogress: ({ message }) => onProgress(message),
          // Without a schema of the output: the client would throw the answer away and say that the call was refused.
          toolDefinition: { name: tool, inputSchema: parameters as { readonly type: "object" } },
        },
      );
      return readAnswer(result);
    } catch (error) {
      if (signal.aborted) throw new SplashdownError("CANCELLED", `the call of ${tool} was ended`);
      throw overdue.signal.aborted ? this.#overdue(tool, error) : this.#callFailure(call, error);
    } finally {
      cancelLimit();
    }
  }

  async close(): Promise<void> {
    await this.ends.client.close().catch(() => undefined);
    // A client that was never connected does not close what it was given.
    await this.ends.transport.close().catch(() => undefined);
  }

  /** What the server did wrong, and all that is known of it. */
  failure(what: string, error: unknown, details: JsonObject = {}): SplashdownError {
    const own = this.ends.transport instanceof ChildTransport ? this.ends.transport : undefined;
    const code = (error instanceof SplashdownError ? error : own?.failure)?.code ?? "TOOL_SERVER_FAILED";
    const known = [messageOf(error), own?.describe() ?? ""].filter((part) => part !== "").join("; ");
    return new SplashdownError(code, `the tool server ${this.ends.place.server} ${what}: ${known}`, {
      cause: error,
      details: { server: this.ends.place.server, ...details },
    });
  }

  #overdue(tool: string, error: unknown): SplashdownError {
    const hours = LIMITS.toolCallTotalMs / 3_600_000;
    return this.#timeout(tool, `told its progress for ${hours} hours without an end and was given up`, error);
  }

  #timeout(tool: string, what: string, cause: unknown): SplashdownError {
    const { server } = this.ends.place;
    const details = { server, tool, sent: true };
    return new SplashdownError("STEP_TIMEOUT", `the tool ${tool} of server ${server} ${what}`, { cause, details });
  }

  /** It was answered, so the call was made. */
  #unreadable(tool: string, error: unknown): SplashdownError {
    const { server } = this.ends.place;
    const text = `what ${tool} of the server ${server} answered cannot be taken: ${messageOf(error)}`;
    return new SplashdownError("VALUE_UNSUPPORTED", text, { details: { server, tool, sent: true, answered: true } });
  }

  #callFailure({ tool, timeoutMs }: ServerCall, error: unknown): SplashdownError {
    const details = { tool, sent: true };
    if (isUnreadable(error)) return this.#unreadable(tool, error);
    const code = sdkCodeOf(error);
    const isSilent = code === "REQUEST_TIMEOUT";
    const advice = "raise timeout of the server, or have the tool tell its progress";
    if (isSilent) return this.#timeout(tool, `was silent for ${timeoutMs / 1_000} seconds; ${advice}`, error);
    if (code === "NOT_CONNECTED") return this.failure(`was gone before ${tool} was called`, error, { tool });
    if (REFUSALS.has(code)) return this.failure(`refused ${tool}`, error, { tool, sent: false });
    if (typeof code === "number") return this.failure(`failed while it worked on ${tool}`, error, details);
    return this.failure(`broke off while it worked on ${tool}`, error, details);
  }
}

/** A request that is not read, not known or not valid has not been carried out. Source: JSON-RPC 2.0, section 5.1. */
const REFUSALS: ReadonlySet<unknown> = new Set([-32_700, -32_600, -32_601, -32_602]);

/** Source: `_meta` keys with a prefix are free for clients. */
const KEY_FIELD = "splashdown/idempotency-key";

function sdkCodeOf(error: unknown): unknown {
  return typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
}

function isUnreadable(error: unknown): boolean {
  return typeof error === "object" && error !== null && "data" in error && error.data === UNREADABLE;
}

/** All of it came from JSON. */
function readAnswer({ content, structuredContent, isError }: CallToolResult): ServerAnswer {
  return {
    content: (content as readonly unknown[] as readonly JsonObject[] | undefined) ?? [],
    ...(structuredContent === undefined ? {} : { structured: structuredContent as JsonValue }),
    isError: isError === true,
  };
}
