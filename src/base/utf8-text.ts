/**
 * Bytes from outside as text: read as UTF-8, or told where they are none. Nothing is replaced.
 *
 * Shape: a byte order mark at the beginning is no part of the text.
 */
import { isUtf8 } from "node:buffer";

export type ReadText = { readonly text: string } | { readonly problem: string };

const REPLACEMENT = "\uFFFD";
const REPLACEMENT_BYTES = Buffer.from(REPLACEMENT);

/** Shape: the problem goes on a sentence, as in `is not UTF-8 text: byte 0xe9 at offset 4`. */
export function readUtf8(bytes: Uint8Array): ReadText {
  if (isUtf8(bytes)) return { text: new TextDecoder().decode(bytes) };
  const isWide = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
  if (isWide) return { problem: "is UTF-16, and not UTF-8 text" };
  const at = findBroken(Buffer.from(bytes));
  const byte = (bytes[at] ?? 0).toString(16).padStart(2, "0");
  return { problem: `is not UTF-8 text: byte 0x${byte} at offset ${at}` };
}

/** The offset of the first byte that is no UTF-8. */
function findBroken(bytes: Buffer): number {
  const text = bytes.toString("utf8");
  let offset = 0;
  let from = 0;
  for (let at = text.indexOf(REPLACEMENT); at !== -1; at = text.indexOf(REPLACEMENT, from)) {
    offset += Buffer.byteLength(text.slice(from, at));
    if (!bytes.subarray(offset, offset + REPLACEMENT_BYTES.length).equals(REPLACEMENT_BYTES)) return offset;
    offset += REPLACEMENT_BYTES.length;
    from = at + 1;
  }
  return offset;
}

/** Text for people: whole where it is UTF-8, with what is none shown byte by byte, as in `caf\\xe9`. */
export function showUtf8(bytes: Uint8Array): string {
  const all = Buffer.from(bytes);
  if (isUtf8(all)) return all.toString("utf8");
  const shown: string[] = [];
  let from = 0;
  for (let at = 0; at < all.length;) {
    const size = sizeOf(all[at] ?? 0);
    if (size > 0 && at + size <= all.length && isUtf8(all.subarray(at, at + size))) {
      at += size;
      continue;
    }
    shown.push(all.toString("utf8", from, at), `\\x${(all[at] ?? 0).toString(16).padStart(2, "0")}`);
    at += 1;
    from = at;
  }
  return [...shown, all.toString("utf8", from)].join("");
}

/** Bytes of the character that begins so; 0 for none. */
function sizeOf(first: number): number {
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4) return 0;
  return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}
