/**
 * Messages of an MCP server, held against what they say: a number that would change, bytes that are no text, a line that
 * is no JSON. Such an answer becomes an error of the call that it answers, instead of another value or of silence.
 *
 * Lists of tools, prompts and resources are exempt: a bound such as the largest 64-bit number in a schema is no value.
 */
import { findInexact } from "../../../base/exact-json.js";
import { messageOf } from "../../../base/errors.js";
import { isJsonObject } from "../../../base/json.js";
import { readUtf8 } from "../../../base/utf8-text.js";

/** Marks the error that stands for an answer of the server's. */
export const UNREADABLE = "splashdown: the answer cannot be taken";
const CODE = -32_099;
const EXEMPT = /^\$\.result\.(?:tools|prompts|resources|resourceTemplates)\b/;

/** The text of the message, or of the error in its place. Shape: as it came where it answers no call. */
export function readMessageText(bytes: Uint8Array): string {
  const read = readUtf8(bytes);
  return "text" in read
    ? judgeMessageText(read.text)
    : judgeMessageText(Buffer.from(bytes).toString("utf8"), read.problem);
}

/** Judges decoded text; `broken` says what was wrong with the bytes. Shape: as `readMessageText`. */
export function judgeMessageText(text: string, broken?: string): string {
  let problem = broken === undefined ? undefined : `it ${broken}`;
  if (problem === undefined) problem = findProblem(text);
  return problem === undefined ? text : (replace(text, problem) ?? text);
}

function findProblem(text: string): string | undefined {
  try {
    JSON.parse(text);
    const place = findInexact(text);
    return place === undefined || EXEMPT.test(place.path) ? undefined : place.message.replace(/^\$\.result\b/, "$");
  } catch (error) {
    return `it is not JSON: ${messageOf(error)}`;
  }
}

function replace(text: string, problem: string): string | undefined {
  const id = idOf(text);
  if (id === undefined) return undefined;
  return JSON.stringify({ jsonrpc: "2.0", id, error: { code: CODE, message: problem, data: UNREADABLE } });
}

/** The id of a message that is no JSON: servers write the id before or behind the result. */
const ID_BEFORE = /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d{1,15})\s*,/;
const ID_BEHIND = /"id"\s*:\s*(\d{1,15})\s*\}\s*$/;

/** The id of the call that the message answers; `undefined` for a request or a notification of the server. */
function idOf(text: string): number | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isAnswer = isJsonObject(value) && (value["result"] !== undefined || value["error"] !== undefined);
    return isAnswer && typeof value["id"] === "number" ? value["id"] : undefined;
  } catch {
    if (!/^\s*\{.{0,200}"(?:result|error)"/s.test(text)) return undefined;
    const found = (ID_BEFORE.exec(text) ?? ID_BEHIND.exec(text.slice(-100)))?.[1];
    return found === undefined ? undefined : Number(found);
  }
}

type Fetch = (input: string | URL, init?: RequestInit) => Promise<Response>;

/** A fetch whose JSON and whose events are held against what they say. */
export function createExactFetch(fetch: Fetch): Fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    const type = response.headers.get("content-type") ?? "";
    if (!response.ok || response.body === null) return response;
    const { status, statusText, headers } = response;
    const shape = { status, statusText, headers: withoutLength(headers) };
    if (/\bapplication\/json\b/i.test(type))
      return new Response(readMessageText(new Uint8Array(await response.arrayBuffer())), shape);
    if (!/\btext\/event-stream\b/i.test(type)) return response;
    return new Response(response.body.pipeThrough(new TransformStream(new EventJudge())), shape);
  };
}

function withoutLength(headers: Headers): Headers {
  const kept = new Headers(headers);
  for (const name of ["content-length", "content-encoding"]) kept.delete(name);
  return kept;
}

const NEWLINE = 0x0a;
const DATA = /^data: ?/;

/** Server-sent events, line by line; the data of one that is whole in its line is judged. */
class EventJudge {
  #rest = Buffer.alloc(0);

  transform(chunk: Uint8Array, controller: TransformStreamDefaultController<Uint8Array>): void {
    const all = Buffer.concat([this.#rest, chunk]);
    const end = all.lastIndexOf(NEWLINE) + 1;
    this.#rest = Buffer.from(all.subarray(end));
    for (let from = 0; from < end;) {
      const to = all.indexOf(NEWLINE, from);
      controller.enqueue(judgeLine(all.subarray(from, to + 1)));
      from = to + 1;
    }
  }

  flush(controller: TransformStreamDefaultController<Uint8Array>): void {
    if (this.#rest.length > 0) controller.enqueue(judgeLine(this.#rest));
  }
}

function judgeLine(line: Buffer): Uint8Array {
  const prefix = DATA.exec(line.toString("latin1", 0, 6))?.[0];
  if (prefix === undefined) return line;
  const body = line.subarray(prefix.length);
  const text = readMessageText(Buffer.from(body.toString("latin1").trimEnd(), "latin1"));
  return Buffer.from(`${prefix}${text}\n`);
}
