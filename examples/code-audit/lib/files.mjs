/**
 * Reads files and decides what each is: one bounded buffer, whatever the size, and one decision for all programs.
 *
 * F1: only regular files are opened, without following links and without ever waiting for a FIFO.
 * F2: no more than one MiB of a file is in memory at a time; of a text over READ_BYTES_MAX the rest is left out.
 * F3: a file that cannot be read is a value with the reason, never an exception; a growing file ends.
 *
 * Classes, in the order they are decided: unreadable; empty; asset (an image, font, sound, film or document) and other binary
 * (a NUL byte, or many control characters); generated (a comment at the top says so, or a source map); minified (by name, or
 * by very long lines); source (a language that has functions); text. Text may besides be `isUndecodable` (neither
 * UTF-8 nor marked UTF-16) and `isVeryLarge` (over VERY_LARGE_BYTES: its structure is not analysed).
 */
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { Buffer, isUtf8 } from "node:buffer";
import { absolutePath, baseName } from "./byte-paths.mjs";
import { OTHER_TEXT, selectLanguage } from "./languages.mjs";

const CHUNK_BYTES = 1024 * 1024;
export const READ_BYTES_MAX = 64 * 1024 * 1024;
const VERY_LARGE_BYTES = 2 * 1024 * 1024;
const OVERLAP_BYTES = 512;
const LINE_MEAN_MAX = 200;
const MINIFIED_BYTES_MIN = 2048;
const TOP_BYTES = 1500;
const SAFE_FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

const ASSET =
  /\.(?:png|jpe?g|gif|webp|avif|ico|bmp|tiff?|psd|icns|woff2?|ttf|otf|eot|pdf|mp[34]|m4[av]|ogg|opus|wav|flac|webm|mov|avi|mkv)$/i;
