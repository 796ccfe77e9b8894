/** A client of yaml-language-server, as an editor is one: messages with a length header over standard input and output. */
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { onTestFinished } from "vitest";
import { until } from "./real-clock.js";

export interface Position {
  readonly line: number;
  readonly character: number;
}

export interface Diagnostic {
  readonly message: string;
  readonly range: { readonly start: Position; readonly end: Position };
}

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly uri?: string; readonly diagnostics?: readonly Diagnostic[]; readonly items?: unknown[] };
  readonly result?: unknown;
}

/** One open file in an editor. */
export interface OpenFile {
  readonly diagnostics: readonly Diagnostic[];
  /** Labels offered there. Units: counted from 0. */
  complete(at: Position): Promise<readonly string[]>;
  /** The text shown for what stands there; empty when there is none. */
  hover(at: Position): Promise<string>;
}

/** Splits a stream into messages. */
function createReader(receive: (message: Message) => void): (chunk: Buffer) => void {
  let pending = Buffer.alloc(0);
  return (chunk) => {
    pending = Buffer.concat([pending, chunk]);
    for (;;) {
      const end = pending.indexOf("\r\n\r\n");
      const length = Number(/Content-Length: (\d+)/i.exec(pending.subarray(0, Math.max(end, 0)).toString())?.[1]);
      if (end < 0 || pending.length < end + 4 + length) return;
      receive(JSON.parse(pending.subarray(end + 4, end + 4 + length).toString()) as Message);
      pending = pending.subarray(end + 4 + length);
    }
  };
}

/** Starts the server with one schema for every YAML file; it ends with the test. */
export async function openEditor(schemaFile: string): Promise<{ open(text: string): Promise<OpenFile> }> {
  const entry = createRequire(import.meta.url).resolve("yaml-language-server/package.json");
  const child = spawn(process.execPath, [join(dirname(entry), "bin", "yaml-language-server"), "--stdio"], {
    stdio: ["pipe", "pipe", "ignore"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const settings = {
    yaml: { validate: true, hover: true, completion: true, schemas: { [pathToFileURL(schemaFile).href]: "*.yaml" } },
  };
  const answers = new Map<number, unknown>();
  const diagnostics = new Map<string, readonly Diagnostic[]>();
  const send = (message: object): void => {
    const body = JSON.stringify({ jsonrpc: "2.0", ...message });
    child.stdin.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  };
  const receive = ({ id, method, params, result }: Message): void => {
    if (method === undefined && id !== undefined) answers.set(id, result ?? null);
    else if (method === "textDocument/publishDiagnostics")
      diagnostics.set(params?.uri ?? "", params?.diagnostics ?? []);
    // The server asks for its settings, section by section.
    else if (id !== undefined)
      send({ id, result: (params?.items ?? [null]).map((_item, at) => (at === 0 ? settings.yaml : {})) });
  };
  child.stdout.on("data", createReader(receive));
  let last = 0;
  const ask = async (method: string, params: object): Promise<unknown> => {
    const id = (last += 1);
    send({ id, method, params });
    await until(`${method} is answered`, () => answers.has(id));
    return answers.get(id);
  };
  const capabilities = { workspace: { configuration: false }, textDocument: { publishDiagnostics: {} } };
  await ask("initialize", { processId: process.pid, rootUri: null, capabilities });
  send({ method: "initialized", params: {} });
  send({ method: "workspace/didChangeConfiguration", params: { settings } });
  return {
    open: async (text) => {
      const uri = `file:///work/flow-${(last += 1)}.yaml`;
      send({ method: "textDocument/didOpen", params: { textDocument: { uri, languageId: "yaml", version: 1, text } } });
      await until("diagnostics are published", () => diagnostics.has(uri));
      const at = (position: Position) => ({ textDocument: { uri }, position });
      return {
        get diagnostics() {
          return diagnostics.get(uri) ?? [];
        },
        complete: async (position) => {
          const list = (await ask("textDocument/completion", at(position))) as { items: { label: string }[] } | null;
          return (list?.items ?? []).map(({ label }) => label);
        },
        hover: async (position) => {
          const shown = (await ask("textDocument/hover", at(position))) as { contents?: { value?: string } } | null;
          return shown?.contents?.value ?? "";
        },
      };
    },
  };
}
