/**
 * The names of files, whatever bytes they are made of.
 *
 * File names on Unix are bytes, not text. Inside the tools a path is a *byte path*: relative to the audited folder,
 * `/` between segments, one character per byte (latin1), so that nothing is lost and sorting is by byte. Outside
 * (outputs, reports, milestones) a path is a *shown path*: UTF-8 text in which everything that could mislead a reader
 * or a terminal is escaped, and which `parsePath` turns back into the same bytes.
 *
 * P1: parsePath(formatPath(p)) === p for every byte path.
 * P2: a shown path holds no control, bidirectional or line-separating character.
 */
import { Buffer, isUtf8 } from "node:buffer";

const MISLEADING = /[\\\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu;
const ESCAPE = /\\(?:\\|x([0-9a-f]{2})|u\{([0-9a-f]{1,6})\})/g;

/** Shows a byte path to people: UTF-8, misleading characters as `\u{hex}`, bytes that are no UTF-8 as `\xhh`. */
export function formatPath(bytePath) {
  const bytes = Buffer.from(bytePath, "latin1");
  if (isUtf8(bytes)) {
    return bytes
      .toString("utf8")
      .replace(MISLEADING, (found) => (found === "\\" ? "\\\\" : `\\u{${found.codePointAt(0).toString(16)}}`));
  }
  return bytePath.replace(/[\\\u0000-\u001f\u007f-\u00ff]/g, (found) =>
    found === "\\" ? "\\\\" : `\\x${found.charCodeAt(0).toString(16).padStart(2, "0")}`,
  );
}

/** Turns a shown path back into the byte path it came from. */
export function parsePath(shownPath) {
  let bytePath = "";
  let from = 0;
  for (const match of shownPath.matchAll(ESCAPE)) {
    bytePath += toByteString(shownPath.slice(from, match.index));
    if (match[1] !== undefined) bytePath += String.fromCharCode(Number.parseInt(match[1], 16));
    else if (match[2] !== undefined) bytePath += toByteString(String.fromCodePoint(Number.parseInt(match[2], 16)));
    else bytePath += "\\";
    from = match.index + match[0].length;
  }
  return bytePath + toByteString(shownPath.slice(from));
}

/** The bytes of a text in UTF-8, one character per byte. */
export function toByteString(text) {
  return Buffer.from(text, "utf8").toString("latin1");
}

/** Orders byte paths as the walk visits them: segment by segment, by byte. */
export function comparePaths(left, right) {
  const a = left.replaceAll("/", "\u0000");
  const b = right.replaceAll("/", "\u0000");
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Appends a name to a byte path; the empty path is the audited folder itself. */
export function joinPath(folder, name) {
  return folder === "" ? name : `${folder}/${name}`;
}

/** The last segment of a byte path. */
export function baseName(bytePath) {
  return bytePath.slice(bytePath.lastIndexOf("/") + 1);
}

/** The folder of a byte path; empty for a file directly in the audited folder. */
export function folderOf(bytePath) {
  const cut = bytePath.lastIndexOf("/");
  return cut < 0 ? "" : bytePath.slice(0, cut);
}

/** The absolute path as bytes, for calls to the file system. */
export function absolutePath(root, bytePath) {
  return Buffer.from(bytePath === "" ? root : `${root === "/" ? "" : root}/${bytePath}`, "latin1");
}
