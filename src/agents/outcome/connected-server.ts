/** The port to MCP servers: connecting one, its tools, and a call of a tool. */
import type { JsonObject, JsonValue } from "../../base/json.js";
import type { SplashdownError } from "../../base/errors.js";
import type { ServerReach } from "../../definition/model/tool-definition.js";

/** The way to a server, with all variables filled. */
export interface ServerPlace {
  readonly server: string;
  readonly reach: ServerReach;
  /** The workflow's folder, in which a server that is a program starts. Absolute. */
  readonly folder: string;
  /** The environment that a server that is a program inherits. */
  readonly environment: Readonly<Record<string, string>>;
}

/** A tool as its server describes it. */
export interface ServerTool {
  readonly name: string;
  readonly description?: string;
  readonly parameters: JsonObject;
  /** The JSON Schema of the structured content of an answer. */
  readonly outputSchema?: JsonObject;
  readonly isReadOnly: boolean;
  readonly isIdempotent: boolean;
}

export interface ServerCall {
  readonly tool: string;
  readonly input: JsonObject;
  /** The JSON Schema of the input. */
  readonly parameters: JsonObject;
  readonly idempotencyKey: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Called when the server reports progress; the timeout starts again. */
  readonly onProgress: (message: string | undefined) => void;
}

export interface ServerAnswer {
  readonly content: readonly JsonObject[];
  readonly structured?: JsonValue;
  readonly isError: boolean;
}

/** A connected server. Errors of `tools` and `call`: TOOL_SERVER_FAILED, VALUE_TOO_LARGE, STEP_TIMEOUT. */
export interface ConnectedServer {
  tools(): Promise<readonly ServerTool[]>;
  call(call: ServerCall): Promise<ServerAnswer>;
  /** Builds the error of this server, with its known cause. */
  failure(what: string, error: unknown, details?: JsonObject): SplashdownError;
}

/** The servers of a task: each is connected when a step first asks for it. */
export interface ToolServers {
  /** Errors: TOOL_SERVER_FAILED, PROGRAM_NOT_FOUND. */
  connect(place: ServerPlace): Promise<ConnectedServer>;
  close(): Promise<void>;
}
