/** A server of ours in this process, spoken to in raw lines: what goes in and what comes out, byte by byte. */
import { onTestFinished } from "vitest";
import { silentLog } from "../../src/base/log.js";
import { serveMcp, type McpServerOptions } from "../../src/mcp/server.js";
import { openSplashdown } from "../../src/runtime/open.js";
import { createEnvironment } from "../../src/runtime/platform/environment.js";
import { realClock, until } from "./real-clock.js";

interface Message {
  readonly id?: number | string | null;
  readonly method?: string;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number; readonly message: string };
}

export class McpTalk {
  /** Everything that was written, a line each. */
  readonly lines: string[] = [];
  readonly ended: Promise<void>;
  readonly #queue: (Buffer | undefined)[] = [];
  #wake: () => void = () => undefined;
  #id = 0;
  readonly #stop = new AbortController();

  constructor(options: Omit<McpServerOptions, "input" | "write" | "signal">) {
    const write = (text: string): void => void this.lines.push(...text.split("\n").filter((line) => line !== ""));
    this.ended = serveMcp({ ...options, input: this.#read(), write, signal: this.#stop.signal });
  }

  /** Bytes as they stand. */
  send(text: string | Buffer): void {
    this.#queue.push(Buffer.from(text as string));
    this.#wake();
  }

  sendMessage(message: object): void {
    this.send(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }

  /** The client closes its end. */
  hangUp(): void {
    this.#queue.push(undefined);
    this.#wake();
  }

  /** As a signal does. */
  stop(): void {
    this.#stop.abort();
  }

  messages(): Message[] {
    return this.lines.map((line) => JSON.parse(line) as Message);
  }

  async request(method: string, params: object = {}): Promise<Message> {
    this.#id += 1;
    const id = this.#id;
    this.sendMessage({ id, method, params });
    const find = (): Message | undefined => this.messages().find((message) => message.id === id);
    await until(`an answer to ${method}`, () => find() !== undefined);
    return find() as Message;
  }

  async greet(name = "tester"): Promise<Message> {
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name, version: "1" } };
    const greeting = await this.request("initialize", params);
    this.sendMessage({ method: "notifications/initialized" });
    return greeting;
  }

  /** The result of a tool, with what is in it for programs. */
  async call(name: string, input: object = {}): Promise<{ isError: boolean; body: Record<string, unknown> }> {
    const { result = {} } = await this.request("tools/call", { name, arguments: input });
    return { isError: result["isError"] === true, body: result["structuredContent"] as Record<string, unknown> };
  }

  async *#read(): AsyncGenerator {
    for (;;) {
      const [chunk] = this.#queue;
      if (this.#queue.length === 0) await new Promise<void>((resolve) => (this.#wake = resolve));
      else {
        this.#queue.shift();
        if (chunk === undefined) return;
        yield chunk;
      }
    }
  }
}

/** A server over tasks in memory, below a folder; nothing is started in the background unless a test says how. */
export async function openTalk(folder: string, options: Partial<McpServerOptions> = {}): Promise<McpTalk> {
  const all = {
    HOME: folder,
    SPLASHDOWN_CONFIG_DIR: `${folder}/config`,
    SPLASHDOWN_STATE_DIR: `${folder}/state`,
    SPLASHDOWN_KEY: Buffer.alloc(32, 7).toString("base64"),
  };
  const environment = createEnvironment(all, folder);
  const splashdown = options.splashdown ?? (await openSplashdown({ store: "memory:", environment }));
  const talk = new McpTalk({
    splashdown,
    background: { start: () => Promise.reject(new Error("nothing is started here")) },
    clock: realClock,
    log: silentLog,
    root: folder,
    mayAnswer: false,
    mayLoadModules: false,
    checkModule: () => Promise.reject(new Error("no module is loaded here")),
    user: "ada",
    repeat: (text) => text,
    ...options,
  });
  onTestFinished(async () => {
    talk.hangUp();
    await talk.ended;
    await splashdown.close();
  });
  return talk;
}
