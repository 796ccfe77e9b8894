/**
 * The further specialist `closer-look`: examines what the others could not understand, one path at a time.
 *
 * It gets the uncertainties of the phase, `{what, kind, bytes, paths}`, merges those of one kind, and looks at every named path:
 * what was seen; `explained` when the doubt is gone, `partly` when it is smaller, `unknown` when nothing was learnt; what remains.
 *
 * Confidence:
 *   knowledge       paths explained, partly explained counting half / paths examined
 *   information     bytes of the paths examined / bytes of all files the uncertainties speak of
 *   implementation  paths examined / paths named
 *   validation      paths of which something was learnt / paths examined
 * With nothing to examine all four are 0: whoever could clear up nothing must not lift another's confidence.
 */
import { lstatSync } from "node:fs";
import {
  absolutePath,
  baseName,
  comparePaths,
  folderOf,
  formatPath,
  joinPath,
  parsePath,
  toByteString,
} from "../lib/byte-paths.mjs";
import { count, formatBytes, share } from "../lib/figures.mjs";
import { describeBytes, inspectFile, readSmallText } from "../lib/files.mjs";
import { compareText } from "../lib/lists.mjs";
import { redactSecrets } from "../lib/secrets.mjs";
import { resolveRoot } from "../lib/walk.mjs";

