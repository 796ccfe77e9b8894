/**
 * MCP over the pipes of a child: one JSON-RPC message a line.
 *
 * The child is one of the process host's: in its own group, with the environment it is given and no other, ended with its
 * owner however that dies. What is no message is counted and told; too much of it, or a message without an end, ends the
 * server. It runs only when the task knows of it: a server may act at any time, and acts for whoever is gone as well.
 * Source: modelcontextprotocol.io, specification 2025-11-25, transports, stdio.
 */
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { selectErrorLine } from "../../../base/error-lines.js";
import { SplashdownError } from "../../../base/errors.js";
import { LIMITS } from "../../../base/limits.js";
import { LineSplitter } from "../../../base/line-splitter.js";
import { judgeMessageText } from "./exact-message.js";
import type { Child, ChildSpec, ProcessHost, ProcessIdentity } from "../../../process/contract.js";

export interface ChildTransportOptions {
  readonly processes: ProcessHost;
  readonly spec: Pick<ChildSpec, "program" | "arguments" | "folder" | "environment">;
  readonly parse: (line: string) => JSONRPCMessage;
  readonly record: ServerRecord;
}

/** How the task knows of a server, so that whoever goes on with it ends what is left of it. */
export interface ServerRecord {
  /** Makes the identity durable; the program does not run before (A2). */
  spawned(process: ProcessIdentity): Promise<void>;
  /** Nothing of the server runs any more. */
  ended(process: ProcessIdentity): void;
}

const SHOWN_CHARS = 120;

export class ChildTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** What ended the server from here, or a word on how it ended. */
  failure: SplashdownError | undefined;
  #child: Child | undefined;
  #strangeLines = 0;
  #firstStrange: string | undefined;
  #stderrTail = "";

  constructor(private readonly options: ChildTransportOptions) {}

  async start(): Promise<void> {
    const { processes, spec } = this.options;
    const lines = new LineSplitter((...line) => this.#take(...line), LIMITS.toolMessageBytesMax);
    const child = await processes.spawn({
      ...spec,
      keepsInput: true,
      onStdout: (chunk) => lines.take(chunk),
      stdoutBytesMax: 0,
      stderrTailBytes: LIMITS.stderrTailBytes,
    });
    this.#child = child;
    await this.#makeKnown(child);
    child.release();
    void child.result.then(
      ({ exitCode, signal, stderrTail }) => {
        this.#stderrTail = stderrTail;
        this.options.record.ended(child.identity);
        this.#end(`it exited with ${signal ?? String(exitCode)}`);
      },
      (error: unknown) => {
        this.failure ??= error instanceof SplashdownError ? error : undefined;
        this.#end("it could not be run");
      },
    );
  }

  async #makeKnown(child: Child): Promise<void> {
    try {
      await this.options.record.spawned(child.identity);
    } catch (error) {
      await child.end(0);
      throw error;
    }
  }

  async send(message: JSONRPCMessage): Promise<void> {
    await Promise.resolve();
    this.#child?.write(`${JSON.stringify(message)}\n`);
  }

  async close(): Promise<void> {
    await this.#child?.end(LIMITS.toolServerGraceMs);
  }

  /** What is known of a server that does not do its work: how it ended, what it wrote instead. */
  describe(): string {
    const errorLine = selectErrorLine(this.#stderrTail);
    const strange =
      this.#strangeLines === 0
        ? ""
        : `${this.#strangeLines} lines of its output are no messages, first ${JSON.stringify(this.#firstStrange)}`;
    return [this.failure?.message ?? "", strange, errorLine].filter((part) => part !== "").join("; ");
  }

  #take(line: string, isCut: boolean, problem?: string): void {
    if (line.trim() === "") return;
    const message = this.#parse(isCut ? line : judgeMessageText(line, problem), isCut);
    if (message !== undefined) this.onmessage?.(message);
  }

  #parse(line: string, isCut: boolean): JSONRPCMessage | undefined {
    try {
      return this.options.parse(line);
    } catch (error) {
      this.#strangeLines += 1;
      this.#firstStrange ??= line.slice(0, SHOWN_CHARS);
      this.onerror?.(error as Error);
      // A line that was cut would have been the answer to a call.
      if (isCut) this.#giveUp("VALUE_TOO_LARGE", `it wrote a message of more than ${LIMITS.toolMessageBytesMax} bytes`);
      else if (this.#strangeLines >= LIMITS.toolStrangeLinesMax)
        this.#giveUp("TOOL_SERVER_FAILED", "it does not speak MCP");
      return undefined;
    }
  }

  #giveUp(code: "VALUE_TOO_LARGE" | "TOOL_SERVER_FAILED", message: string): void {
    this.failure ??= new SplashdownError(code, message);
    void this.close();
  }

  #end(how: string): void {
    this.failure ??= new SplashdownError("TOOL_SERVER_FAILED", how);
    this.onclose?.();
  }
}
