/**
 * MCP over stdin and stdout: one JSON-RPC message a line.
 *
 * A line that is no message is answered as JSON-RPC says, and the next one is read; nothing a client sends ends the
 * server but the end of its input. What goes out is one line too, with every control character escaped.
 * Source: modelcontextprotocol.io, specification, transports, stdio; JSON-RPC 2.0, section 5.1.
 */
import { findInexact } from "../base/exact-json.js";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/server";
import { messageOf } from "../base/errors.js";
import { isJsonObject, type JsonValue } from "../base/json.js";
import { LIMITS } from "../base/limits.js";
import { LineSplitter } from "../base/line-splitter.js";
import { showControls } from "../base/plain-text.js";

export interface LineTransportOptions {
  readonly input: AsyncIterable<unknown>;
  readonly write: (text: string) => void;
  /** Errors: anything, for what is no message. */
  readonly parse: (value: JsonValue) => JSONRPCMessage;
}

const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;
const INVALID_PARAMS = -32602;

export class LineTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** Settles when the client has closed its end, or `close` was called. */
  readonly closed: Promise<void>;
  #isClosed = false;
  #tellClosed: () => void = () => undefined;

  constructor(private readonly options: LineTransportOptions) {
    this.closed = new Promise((resolve) => {
      this.#tellClosed = resolve;
    });
  }

  async start(): Promise<void> {
    await Promise.resolve();
    void this.#read().finally(() => void this.close());
  }

  async send(message: JSONRPCMessage): Promise<void> {
    await Promise.resolve();
    this.#write(message);
  }

  async close(): Promise<void> {
    await Promise.resolve();
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.onclose?.();
    this.#tellClosed();
  }

  async #read(): Promise<void> {
    const lines = new LineSplitter((...line) => this.#take(...line), LIMITS.mcpMessageBytesMax);
    try {
      for await (const chunk of this.options.input) {
        if (this.#isClosed) return;
        lines.take(Buffer.from(chunk as Uint8Array));
      }
    } catch (error) {
      this.onerror?.(error as Error);
    }
  }

  #take(line: string, isCut: boolean, problem?: string): void {
    if (this.#isClosed || line.trim() === "") return;
    if (isCut)
      return this.#refuse(INVALID_REQUEST, `a message may have ${LIMITS.mcpMessageBytesMax} bytes, and this has more`);
    if (problem !== undefined) return this.#refuse(PARSE_ERROR, `the message ${problem}`);
    let value: JsonValue;
    try {
      value = JSON.parse(line) as JsonValue;
    } catch (error) {
      return this.#refuse(PARSE_ERROR, `not JSON: ${messageOf(error)}`);
    }
    const inexact = findInexact(line);
    if (inexact !== undefined) return this.#refuse(INVALID_PARAMS, inexact.message, idOf(value));
    let message: JSONRPCMessage;
    try {
      message = this.options.parse(value);
    } catch {
      return this.#refuse(INVALID_REQUEST, "no message of JSON-RPC 2.0", idOf(value));
    }
    this.onmessage?.(message);
  }

  #refuse(code: number, message: string, id: string | number | null = null): void {
    this.onerror?.(new Error(`a line of the client was refused: ${message}`));
    this.#write({ jsonrpc: "2.0", id, error: { code, message } });
  }

  #write(message: unknown): void {
    if (!this.#isClosed) this.options.write(`${showControls(JSON.stringify(message))}\n`);
  }
}

function idOf(value: JsonValue): string | number | null {
  const id = isJsonObject(value) ? value["id"] : undefined;
  return typeof id === "string" || typeof id === "number" ? id : null;
}
