/**
 * The doors through which values come in, each as a way from bytes to what a step then sees.
 *
 * A door takes a document, `{"v": {"w": VALUE}}` as bytes, and gives what a function step sees of VALUE; or it throws with
 * the words that a person is told. Everything is real: processes, HTTP, MCP, files.
 */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { openSplashdown, type RunOptions, type RunView, type Splashdown } from "../../src/index.js";
import { parseJsonFlag } from "../../src/cli/command/flags.js";
import { readInputsFile } from "../../src/cli/command/inputs-file.js";
import { createOwnEnvironment } from "./own-environment.js";
import { endStream, LAST_CHUNK, openRawServer, stream, type RawServer } from "./raw-server.js";

export type Door = (document: Buffer) => Promise<unknown>;

/** An MCP server that answers a call of `look` with the bytes of a file, as structured content or inside a text. */
const SERVER = `import { readFileSync } from "node:fs"; import { createInterface } from "node:readline";
const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
const [folder, how] = process.argv.slice(2);
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === "initialize") say({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } } });
  if (method === "tools/list") say({ id, result: { tools: [{ name: "look", inputSchema: { type: "object" } }] } });
  if (method !== "tools/call") return;
  const body = readFileSync(folder + "/" + params.arguments.cell);
  const quoted = '"' + body.toString("latin1").replace(/["\\\\]/g, "\\\\$&") + '"';
  const before = '{"jsonrpc":"2.0","id":' + id + ',"result":{"content":';
  const parts = how === "structured"
    ? [before + '[],"structuredContent":', body, "}}\\n"]
    : [before + '[{"type":"text","text":', Buffer.from(quoted, "latin1"), "}]}}\\n"];
  process.stdout.write(Buffer.concat(parts.map((part) => Buffer.from(part))));
});
`;

const see = (expression: string, after: readonly string[] = ["c"]) => ({
  name: "see",
  ...(after.length === 0 ? {} : { depends_on: after }),
  input: { v: expression },
  effects: "none",
});

export class DoorRoom {
  readonly #folder = mkdtempSync(join(tmpdir(), "splashdown-doors-"));
  readonly #bodies = new Map<string, Buffer>();
  #count = 0;
  #server: RawServer | undefined;
  #splashdown: Splashdown | undefined;

  async open(): Promise<void> {
    writeFileSync(join(this.#folder, "server.mjs"), SERVER);
    const server = await openRawServer((socket) => {
      const request = server.requests.at(-1) ?? "";
      const body = this.#bodies.get(/cell-\d+/.exec(request)?.[0] ?? "") ?? Buffer.alloc(0);
      if (request.startsWith("POST")) return sayAsModel(socket, body);
      socket.write("HTTP/1.1 200 X\r\nconnection: close\r\ncontent-type: application/json\r\n\r\n");
      socket.end(body);
    });
    this.#server = server;
    this.#splashdown = await this.#openSplashdown({ OPENAI_BASE_URL: server.url, OPENAI_API_KEY: "k" });
  }

  async close(): Promise<void> {
    await this.#splashdown?.close();
    await this.#server?.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  readonly doors: Readonly<Record<string, Door>> = {
    "stdout of a command": (document) => this.#look([{ command: ["cat", this.#write(document)], effects: "none" }]),
    "stdout of a script": (document) =>
      this.#look([{ type: "script", command: "cat", args: [this.#write(document)], effects: "none" }]),
    "an answer over http": (document) =>
      this.#look([{ url: `${this.#server?.url}/${this.#keep(document)}`, effects: "none" }], "{{ c.output.body.v.w }}"),
    "structured content of an MCP server": (document) => this.#callServer(document, "structured"),
    "a text of an MCP server": (document) => this.#callServer(document, "text", { output: DECLARED }),
    "an answer of a model": (document) =>
      this.#look([{ provider: "openai-compatible", model: "m", prompt: this.#keep(document), output: DECLARED }]),
    "--input": (document) => this.#take({ inputTexts: { x: document.toString("utf8") } }),
    "--inputs, JSON": async (document) => this.#take({ inputs: await this.#readInputs(document, ".json") }),
    "--inputs, YAML": async (document) => this.#take({ inputs: await this.#readInputs(document, ".yaml") }),
    "--inputs from stdin": async (document) =>
      this.#take({ inputs: await readInputsFile("-", { input: Readable.from([document]) as never }).then(wrapInput) }),
    "answer --output": (document) => this.#answer(document.toString("utf8")),
    "a nested input": (document) => this.#nest(document.toString("utf8")),
    "items of a for_each": (document) => this.#each(`[${document.toString("utf8")}]`),
    settings: (document) => this.#readSettings(document),
    "a workflow file": (document) => this.#runFile(document),
  };

  #write(document: Buffer, ending = ""): string {
    const path = join(this.#folder, `${this.#next()}${ending}`);
    writeFileSync(path, document);
    chmodSync(path, 0o600);
    return path;
  }

  #keep(document: Buffer): string {
    const cell = this.#next();
    this.#bodies.set(cell, document);
    return cell;
  }

  #next(): string {
    this.#count += 1;
    return `cell-${this.#count}`;
  }

