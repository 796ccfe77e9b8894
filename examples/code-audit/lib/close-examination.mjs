/**
 * Owns the close examination of one doubtful path, by the kind of its doubt.
 *
 * An examination answers `{findings, verdict, remains}`: what was seen; `explained` when the doubt is gone, `partly` when
 * it is smaller, `unknown` when nothing was learnt; and what stays unknown.
 *
 * E1: no more than WINDOW_BYTES at the beginning, at the end and at each sampled place of a file is read.
 */
import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from "node:fs";
import { Buffer } from "node:buffer";
import { compareText } from "./bounded-lists.mjs";
import { absolutePath, baseName, folderOf, formatPath, joinPath, toByteString } from "./byte-paths.mjs";
import { formatBytes, formatCount } from "./confidence.mjs";
import {
  computeByteEntropy,
  describeArchive,
  explainJson,
  findBundleTraces,
  findSourceMap,
  firstInvalidByte,
  latin1,
  quoteText,
  showBytes,
  tryEncodings,
} from "./content-probes.mjs";
import { readSmallText } from "./file-reader.mjs";
import { describeMachine, recogniseMagic } from "./magic-bytes.mjs";
import { readNpmPackage } from "./package-licences.mjs";

const WINDOW_BYTES = 64 * 1024;
const SAMPLES = 5;
const MANIFEST_BYTES_MAX = 8 * 1024 * 1024;

const BY_KIND = {
  binary: examineBinary,
  unreadable: examineUnreadable,
  unreadable_folder: examineUnreadable,
  generated: examineGenerated,
  minified: examineMinified,
  oversized: examineLarge,
  very_large: examineLarge,
  undecodable: examineUndecodable,
  unparsable_manifest: examineManifest,
};

/** Whether this kind of doubt can be examined at a path at all. */
export function isExaminable(kind) {
  return Object.hasOwn(BY_KIND, kind);
}

/** Examines one path. */
export function examinePath(root, path, kind) {
  const status = statusOf(root, path);
  if (typeof status === "string") return unknown([`its status cannot be read: ${status}`], "everything about it");
  if (kind.startsWith("unreadable")) return examineUnreadable({ root, path, status });
  if (!status.isFile()) return unknown(["it is no regular file any more"], "its content");
  const open = openWindows(root, path);
  if (typeof open === "string") return unknown([`it cannot be opened: ${open}`], "its content");
  try {
    return BY_KIND[kind]({ root, path, status, ...open });
  } finally {
    open.close();
  }
}

const explained = (findings) => ({ findings, verdict: "explained", remains: "" });
const partly = (findings, remains) => ({ findings, verdict: "partly", remains });
const unknown = (findings, remains) => ({ findings, verdict: "unknown", remains });

function statusOf(root, path) {
  try {
    return lstatSync(absolutePath(root, path));
  } catch (error) {
    return error.code ?? "unknown error";
  }
}

function openWindows(root, path) {
  let descriptor;
  try {
    descriptor = openSync(
      absolutePath(root, path),
      constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0),
    );
  } catch (error) {
    return error.code ?? "unknown error";
  }
  const sizeBytes = fstatSync(descriptor).size;
  const windowAt = (position) => {
    const bytes = Buffer.allocUnsafe(Math.max(0, Math.min(WINDOW_BYTES, sizeBytes - position)));
    return bytes.subarray(0, readSync(descriptor, bytes, 0, bytes.length, position));
  };
  return {
    sizeBytes,
    windowAt,
    tail: () => windowAt(Math.max(0, sizeBytes - WINDOW_BYTES)),
    close: () => closeSync(descriptor),
  };
}

function examineUnreadable({ status, root, path }) {
  const mode = (status.mode & 0o7777).toString(8).padStart(4, "0");
  const findings = [
    `mode ${mode}, owner ${status.uid}:${status.gid}, ${status.isDirectory() ? "folder" : formatBytes(status.size)}; the audit ran as user ${process.getuid?.() ?? "unknown"}`,
  ];
  if (status.isDirectory()) return partly(findings, "which files are in it");
  const open = openWindows(root, path);
  if (typeof open === "string") return partly([...findings, `opening it fails: ${open}`], "its content");
  open.close();
  return partly([...findings, "it can be opened now"], "its content was not part of this audit");
}

function examineBinary({ root, path, sizeBytes, windowAt }) {
  const head = windowAt(0);
  const magic = recogniseMagic(head);
  const entropy = computeByteEntropy(windowAt(Math.floor(sizeBytes / 2)));
  const owner = ownerOf(root, path);
  const findings = [
    magic
      ? `${magic.type}${describeMachine(head) ? ` (${describeMachine(head)})` : ""}, ${formatBytes(sizeBytes)}`
      : `no known signature; begins ${showBytes(head)}`,
    `${entropy} bits of entropy per byte in its middle${entropy > 7.9 ? ": packed or encrypted" : ""}`,
  ];
  if (magic?.isArchive) findings.push(describeArchive(head));
  if (owner) findings.push(`belongs to package ${owner}`);
  const seen = findings.filter(Boolean);
  if (magic?.isData) return explained(seen);
  if (magic) return partly(seen, magic.isProgram ? "what the program does" : "its other entries");
  return unknown(seen, "its format and content");
}

/** The npm package a file belongs to, as `name version`, or empty. */
function ownerOf(root, path) {
  for (let folder = folderOf(path); ; folder = folderOf(folder)) {
    const found = readNpmPackage(root, folder);
    if (found?.name) return `${found.name} ${found.version}`.trim();
    if (folder === "") return "";
  }
}

