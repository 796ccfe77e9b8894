/**
 * Owns small looks into content, each a function from bytes or text to what was seen. Reads nothing itself.
 */
import { gunzipSync } from "node:zlib";
import { Buffer, isUtf8 } from "node:buffer";
import { formatPath } from "./byte-paths.mjs";
import { recogniseMagic } from "./magic-bytes.mjs";
import { redactSecrets } from "./secret-patterns.mjs";

const ENCODINGS = [
  "utf-16le",
  "utf-16be",
  "shift_jis",
  "euc-jp",
  "gb18030",
  "euc-kr",
  "big5",
  "windows-1251",
  "windows-1252",
];
const SAMPLE_MAX = 100;

/** Text from a file as it may be quoted: secrets removed, control characters shown, cut. `text` is latin1. */
export function quoteText(text) {
  const clean = redactSecrets(text.slice(0, 1000)).trim();
  return formatPath(clean.length > SAMPLE_MAX ? `${clean.slice(0, SAMPLE_MAX)}...` : clean);
}

/** The first bytes in hexadecimal. */
export function showBytes(bytes, count = 16) {
  return bytes
    .subarray(0, count)
    .toString("hex")
    .replace(/(..)(?=.)/g, "$1 ");
}

/** Bits of Shannon entropy per byte: about 8 is packed or encrypted, under 6 is code or tables. */
export function computeByteEntropy(bytes) {
  const counts = new Uint32Array(256);
  for (const byte of bytes) counts[byte]++;
  let bits = 0;
  for (const count of counts) if (count > 0) bits -= (count / bytes.length) * Math.log2(count / bytes.length);
  return Math.round(bits * 100) / 100;
}

/** The encodings in which bytes decode without error and look like text, best first. */
export function tryEncodings(bytes) {
  const fits = [];
  for (const encoding of ENCODINGS) {
    try {
      const text = new TextDecoder(encoding, { fatal: true }).decode(
        encoding.startsWith("utf-16") ? bytes.subarray(0, bytes.length & ~1) : bytes,
      );
      const letters = text.match(/[\p{L}\p{N}\p{P}\p{Zs}\n\r\t]/gu)?.length ?? 0;
      const strange = text.match(/[\p{Co}\p{Cn}\u0000-\u0008\u000e-\u001f\u0080-\u009f]/gu)?.length ?? 0;
      fits.push({ encoding, score: (letters - 20 * strange - mixing(text)) / Math.max(1, text.length) });
    } catch {
      continue;
    }
  }
  return fits
    .filter(({ score }) => score > 0.8)
    .sort((a, b) => b.score - a.score || (a.encoding < b.encoding ? -1 : 1))
    .map(({ encoding }) => encoding);
}

/** Letters of two scripts side by side speak against an encoding. */
function mixing(text) {
  return (
    (text.match(/[a-zA-Z][\u0400-\u04ff\u3040-\u9fff\uac00-\ud7af]|[\u0400-\u04ff\u3040-\u9fff\uac00-\ud7af][a-zA-Z]/g)
      ?.length ?? 0) * 3
  );
}

/** The offset of the first byte that is no UTF-8, or -1; a character cut by the end of the bytes is no fault. */
export function firstInvalidByte(bytes) {
  for (let at = 0; at < bytes.length;) {
    const length = characterLength(bytes[at]);
    if (at + length > bytes.length) return -1;
    if (length > 1 ? !isUtf8(bytes.subarray(at, at + length)) : bytes[at] >= 0x80) return at;
    at += length;
  }
  return -1;
}

/** How many bytes a character has that begins with this byte; 1 also for bytes that begin none. */
function characterLength(byte) {
  if (byte >= 0xf0 && byte <= 0xf4) return 4;
  if (byte >= 0xe0 && byte < 0xf0) return 3;
  return byte >= 0xc2 && byte < 0xe0 ? 2 : 1;
}

/** What an archive's first bytes tell of its content. */
export function describeArchive(head) {
  const type = recogniseMagic(head)?.type ?? "";
  if (type.startsWith("zip") && head.length > 30) {
    return `first entry "${quoteText(head.toString("latin1", 30, 30 + Math.min(head.readUInt16LE(26), 200)))}"`;
  }
  if (type.startsWith("tar"))
    return `first entry "${quoteText(head.toString("latin1", 0, 100).replace(/\0.*$/s, ""))}"`;
  if (!type.startsWith("gzip")) return "";
  try {
    const inner = gunzipSync(head, { finishFlush: 2, maxOutputLength: 4 * 1024 * 1024 });
    return `unpacked it begins as ${recogniseMagic(inner)?.type ?? `text or unknown bytes (${showBytes(inner, 8)})`}`;
  } catch {
    return "its beginning cannot be unpacked";
  }
}

/** What is special in text that claims to be JSON and is not. */
export function explainJson(text) {
  if (text.trim() === "") return { explained: true, what: "it is empty" };
  if (/^<{7} |^={7}$|^>{7} /m.test(text)) return { explained: true, what: "it holds unresolved merge conflict marks" };
  if (/\{\{|\{%|<%|\$\{/.test(text)) return { explained: true, what: "it is a template, not JSON yet" };
  const tolerant = text
    .replace(/("(?:[^"\\\n]|\\.)*")|\/\/[^\n]*|\/\*[^*]*\*+(?:[^/*][^*]*\*+)*\//g, (_all, quoted) => quoted ?? " ")
    .replace(/("(?:[^"\\\n]|\\.)*")|,(?=\s*[\]}])/g, (_all, quoted) => quoted ?? "");
  try {
    JSON.parse(tolerant);
    return { explained: true, what: "it is JSON with comments or trailing commas" };
  } catch (error) {
    const at = /position (\d+)/.exec(error.message)?.[1];
    const line = at === undefined ? undefined : tolerant.slice(0, Number(at)).split("\n").length;
    return {
      explained: false,
      what: line === undefined ? "it ends before the JSON does" : `it breaks off being JSON in line ${line}`,
    };
  }
}

/** The name in a `sourceMappingURL` comment at the end of a text, or empty; inline maps are called `data:`. */
export function findSourceMap(tail) {
  const match = [...tail.matchAll(/[#@]\s*sourceMappingURL=([^\s*'"]{1,300})/g)].pop();
  if (!match) return "";
  return match[1].startsWith("data:") ? "data:" : match[1];
}

/** Traces of bundling in sampled text. */
export function findBundleTraces(text) {
  const traces = [];
  if (/__webpack_require__|webpackChunk/.test(text)) traces.push("webpack");
  if (/^\/\/ (?:node_modules|src|\.\.?)\/[^\s]+\.[cm]?[jt]sx?$/m.test(text) || /^\/\/#region /m.test(text))
    traces.push("comments that name the bundled source files");
  if (/__commonJS|__esmMin|__toESM/.test(text)) traces.push("esbuild or rolldown wrappers");
  if (/\bObject\.defineProperty\(exports, ['"]__esModule['"]/.test(text)) traces.push("CommonJS emitted by a compiler");
  return traces;
}

/** A piece of a buffer as latin1 text. */
export function latin1(bytes) {
  return Buffer.from(bytes).toString("latin1");
}