  #openSplashdown(variables: Readonly<Record<string, string>>, folder = this.#folder): Promise<Splashdown> {
    const environment = createOwnEnvironment(folder, { SPLASHDOWN_TRUST: "1", ...variables });
    return openSplashdown({ store: "memory:", environment });
  }

  /** One step `c` with these fields, and what is seen of its output. */
  #look([fields]: readonly [object], expression = "{{ c.output.v.w }}", workflow: object = {}): Promise<unknown> {
    return this.#see({ workflow, steps: [{ name: "c", ...fields }, see(expression)] });
  }

  #callServer(document: Buffer, how: string, more: object = {}): Promise<unknown> {
    const args = [join(this.#folder, "server.mjs"), this.#folder, how];
    const runtime = { mcp_servers: { reg: { command: process.execPath, args } } };
    const input = { cell: this.#write(document).split("/").at(-1) };
    const step = { server: "reg", tool: "look", input, effects: "none", ...more };
    return this.#look([step], "{{ c.output.v.w }}", { runtime });
  }

  async #readInputs(document: Buffer, ending: string): Promise<{ readonly x: unknown }> {
    return wrapInput(await readInputsFile(this.#write(document, ending), { input: undefined }));
  }

  #take(options: object): Promise<unknown> {
    const workflow = { input: { x: { type: "object" } } };
    return this.#see({ workflow, steps: [see("{{ workflow.input.x.v.w }}", [])] }, options);
  }

  /** A command whose output cannot be used has acted: a person is asked, and says what its output is. */
  async #answer(text: string): Promise<unknown> {
    const value = parseJsonFlag("--output", text);
    const task = this.#next();
    const printing = { name: "c", command: ["printf", "no JSON"], effects: "external" };
    const flow = this.#flow({ steps: [printing, see("{{ c.output.v.w }}")] });
    const asked = await this.#library.run({ workflow: flow.workflow, task });
    const [question] = asked.questions;
    await this.#library.answer({ task, question: question?.id ?? "", answer: "done", value });
    return flow.seenIn(await this.#library.run({ workflow: flow.workflow, task }));
  }

  #nest(text: string): Promise<unknown> {
    const inner =
      'workflow: {name: inner, input: {x: {type: object}}}\nsteps: [{name: s, value: "1"}]\noutput: {w: "{{ workflow.input.x.v.w }}"}\n';
    const file = this.#write(Buffer.from(inner), ".yaml");
    const step = { name: "c", type: "workflow", workflow: file, input_mapping: { x: "{{ workflow.input.t }}" } };
    const workflow = { input: { t: { type: "string" } } };
    return this.#see({ workflow, steps: [step, see("{{ c.output.w }}")] }, { inputs: { t: text } });
  }

  #each(text: string): Promise<unknown> {
    const group = { name: "c", for_each: "{{ workflow.input.t }}", as: "item", step: see("{{ item.v.w }}", []) };
    const workflow = { input: { t: { type: "string" } } };
    return this.#see({ workflow, steps: [group] }, { inputs: { t: text } });
  }

  async #readSettings(document: Buffer): Promise<unknown> {
    const folder = mkdtempSync(join(this.#folder, "settings-"));
    const text = Buffer.concat([Buffer.from("scripted_answers: {c: [{say: "), document, Buffer.from("}]}\n")]);
    writeFileSync(join(folder, "splashdown.config.yaml"), text, { mode: 0o600 });
    const splashdown = await this.#openSplashdown({}, folder);
    try {
      const step = { name: "c", provider: "scripted", prompt: "go" };
      const flow = this.#flow({ steps: [step, see("{{ c.output.v.w }}")] });
      return flow.seenIn(await splashdown.run({ workflow: flow.workflow }));
    } finally {
      await splashdown.close();
    }
  }

  async #runFile(document: Buffer): Promise<unknown> {
    const head = Buffer.from("workflow: {name: f, input: {x: {type: object, required: false, default: ");
    const tail = Buffer.from(
      '}}}\nsteps: [{name: s, type: set, value: "1"}]\noutput: {w: "{{ workflow.input.x.v.w }}"}\n',
    );
    const file = this.#write(Buffer.concat([head, document, tail]), ".yaml");
    const view = await this.#library.run({ workflow: file, task: this.#next() });
    return (requireDone(view).output as { readonly w: unknown }).w;
  }

  get #library(): Splashdown {
    if (this.#splashdown === undefined) throw new Error("the room is not open");
    return this.#splashdown;
  }

  async #see(parts: FlowParts, options: Omit<RunOptions, "workflow"> = {}): Promise<unknown> {
    const flow = this.#flow(parts);
    return flow.seenIn(await this.#library.run({ task: this.#next(), ...options, workflow: flow.workflow }));
  }

  #flow({ workflow = {}, steps }: FlowParts) {
    let seen: unknown;
    const take = (context: { readonly input: { readonly v: unknown } }): string => {
      seen = context.input.v;
      return "seen";
    };
    const watch = (step: object): object => {
      if ("step" in step) return { ...step, step: watch(step.step as object) };
      return "name" in step && step.name === "see" ? { ...step, function: take } : step;
    };
    const all = steps.map(watch);
    return {
      workflow: { workflow: { name: "doors", ...workflow }, steps: all } as never,
      seenIn: (view: RunView): unknown => (requireDone(view), seen),
    };
  }
}