const PATHS_MAX = 120;
const TEXT_MAX = 300;
const STATED_SOURCE = /(?:generated (?:from|by|using|with)|source:)\s+[`'"]?([\w@./\\-]+\.[a-z]{1,6})\b/i;
const EXAMINERS = {
  binary: examineBinary,
  generated: examineMade,
  minified: examineMade,
  undecodable: examineUndecodable,
  very_large: ({ sizeBytes }) => partly([`${formatBytes(sizeBytes)} of text`], "its structure"),
  unparsable_manifest: examineManifest,
  unreadable: examineClosed,
  unreadable_folder: examineClosed,
};

const explained = (findings) => ({ findings, verdict: "explained", remains: "" });
const partly = (findings, remains) => ({ findings, verdict: "partly", remains });
const unknown = (findings, remains) => ({ findings, verdict: "unknown", remains });

export default function closerLook(request) {
  const root = resolveRoot(request.folder);
  const { kinds, others } = mergeByKind(request.uncertainties);
  const named = kinds.flatMap(({ kind, paths }) =>
    [...paths]
      .map(parsePath)
      .sort(comparePaths)
      .map((path) => ({ kind, path })),
  );
  const wanted = named.filter(({ path }) => !isOutside(path)).slice(0, PATHS_MAX);
  return judge({ kinds, others, items: wanted.map((doubt) => examine(root, doubt)), named: named.length });
}

/** Merges uncertainties by kind, so that no path is examined twice for the same doubt. */
function mergeByKind(uncertainties) {
  const kinds = new Map();
  const others = new Set();
  for (const entry of uncertainties) {
    const { kind, what, files, bytes, paths } = entry ?? {};
    if (!isExaminable(entry)) others.add(typeof entry === "string" ? entry : String(what ?? JSON.stringify(entry)));
    else {
      const merged = kinds.get(kind) ?? { kind, what: String(what), files: 0, bytes: 0, paths: new Set() };
      merged.files = Math.max(merged.files, Number(files) || 0);
      merged.bytes = Math.max(merged.bytes, Number(bytes) || 0);
      for (const path of paths) merged.paths.add(String(path));
      kinds.set(kind, merged);
    }
  }
  return {
    kinds: [...kinds.values()].sort((a, b) => compareText(a.kind, b.kind)),
    others: [...others].sort(compareText),
  };
}

function isExaminable(entry) {
  return Object.hasOwn(EXAMINERS, entry?.kind ?? "") && Array.isArray(entry.paths) && entry.paths.length > 0;
}

/** A path from outside stays outside: absolute paths and `..` are not followed. */
const isOutside = (path) => path.startsWith("/") || path.split("/").includes("..");
const statusOf = (root, path) => lstatSync(absolutePath(root, path), { throwIfNoEntry: false });

function examine(root, { path, kind }) {
  const status = statusOf(root, path);
  const look = (file) => {
    const isClosed = file.class === "unreadable" && !kind.startsWith("unreadable");
    return isClosed ? unknown([file.reason], "its content") : EXAMINERS[kind]({ ...file, root, path, status });
  };
  const seen = status
    ? inspectFile(root, { path }, look)
    : unknown(["it is not there any more"], "everything about it");
  const quote = (text) => formatPath(redactSecrets(toByteString(text)).slice(0, TEXT_MAX));
  const sizeBytes = status?.isFile() ? status.size : 0;
  return {
    path: formatPath(path),
    kind,
    size_bytes: sizeBytes,
    ...seen,
    findings: seen.findings.filter(Boolean).map(quote),
  };
}

function examineClosed({ status, reason }) {
  const mode = (status.mode & 0o7777).toString(8).padStart(4, "0");
  return partly(
    [`mode ${mode}, owner ${status.uid}:${status.gid}; the audit ran as user ${process.getuid?.()}`, reason],
    "its content",
  );
}

function examineBinary({ root, path, head, sizeBytes }) {
  const counts = new Uint32Array(256);
  for (const byte of head) counts[byte]++;
  // About 8 bits are packed or encrypted, under 6 code or tables.
  const bits = counts.reduce((sum, n) => (n === 0 ? sum : sum - (n / head.length) * Math.log2(n / head.length)), 0);
  const what = describeBytes(head);
  const findings = [
    what ? `${what}, ${formatBytes(sizeBytes)}` : `no known signature; begins ${head.toString("hex", 0, 8)}`,
    `${bits.toFixed(2)} bits of entropy per byte at its beginning${bits > 7.9 ? ": packed or encrypted" : ""}`,
    describeOwner(root, path),
  ];
  if (what === "") return unknown(findings, "its format and content");
  return partly(findings, /executable|module|class|library/.test(what) ? "what the program does" : "what is in it");
}

/** The npm package that a file belongs to. */
function describeOwner(root, path) {
  for (let folder = folderOf(path); ; folder = folderOf(folder)) {
    const { text = "" } = readSmallText(root, joinPath(folder, "package.json"));
    const name = /"name"\s*:\s*"([^"]{1,100})"/.exec(text)?.[1];
    if (name) return `belongs to package ${name}`;
    if (folder === "") return "";
  }
}

/** A generated or minified file: is what it was made from here? */
function examineMade({ root, path, reason, chunks }) {
  const text = [...chunks()].map((chunk) => chunk.text).join("");
  const near = (name) => (name && !isOutside(name) ? findNear(root, path, toByteString(name)) : undefined);
  const stated = STATED_SOURCE.exec(text.slice(0, 4000))?.[1];
  const map = [...text.slice(-2000).matchAll(/[#@]\s*sourceMappingURL=([^\s*'"]{1,300})/g)].at(-1)?.[1];
  const source = near(baseName(path).replace(/[.-]min(?=\.[a-z]+$)/, "")) ?? near(stated);
  const isCarried =
    map !== undefined && (map.startsWith("data:") || carriesSources(root, near(map.replace(/^\.\//, ""))));
  const findings = [reason, describeOwner(root, path)];
  if (source) findings.push(`its source ${formatPath(source)} is here`);
  else if (stated) findings.push(`names ${stated} as its source or generator; not found here`);
  if (map) findings.push(`its source map ${isCarried ? "carries its sources" : "is not here, or carries no sources"}`);
  return source || isCarried ? explained(findings) : partly(findings, "its source is not here");
}

/** Another file of the name beside the path or in a folder above it. */
function findNear(root, path, name) {
  for (let folder = folderOf(path); ; folder = folderOf(folder)) {
    const candidate = joinPath(folder, name);
    if (candidate !== path && statusOf(root, candidate)?.isFile()) return candidate;
    if (folder === "") return undefined;
  }
}

function carriesSources(root, path) {
  try {
    const { sources, sourcesContent } = JSON.parse(readSmallText(root, path).text);
    return sources.length > 0 && sourcesContent.filter((text) => typeof text === "string").length === sources.length;
  } catch {
    return false;
  }
}

function examineUndecodable({ head }) {
  const encodings = ["shift_jis", "euc-jp", "gb18030", "euc-kr", "big5", "windows-1251", "windows-1252"];
  const fits = encodings.filter((encoding) => {
    try {
      return !/[\p{Co}\p{Cn}\u0080-\u009f]/u.test(new TextDecoder(encoding, { fatal: true }).decode(head));
    } catch {
      return false;
    }
  });
  if (fits.length === 0) return unknown(["no tried encoding gives text"], "its encoding");
  return partly([`reads as text in ${fits.join(", ")}`], "which encoding is meant");
}

function examineManifest({ root, path }) {
  const { text = "" } = readSmallText(root, path);
  if (text.trim() === "") return explained(["it is empty"]);
  if (/^<{7} |^>{7} /m.test(text)) return explained(["it holds unresolved merge conflict marks"]);
  if (/\{\{|\{%|<%|\$\{/.test(text)) return explained(["it is a template, no manifest yet"]);
  return partly([`${count(text.split("\n").length, "line")} that are not of its format`], "what it declares");
}

function judge({ kinds, others, items, named }) {
  const of = (verdict, list = items) => list.filter((item) => item.verdict === verdict);
  const sum = (list, key) => list.reduce((total, entry) => total + entry[key], 0);
  const summaries = kinds.map(({ paths: _paths, ...kind }) => {
    const own = items.filter((item) => item.kind === kind.kind);
    const verdicts = ["explained", "partly", "unknown"].map((verdict) => [verdict, of(verdict, own).length]);
    return { ...kind, examined: own.length, ...Object.fromEntries(verdicts) };
  });
  const [clear, half, dark] = [of("explained").length, of("partly").length, of("unknown")];
  const isIdle = items.length === 0;
  const what = `${count(dark.length, "path")} of which nothing could be learnt`;
  const paths = dark.slice(0, 12).map(({ path }) => path);
  return {
    output: { examined: items.length, named, kinds: summaries, items, not_examinable: others },
    confidence: {
      knowledge: isIdle ? 0 : share(clear + half / 2, items.length),
      information: isIdle ? 0 : share(sum(items, "size_bytes"), sum(kinds, "bytes")),
      implementation: isIdle ? 0 : share(items.length, named),
      validation: isIdle ? 0 : share(items.length - dark.length, items.length),
    },
    factors: [`${count(items.length, "path")} examined: ${clear} explained, ${half} partly, ${dark.length} not at all`],
    uncertainties: dark.length === 0 ? [] : [{ what, kind: "unknown_content", files: dark.length, bytes: 0, paths }],
    assumptions: ["the first bytes of a file tell its format"],
  };
}
