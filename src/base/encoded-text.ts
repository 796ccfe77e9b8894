/**
 * Bytes from outside as text in the encoding that their sender names.
 *
 * Source: WHATWG Encoding, the labels and section 9.1 for windows-1252, which Node's decoder takes for Latin-1.
 */
import { readUtf8, type ReadText } from "./utf8-text.js";

/** 0x80 to 0x9f; the places of 0x81, 0x8d, 0x8f, 0x90 and 0x9d are those control characters. */
const WINDOWS_1252 =
  "\u20ac\u0081\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\u008d\u017d\u008f\u0090\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\u009d\u017e\u0178";

/** Units: the label of an encoding, as in `charset=`. Shape: the problem goes on a sentence. */
export function readEncoded(bytes: Uint8Array, label = "utf-8"): ReadText {
  try {
    const decoder = new TextDecoder(label, { fatal: true });
    if (decoder.encoding === "utf-8") return readUtf8(bytes);
    return { text: decoder.encoding === "windows-1252" ? decodeWindows1252(bytes) : decoder.decode(bytes) };
  } catch {
    return { problem: `is no text in the encoding that it names, ${label}` };
  }
}

function decodeWindows1252(bytes: Uint8Array): string {
  const text = Buffer.from(bytes).toString("latin1");
  return text.replace(/[\u0080-\u009f]/g, (sign) => WINDOWS_1252[sign.charCodeAt(0) - 0x80] ?? sign);
}
