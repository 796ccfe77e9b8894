/** A server of raw bytes on loopback: says what no mock says, and keeps what it was asked. */
import { createServer, type Server, type Socket } from "node:net";
import type { AddressInfo } from "node:net";

/** What one connection gets once its request is whole. */
export type RawReply = (socket: Socket) => void;

export interface RawServer {
  readonly url: string;
  /** Whole requests, in order. */
  readonly requests: readonly string[];
  /** Replies to come; the last one repeats. */
  replies: RawReply[];
  close(): Promise<void>;
}

/** Closed after each answer: a request that a client sends over a connection that is just being closed would be one too many. */
const HEADERS = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: text/event-stream\r\n";

/** A chunk of an OpenAI stream with some text in it. */
export const textChunk = (text: string): string =>
  `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", choices: [{ index: 0, delta: { content: text }, finish_reason: null }] })}\n\n`;
export const LAST_CHUNK = `data: ${JSON.stringify({ id: "1", choices: [{ index: 0, delta: {}, finish_reason: "stop" }], usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 } })}\n\ndata: [DONE]\n\n`;

/** A stream of server-sent events; it is left open unless it is ended. */
export function stream(socket: Socket, ...parts: readonly string[]): void {
  socket.write(`${HEADERS}transfer-encoding: chunked\r\n\r\n`);
  for (const part of parts) writeChunk(socket, part);
}

export function writeChunk(socket: Socket, part: string): void {
  socket.write(`${Buffer.byteLength(part).toString(16)}\r\n${part}\r\n`);
}

export function endStream(socket: Socket): void {
  socket.end("0\r\n\r\n");
}

/** A whole answer with a status. */
export function answer(socket: Socket, status: number, headers: Readonly<Record<string, string>>, body: string): void {
  const all = { "content-type": "application/json", "content-length": String(Buffer.byteLength(body)), ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} X\r\nconnection: close\r\n${lines.join("")}\r\n${body}`);
}

export const goodAnswer =
  (text: string): RawReply =>
  (socket) => {
    stream(socket, textChunk(text), LAST_CHUNK);
    endStream(socket);
  };

/** Asks for one tool without input; what it costs in tokens. */
export const toolAnswer =
  (name: string, tokens = 1): RawReply =>
  (socket) => {
    const call = { index: 0, id: "c", type: "function", function: { name, arguments: "{}" } };
    const usage = { prompt_tokens: tokens, completion_tokens: 0, total_tokens: tokens };
    const chunk = (body: object) => `data: ${JSON.stringify({ id: "1", ...body })}\n\n`;
    stream(
      socket,
      chunk({ choices: [{ index: 0, delta: { tool_calls: [call] }, finish_reason: null }] }),
      chunk({ choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }], usage }),
      "data: [DONE]\n\n",
    );
    endStream(socket);
  };

export async function openRawServer(...replies: RawReply[]): Promise<RawServer> {
  const requests: string[] = [];
  const sockets = new Set<Socket>();
  const room = { replies };
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => undefined);
    let text = "";
    socket.setEncoding("utf8").on("data", (data: string) => {
      text += data;
      if (!isWhole(text)) return;
      requests.push(text);
      text = "";
      const reply = room.replies.length > 1 ? room.replies.shift() : room.replies[0];
      reply?.(socket);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    get replies() {
      return room.replies;
    },
    set replies(next) {
      room.replies = next;
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function isWhole(text: string): boolean {
  const end = text.indexOf("\r\n\r\n");
  if (end === -1) return false;
  const length = /content-length: (\d+)/i.exec(text.slice(0, end))?.[1];
  return Buffer.byteLength(text.slice(end + 4)) >= Number(length ?? 0);
}
