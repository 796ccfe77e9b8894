/** The texts in which one secret value may show up: as it is and in the encodings that tools put it through. */

import { escapeXml } from "./xml-text.js";

/** Shorter pieces of base64 would match by chance. */
const PIECE_CHARS_MIN = 8;

/** Distinct forms of a value, itself first. */
export function computeSecretForms(value: string): string[] {
  const bytes = Buffer.from(value);
  const forms = [value, escapeJson(value), escapeJson(escapeJson(value)), ...encodeForUrls(value)];
  forms.push(...escapeOtherwise(value), bytes.toString("base64"), bytes.toString("base64url"));
  const hex = bytes.toString("hex");
  forms.push(hex, hex.toUpperCase());
  for (let offset = 0; offset < 3; offset += 1) {
    const piece = computeBase64Piece(bytes, offset);
    if (piece.length < PIECE_CHARS_MIN) continue;
    forms.push(piece, piece.replaceAll("+", "-").replaceAll("/", "_"));
  }
  // Some writers of JSON put a backslash before each slash.
  forms.push(...forms.filter((form) => form.includes("/")).map((form) => form.replaceAll("/", "\\/")));
  return [...new Set(forms)];
}

function escapeJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** As other writers of JSON, a shell between quotes, and HTML have it. */
function escapeOtherwise(value: string): string[] {
  const json = escapeJson(value);
  const ascii = json.replace(/[\u0080-\uffff]/g, toUnicodeEscape);
  return [
    ascii,
    ascii.replace(/[\u0080-\uffff]|\\u[0-9a-f]{4}/g, (code) => `\\u${code.slice(2).toUpperCase()}`),
    json.replace(/[<>&']/g, toUnicodeEscape),
    value.replaceAll("'", `'\\''`),
    value.replaceAll("'", `'"'"'`),
    escapeXml(value),
    escapeXml(value).replaceAll("'", "&#39;"),
    escapeXml(value).replaceAll("'", "&apos;"),
  ];
}

function toUnicodeEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** Percent-encoding as browsers do it, as forms do it, with small hex digits, and with all that RFC 3986 reserves. */
function encodeForUrls(value: string): string[] {
  if (Buffer.from(value).toString() !== value) return [];
  const component = encodeURIComponent(value);
  const strict = component.replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
  const lower = component.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase());
  return [
    component,
    strict,
    lower,
    new URLSearchParams([["", value]]).toString().slice(1),
    component.replaceAll("%20", "+"),
    encodeURI(value),
  ];
}

/**
 * The characters of base64 that depend on the value alone when `offset` other bytes stand before it, as in
 * `user:secret` of Basic authentication.
 */
function computeBase64Piece(bytes: Uint8Array, offset: number): string {
  const text = Buffer.concat([Buffer.alloc(offset), bytes])
    .toString("base64")
    .replace(/={1,2}$/, "");
  const start = Math.ceil((offset * 8) / 6);
  const end = Math.floor(((offset + bytes.length) * 8) / 6);
  return text.slice(start, end);
}