interface FlowParts {
  readonly workflow?: object;
  readonly steps: readonly object[];
}

const DECLARED = { v: { type: "object" } };
const wrapInput = (inputs: object): { readonly x: unknown } => ({ x: inputs });

/** Errors: the code and the words of a run that did not end well. */
function requireDone(view: RunView): RunView {
  if (view.status === "done") return view;
  const { code = "TASK_FAILED" } = /: (?<code>[A-Z]+_[A-Z_]+): /.exec(view.reason)?.groups ?? {};
  throw Object.assign(new Error(view.reason), { code });
}

type Socket = Parameters<typeof stream>[0];

/** The bytes as one chunk of a stream in OpenAI's form. */
function sayAsModel(socket: Socket, body: Buffer): void {
  const quoted = `"${body.toString("latin1").replace(/["\\]/g, "\\$&")}"`;
  stream(socket);
  const before = '{"id":"1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":';
  const chunk = Buffer.from(`data: ${before}${quoted}},"finish_reason":null}]}\n\n`, "latin1");
  socket.write(`${chunk.length.toString(16)}\r\n`);
  socket.write(chunk);
  socket.write("\r\n");
  socket.write(`${Buffer.byteLength(LAST_CHUNK).toString(16)}\r\n${LAST_CHUNK}\r\n`);
  endStream(socket);
}