/** First bytes in hexadecimal, by what they begin. */
const SIGNATURES = [
  ["7f454c46", "ELF executable or library"],
  ["4d5a", "Windows or DOS executable"],
  ["cffaedfe", "Mach-O executable or library"],
  ["0061736d", "WebAssembly module"],
  ["cafebabe", "Java class or universal Mach-O"],
  ["213c617263683e", "static library or Debian package"],
  ["504b0304", "zip archive (zip, jar, whl, docx …)"],
  ["1f8b", "gzip data"],
  ["425a68", "bzip2 data"],
  ["fd377a585a", "xz data"],
  ["28b52ffd", "zstd data"],
  ["53514c69746520666f726d61742033", "SQLite database"],
];
const COMMENT_START = /^\s*(?:\/\/|\/\*|\*|#|<!--|--|;|%|dnl\b|\.\\"|"""|'''|=)/;
/** What the comments at the top of a generated file say, each from the beginning of a line. */
const GENERATED = [
  /@generated\b/,
  /^(?:please )?do not (?:edit|modify)\b(?! (?:above|below|this (?:line|section|block)))/,
  /\bgenerated\b.*\bdo not (?:edit|modify)\b/,
  /^(?:this (?:file|code|header|source) |\S+ )?(?:(?:is|was|has been) )?(?:auto-?|automatically )?generated (?:automatically )?(?:by|from|with|using)\b/,
  /^(?:this (?:file|code) (?:is|was|has been) )?(?:auto-?|automatically )generated(?:[,.;!]|$)/,
];

/** Opens one file, decides what it is and hands it to `use` while it is open: `{path, sizeBytes, class, reason, language, chunks}`. */
export function inspectFile(root, file, use) {
  const unreadable = (reason) => use({ ...file, class: "unreadable", reason, language: OTHER_TEXT, chunks: () => [] });
  if (file.error) return unreadable(`status cannot be read: ${file.error}`);
  let descriptor;
  try {
    descriptor = openSync(absolutePath(root, file.path), SAFE_FLAGS);
    const status = fstatSync(descriptor);
    if (!status.isFile()) return unreadable("is no longer a regular file");
    const head = readAt(descriptor, 0, Math.min(status.size, CHUNK_BYTES));
    const opened = { ...file, sizeBytes: status.size };
    const found = classifyFile(opened, head);
    return use({ ...opened, ...found, head, chunks: () => readChunks(descriptor, { head, ...opened, ...found }) });
  } catch (error) {
    if (error.syscall === undefined) throw error;
    return unreadable(`cannot be ${descriptor === undefined ? "opened" : "read"}: ${error.code}`);
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

function readAt(descriptor, position, length) {
  const bytes = Buffer.allocUnsafe(length);
  let held = 0;
  while (held < length) {
    const got = readSync(descriptor, bytes, held, length - held, position + held);
    if (got === 0) break;
    held += got;
  }
  return bytes.subarray(0, held);
}

function classifyFile({ path, sizeBytes }, head) {
  const name = baseName(path);
  const base = { reason: "", language: OTHER_TEXT, encoding: "utf-8", isUndecodable: false, isVeryLarge: false };
  if (sizeBytes === 0) return { ...base, class: "empty", language: selectLanguage(name) };
  const known = describeBytes(head);
  const encoding = known && !/^[ -~]{4}/.test(head.toString("latin1", 0, 4)) ? "binary" : detectEncoding(head);
  if (encoding === "binary") {
    if (known === "" && ASSET.test(name))
      return { ...base, class: "asset", reason: name.split(".").pop().toLowerCase() };
    return { ...base, class: "binary", reason: known || "no text and no known signature" };
  }
  const top = head.toString("latin1", 0, TOP_BYTES).replace(/^\u00ef\u00bb\u00bf/, "");
  const language = selectLanguage(name, top.split("\n", 1)[0]);
  const isUndecodable = encoding === "latin1";
  const text = { ...base, language, encoding, isUndecodable, isVeryLarge: sizeBytes > VERY_LARGE_BYTES };
  const generated = reasonGenerated(language, top);
  if (generated) return { ...text, class: "generated", reason: generated };
  const minified = reasonMinified(name, { head, language });
  if (minified) return { ...text, class: "minified", reason: minified };
  return { ...text, class: language.kind === "code" ? "source" : "text" };
}

/** What the first bytes of a binary file say it is; empty when they say nothing. */
export function describeBytes(head) {
  const hex = head.toString("hex", 0, 16);
  if (head.toString("latin1", 257, 262) === "ustar") return "tar archive";
  return SIGNATURES.find(([signature]) => hex.startsWith(signature))?.[1] ?? "";
}

/** The encoding of the first bytes: utf-8, utf-16le, utf-16be, latin1 (a guess), or `binary`. */
function detectEncoding(head) {
  if (head[0] === 0xff && head[1] === 0xfe) return "utf-16le";
  if (head[0] === 0xfe && head[1] === 0xff) return "utf-16be";
  if (head.includes(0)) return "binary";
  const start = head.toString("latin1", 0, 8192);
  if ((start.match(/[\u0001-\u0008\u000b\u000e-\u001a\u001c-\u001f]/g) ?? []).length > start.length / 10)
    return "binary";
  return isUtf8(withoutCutCharacter(head)) ? "utf-8" : "latin1";
}

/** Drops the bytes of a character that the end of the head cuts in two. */
function withoutCutCharacter(head) {
  let end = head.length;
  while (end > 0 && head.length - end < 4 && (head[end - 1] & 0xc0) === 0x80) end--;
  return end > 0 && head[end - 1] >= 0xc0 ? head.subarray(0, end - 1) : head;
}

function reasonGenerated(language, top) {
  if (language.name === "Source map") return "source map";
  if (language.name === "Lock file" || language.kind === "prose") return "";
  let isInBlock = false;
  for (const line of top.split(/\r?\n/)) {
    if (!isInBlock && line.trim() !== "" && !COMMENT_START.test(line)) return "";
    isInBlock = line.lastIndexOf("/*") > line.lastIndexOf("*/") || (isInBlock && !line.includes("*/"));
    const text = line
      .replace(/^(?:[^\w@]|dnl\b)+/, "")
      .replace(/\s+/g, " ")
      .trim();
    if (GENERATED.some((pattern) => pattern.test(text.toLowerCase()))) return `says "${text.slice(0, 80)}"`;
  }
  return "";
}

function reasonMinified(name, { head, language }) {
  if (!["code", "style", "markup"].includes(language.kind) || language.name === "SVG") return "";
  if (/[.-]min\.[a-z]+$/.test(name)) return "name says minified";
  if (head.length < MINIFIED_BYTES_MIN) return "";
  let lines = 1;
  for (let at = head.indexOf(10); at >= 0; at = head.indexOf(10, at + 1)) lines++;
  const mean = Math.round(head.length / lines);
  if (mean <= LINE_MEAN_MAX) return "";
  return lines === 1 ? "one line only" : `lines of ${mean} bytes on average`;
}

/**
 * Yields the text of an open file as latin1 in pieces `{text, line, isContinuation}` that end at line ends. A line longer than a
 * chunk is cut; its pieces overlap, so that a token at the cut is seen whole once, and all but the first are continuations.
 */
function* readChunks(descriptor, { head, sizeBytes, encoding }) {
  if (encoding.startsWith("utf-16")) {
    const bytes = readAt(descriptor, 0, Math.min(sizeBytes, 8 * CHUNK_BYTES));
    const text = new TextDecoder(encoding).decode(bytes);
    yield { text: Buffer.from(text, "utf8").toString("latin1"), line: 1, isContinuation: false };
    return;
  }
  const end = Math.min(sizeBytes, READ_BYTES_MAX);
  let position = head.length;
  let rest = head.toString("latin1");
  let line = 1;
  let isContinuation = false;
  for (;;) {
    const isLast = position >= end;
    const lineEnd = isLast ? rest.length : rest.lastIndexOf("\n") + 1;
    const text = lineEnd > 0 ? rest.slice(0, lineEnd) : rest;
    if (text !== "") yield { text, line, isContinuation };
    if (isLast) return;
    line += text.split("\n").length - 1;
    isContinuation = lineEnd === 0;
    rest = rest.slice(isContinuation ? -OVERLAP_BYTES : lineEnd);
    const bytes = readAt(descriptor, position, Math.min(CHUNK_BYTES, end - position));
    position = bytes.length === 0 ? end : position + bytes.length;
    rest += bytes.toString("latin1");
  }
}

/** Calls `visit(text, number, isContinuation)` for every line of an open file, without its line end. */
export function forEachLine(file, visit) {
  for (const { text, line, isContinuation } of file.chunks()) {
    const lines = text.split("\n");
    if (lines[lines.length - 1] === "") lines.pop();
    lines.forEach((content, at) => {
      visit(content.endsWith("\r") ? content.slice(0, -1) : content, line + at, isContinuation && at === 0);
    });
  }
}

/** Reads a small file whole as UTF-8: `{text}`, or `{error}` when it cannot be read or is larger than `sizeBytesMax`. */
export function readSmallText(root, path, sizeBytesMax = 32 * CHUNK_BYTES) {
  let descriptor;
  try {
    descriptor = openSync(absolutePath(root, path), SAFE_FLAGS);
    const status = fstatSync(descriptor);
    if (!status.isFile()) return { error: "is no regular file" };
    if (status.size > sizeBytesMax) return { error: `larger than ${sizeBytesMax} bytes` };
    return {
      text: readAt(descriptor, 0, status.size)
        .toString("utf8")
        .replace(/^\ufeff/, ""),
    };
  } catch (error) {
    return { error: error.code ?? error.message };
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}