function examineGenerated({ root, path, windowAt, tail }) {
  const head = latin1(windowAt(0)).slice(0, 4000);
  const findings = [];
  const line = head.split("\n").find((text) => /generated|DO NOT (?:EDIT|MODIFY)/i.test(text));
  if (line) findings.push(`says "${quoteText(line)}"`);
  const named = /(?:generated (?:from|by|using|with)|source:)\s+[`'"]?([\w@./\\-]+\.[a-z]{1,6})\b/i.exec(head)?.[1];
  const source = named ? findNear(root, path, toByteString(named)) : undefined;
  if (named)
    findings.push(
      source
        ? `its source ${formatPath(source)} is here`
        : `names "${quoteText(named)}" as its source or generator; not found here`,
    );
  const map = describeMap(root, path, latin1(tail()));
  findings.push(...map.findings);
  if (source || map.hasSources) return explained(findings);
  return partly(findings, named ? "whether it agrees with its source" : "what it was generated from");
}

/** A named file beside the path or in a folder above it. */
function findNear(root, path, name) {
  if (name.startsWith("/") || name.includes("..")) return undefined;
  for (let folder = folderOf(path); ; folder = folderOf(folder)) {
    const candidate = joinPath(folder, name);
    const status = candidate === path ? undefined : statusOf(root, candidate);
    if (status && typeof status !== "string" && status.isFile()) return candidate;
    if (folder === "") return undefined;
  }
}

function describeMap(root, path, tail) {
  const name = findSourceMap(tail);
  if (name === "") return { findings: ["names no source map"], hasSources: false };
  if (name === "data:") return { findings: ["carries its source map inside"], hasSources: true };
  const mapPath = findNear(root, path, name.replace(/^\.\//, ""));
  if (!mapPath)
    return { findings: [`names the source map "${quoteText(name)}", which is not here`], hasSources: false };
  const { text, error } = readSmallText(root, mapPath, 32 * 1024 * 1024);
  if (text === undefined) return { findings: [`its source map cannot be read: ${error}`], hasSources: false };
  try {
    const map = JSON.parse(text);
    const carried = Array.isArray(map.sourcesContent)
      ? map.sourcesContent.filter((content) => typeof content === "string").length
      : 0;
    const count = Array.isArray(map.sources) ? map.sources.length : 0;
    return {
      findings: [`its source map names ${formatCount(count)} sources and carries the text of ${formatCount(carried)}`],
      hasSources: carried > 0 && carried === count,
    };
  } catch {
    return { findings: ["its source map is no JSON"], hasSources: false };
  }
}

function examineMinified({ root, path, sizeBytes, windowAt, tail }) {
  const head = latin1(windowAt(0));
  const banner = /\/\*[!*]?([^]{3,300}?)\*\//.exec(head.slice(0, 600))?.[1];
  const map = describeMap(root, path, latin1(tail()));
  const plainName = baseName(path).replace(/[.-]min(?=\.[a-z]+$)/, "");
  const plain = plainName === baseName(path) ? undefined : findNear(root, path, plainName);
  const owner = ownerOf(root, path);
  const findings = [
    `${formatBytes(sizeBytes)}${banner ? `, banner "${quoteText(banner.replace(/\s+/g, " "))}"` : ", no banner"}`,
    ...(plain ? [`the readable version ${formatPath(plain)} is here`] : []),
    ...map.findings,
    ...(owner ? [`belongs to package ${owner}`] : []),
  ];
  return plain || map.hasSources ? explained(findings) : partly(findings, "its readable source is not here");
}

function examineLarge({ sizeBytes, windowAt }) {
  let lines = 0;
  let longest = 0;
  let bytes = 0;
  const traces = new Set();
  for (let sample = 0; sample < SAMPLES; sample++) {
    const window = windowAt(Math.floor(((sizeBytes - WINDOW_BYTES) * sample) / (SAMPLES - 1)));
    const text = latin1(window);
    bytes += window.length;
    for (const line of text.split("\n")) {
      lines++;
      longest = Math.max(longest, line.length);
    }
    for (const trace of findBundleTraces(text)) traces.add(trace);
  }
  const findings = [
    `${formatBytes(sizeBytes)}; ${SAMPLES} samples of ${formatBytes(WINDOW_BYTES)}: lines of ${Math.round(bytes / lines)} bytes on average, longest ${formatCount(longest)}`,
    traces.size > 0
      ? `traces of bundling: ${[...traces].sort(compareText).join(", ")}`
      : "no trace of bundling in the samples",
  ];
  return partly(findings, `everything outside the samples (${formatBytes(Math.max(0, sizeBytes - bytes))})`);
}

function examineUndecodable({ windowAt }) {
  const head = windowAt(0);
  const at = firstInvalidByte(head);
  const fits = tryEncodings(head);
  const place =
    at < 0
      ? "the beginning is UTF-8; the fault lies behind it"
      : `first byte that is no UTF-8: 0x${head[at].toString(16)} at offset ${formatCount(at)}, line ${latin1(head.subarray(0, at)).split("\n").length}`;
  if (fits.length === 0) return unknown([place, "no tried encoding gives text"], "its encoding");
  return partly(
    [place, `reads as text in ${fits.slice(0, 3).join(", ")}`],
    fits.length === 1 ? "whether that encoding is meant" : "which of these encodings is meant",
  );
}

function examineManifest({ root, path }) {
  const { text, error } = readSmallText(root, path, MANIFEST_BYTES_MAX);
  if (text === undefined) return unknown([`it cannot be read: ${error}`], "what it declares");
  if (!baseName(path).endsWith(".json"))
    return partly(
      [`${formatCount(text.split("\n").length)} lines; begins "${quoteText(toByteString(text.split("\n", 1)[0]))}"`],
      "what it declares",
    );
  const { explained: isExplained, what } = explainJson(text);
  return isExplained ? explained([what]) : partly([what], "what it declares");
}
