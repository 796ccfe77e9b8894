/** Servers of tools as their callers see them: what tools a server has, and one call of a tool. */
import type { JsonObject, JsonValue } from "../../base/json.js";
import type { SplashdownError } from "../../base/errors.js";
import type { ServerReach } from "../../definition/model/tool-definition.js";

/** How a server is reached, with all its variables filled. */
export interface ServerPlace {
  readonly server: string;
  readonly reach: ServerReach;
  /** Of the workflow: where a program is started. */
  readonly folder: string;
  /** What a program inherits. */
  readonly environment: Readonly<Record<string, string>>;
}

/** A tool as its server tells it. */
export interface ServerTool {
  readonly name: string;
  readonly description?: string;
  readonly parameters: JsonObject;
  /** Of its structured content. */
  readonly outputSchema?: JsonObject;
  readonly isReadOnly: boolean;
  readonly isIdempotent: boolean;
}

export interface ServerCall {
  readonly tool: string;
  readonly input: JsonObject;
  /** Schema of its input. */
  readonly parameters: JsonObject;
  readonly idempotencyKey: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** The server says that it is at work; the limit in time starts again. */
  readonly onProgress: (message: string | undefined) => void;
}

export interface ServerAnswer {
  readonly content: readonly JsonObject[];
  readonly structured?: JsonValue;
  readonly isError: boolean;
}

/** One server that is connected. Errors of both calls: TOOL_SERVER_FAILED, VALUE_TOO_LARGE, STEP_TIMEOUT. */
export interface ConnectedServer {
  tools(): Promise<readonly ServerTool[]>;
  call(call: ServerCall): Promise<ServerAnswer>;
  /** An error of this server, with what is known of its cause. */
  failure(what: string, error: unknown, details?: JsonObject): SplashdownError;
}

/** Where performers get servers from. */
export interface ToolServers {
  /** Errors: TOOL_SERVER_FAILED, PROGRAM_NOT_FOUND. */
  connect(place: ServerPlace): Promise<ConnectedServer>;
  close(): Promise<void>;
}
