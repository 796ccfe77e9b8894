/** What an object says of itself in the clear, for people who query a database: nothing in here acts on it. */
import { isJsonObject, type JsonValue } from "../../base/json.js";

const OPENING = /^\{"format":"[a-z.]{1,40}","version":"[0-9.]{1,10}",$/;
const HEADER = '"header":';
const HEADER_BYTES_MAX = 16 * 1024;
const NEWLINE = 0x0a;

const SUITE = /"suite":"([^"]{1,64})"/;
const PLAIN_SUITE = "none";

/** True for bytes that say in their first lines with what they are sealed. */
export function isSealedText(bytes: Uint8Array): boolean {
  const start = Buffer.from(bytes.subarray(0, HEADER_BYTES_MAX)).toString("latin1");
  const suite = SUITE.exec(start)?.[1];
  return suite !== undefined && suite !== PLAIN_SUITE;
}

/** The header in the second of the lines of a file that begins as ours do, as JSON text; `undefined` for all else. */
export function readClearHeader(bytes: Uint8Array): string | undefined {
  const start = bytes.subarray(0, HEADER_BYTES_MAX);
  const first = start.indexOf(NEWLINE);
  const second = first < 0 ? -1 : start.indexOf(NEWLINE, first + 1);
  if (second < 0 || !OPENING.test(Buffer.from(start.subarray(0, first)).toString("latin1"))) return undefined;
  const line = Buffer.from(start.subarray(first + 1, second)).toString("utf8");
  if (!line.startsWith(HEADER) || !line.endsWith(",")) return undefined;
  const text = line.slice(HEADER.length, -1);
  try {
    // NUL can stand in no text of a database.
    return isJsonObject(JSON.parse(text) as JsonValue) && !text.includes("\\u0000") ? text : undefined;
  } catch {
    return undefined;
  }
}
