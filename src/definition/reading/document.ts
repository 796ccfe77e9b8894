/**
 * Reads one YAML or JSON text into a plain value that knows where each part stands.
 *
 * Owns: limits of hostile files, traps of YAML, aliases, duplicate keys, `!file` tags. What the value means is judged
 * by others. YAML 1.2: yes, no, on, off are texts.
 * D5: no file, however made, takes more than about a second or throws anything but faults.
 */
import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  type Scalar,
} from "yaml";
import { findBrokenText, findInexactNumber } from "../../base/exact-json.js";
import type { JsonValue } from "../../base/json.js";
import { LIMITS } from "../../base/limits.js";
import type { DefinitionFault, FaultCode, FaultPath, PlaceFinder, SourcePlace } from "../faults/fault.js";
import { formatPath } from "../faults/fault.js";
import { findInSource, placeOfSpan, type Span } from "../faults/source-places.js";

/** A `!file` tag: the file it names, to be read by includes.ts. */
export interface IncludeRequest {
  readonly path: FaultPath;
  readonly file: string;
}

export interface SourceDocument {
  readonly value: JsonValue;
  readonly faults: readonly DefinitionFault[];
  readonly includes: readonly IncludeRequest[];
  readonly places: PlaceFinder;
  /** The text could not be read as it was meant: what its value lacks says nothing. */
  readonly isBroken: boolean;
}

interface Walk {
  readonly text: string;
  readonly file: string;
  readonly lines: LineCounter;
  readonly faults: DefinitionFault[];
  readonly includes: IncludeRequest[];
  readonly keys: Map<string, Span>;
  readonly values: Map<string, Span>;
  readonly anchors: Map<string, Node>;
  readonly active: Set<Node>;
  nodes: number;
  full: boolean;
  broken: boolean;
}

/** Reads a text. Errors: none; what is wrong is in `faults`. */
export function readDocument(text: string, file: string): SourceDocument {
  const plain = text.startsWith("\uFEFF") ? text.slice(1) : text;
  const walk: Walk = {
    text: plain,
    file,
    lines: new LineCounter(),
    faults: [],
    includes: [],
    keys: new Map(),
    values: new Map(),
    anchors: new Map(),
    active: new Set(),
    nodes: 0,
    full: false,
    broken: false,
  };
  const tooLarge = findExcess(plain);
  if (tooLarge !== undefined) {
    walk.broken = true;
    walk.faults.push({ code: "too_large", file, line: 1, column: 1, path: "$", message: tooLarge });
    return finish(walk, null);
  }
  const document = parse(plain, walk.lines);
  noteParserFaults(walk, document);
  return finish(walk, convert(walk, document.contents, []));
}

/** A file of faults has as many errors; their stacks would be most of the work. */
function parse(text: string, lineCounter: LineCounter): Document.Parsed {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return parseDocument(text, {
      lineCounter,
      uniqueKeys: false,
      prettyErrors: false,
      strict: true,
      logLevel: "error",
      customTags: [{ tag: "!file", resolve: (path: string) => path }],
    });
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

function finish(walk: Walk, value: JsonValue): SourceDocument {
  const places: PlaceFinder = {
    placeOf: (path, of) => {
      const key = JSON.stringify(path);
      const span = of === "key" ? (walk.keys.get(key) ?? walk.values.get(key)) : walk.values.get(key);
      return span === undefined ? placeAbove(walk, path) : placeOfSpan(walk, span);
    },
    placeInText: (path, part) => {
      const span = walk.values.get(JSON.stringify(path));
      const found = span === undefined ? undefined : findInSource(walk.text, span, part);
      return found === undefined ? undefined : placeOfSpan(walk, found);
    },
  };
  return { value, faults: walk.faults, includes: walk.includes, places, isBroken: walk.broken };
}

/** The place of the nearest part that exists: a missing key is shown at its map. */
function placeAbove(walk: Walk, path: FaultPath): SourcePlace | undefined {
  for (let size = path.length - 1; size >= 0; size -= 1) {
    const key = JSON.stringify(path.slice(0, size));
    const span = walk.keys.get(key) ?? walk.values.get(key);
    if (span !== undefined) return placeOfSpan(walk, span);
  }
  return undefined;
}

/** Counts lexical parts before anything is built, so that a hostile file costs nothing. */
function findExcess(text: string): string | undefined {
  if (text.length > LIMITS.workflowYamlBytesMax)
    return `the file is larger than ${LIMITS.workflowYamlBytesMax / 1024 / 1024} MiB; put long texts into files of their own, with !file`;
  let tokens = 0;
  let depth = 0;
  for (const token of new Lexer().lex(text)) {
    tokens += 1;
    if (token === "[" || token === "{") depth += 1;
    if (token === "]" || token === "}") depth -= 1;
    if (tokens > LIMITS.workflowTokensMax) return `the file has more than ${LIMITS.workflowTokensMax} parts`;
    if (depth > LIMITS.workflowDepthMax) return `the file is nested deeper than ${LIMITS.workflowDepthMax} levels`;
  }
  return undefined;
}

/** Words for the parser's codes that people meet. */
const PARSER_MESSAGES: Readonly<Record<string, readonly [string, string?]>> = {
  TAB_AS_INDENT: ["a tab is used for indentation", "indent with spaces"],
  RESOURCE_EXHAUSTION: [`the file is nested deeper than ${LIMITS.workflowDepthMax} levels`],
  MULTIPLE_DOCS: ["the file holds more than one document", "keep one, without ---"],
  BLOCK_AS_IMPLICIT_KEY: ["a second `: ` in one line", "put the text in quotes"],
};

function noteParserFaults(walk: Walk, document: Document): void {
  for (const { code, message, pos } of [...document.errors, ...document.warnings].slice(0, LIMITS.workflowFaultsMax)) {
    walk.broken = true;
    const [words, suggestion] = PARSER_MESSAGES[code] ?? [message.split("\n")[0] ?? message];
    const place = placeOfSpan(walk, { start: pos[0], end: pos[1] });
    walk.faults.push({
      ...place,
      code: "syntax",
      path: "$",
      message: words,
      ...(suggestion === undefined ? {} : { suggestion }),
    });
  }
}

interface Spot {
  readonly path: FaultPath;
  readonly node: unknown;
}

/** A fault of the text, unless it says otherwise. */
type Told = Pick<DefinitionFault, "message" | "suggestion"> & { readonly code?: FaultCode };

function note(walk: Walk, { path, node }: Spot, fault: Told): void {
  if (walk.faults.length >= LIMITS.workflowFaultsMax) return;
  const span = spanOf(node);
  walk.faults.push({
    ...(span === undefined ? { file: walk.file } : placeOfSpan(walk, span)),
    path: formatPath(path),
    code: "syntax",
    ...fault,
  });
}

function spanOf(node: unknown): Span | undefined {
  const range = (node as Node | null | undefined)?.range;
  return range === undefined || range === null ? undefined : { start: range[0], end: Math.max(range[1], range[0] + 1) };
}

function convert(walk: Walk, node: unknown, path: FaultPath): JsonValue {
  if (node === null || node === undefined || walk.full || isOverLimit(walk, node, path)) return null;
  const span = spanOf(node);
  if (span !== undefined) walk.values.set(JSON.stringify(path), span);
  if (isAlias(node)) return convertAlias(walk, node, path);
  const known = node as Node & { anchor?: string };
  if (known.anchor !== undefined) walk.anchors.set(known.anchor, known);
  if (isScalar(node)) return convertScalar(walk, node, path);
  walk.active.add(known);
  const value = isMap(node) ? convertMap(walk, node.items, path) : convertList(walk, node, path);
  walk.active.delete(known);
  return value;
}

function convertList(walk: Walk, node: unknown, path: FaultPath): JsonValue {
  return isSeq(node) ? node.items.map((item, index) => convert(walk, item, [...path, index])) : null;
}

/** Counts values as they unfold, so that aliases cannot multiply them. */
function isOverLimit(walk: Walk, node: unknown, path: FaultPath): boolean {
  walk.nodes += 1;
  const isDeep = path.length > LIMITS.workflowDepthMax;
  if (walk.nodes <= LIMITS.workflowNodesMax && !isDeep) return false;
  walk.full = true;
  walk.broken = true;
  const what = isDeep
    ? `is nested deeper than ${LIMITS.workflowDepthMax} levels`
    : `unfolds to more than ${LIMITS.workflowNodesMax} values`;
  note(walk, { path: path.slice(0, 8), node }, { code: "too_large", message: `the file ${what}` });
  return true;
}

function convertAlias(walk: Walk, alias: Alias, path: FaultPath): JsonValue {
  const target = walk.anchors.get(alias.source);
  walk.broken ||= target === undefined || walk.active.has(target);
  if (target === undefined) {
    note(walk, { path, node: alias }, { message: `*${alias.source} names no anchor above it` });
    return null;
  }
  if (walk.active.has(target)) {
    note(
      walk,
      { path, node: alias },
      {
        message: `*${alias.source} contains itself`,
        suggestion: "an alias must not stand inside its own anchor",
      },
    );
    return null;
  }
  const value = convert(walk, target, path);
  const span = spanOf(alias);
  if (span !== undefined) walk.values.set(JSON.stringify(path), span);
  return value;
}

function convertMap(walk: Walk, pairs: readonly Pair[], path: FaultPath): JsonValue {
  const result: Record<string, JsonValue> = {};
  for (const pair of pairs) {
    const key = readKey(walk, pair, path);
    if (key === undefined) continue;
    const inner = [...path, key];
    if (Object.hasOwn(result, key)) {
      const first = walk.keys.get(JSON.stringify(inner));
      const line = first === undefined ? "above" : `in line ${walk.lines.linePos(first.start).line}`;
      note(
        walk,
        { path: inner, node: pair.key },
        {
          code: "duplicate_key",
          message: `the key ${JSON.stringify(key)} is there twice`,
          suggestion: `it stands ${line} already${key === "agents" ? ": write all agents into one list" : ""}`,
        },
      );
      continue;
    }
    const span = spanOf(pair.key);
    if (span !== undefined) walk.keys.set(JSON.stringify(inner), span);
    result[key] = convert(walk, pair.value, inner);
  }
  return result;
}

function readKey(walk: Walk, pair: Pair, path: FaultPath): string | undefined {
  const { key } = pair;
  if (!isScalar(key)) {
    note(
      walk,
      { path, node: key },
      {
        message: "a key must be a text",
        suggestion: 'a template as a value must be quoted: "{{ … }}"',
      },
    );
    return undefined;
  }
  const text = typeof key.value === "string" ? key.value : (key.source ?? String(key.value));
  const problem = findKeyProblem(text);
  if (problem !== undefined) {
    note(walk, { path, node: key }, { message: problem });
    return undefined;
  }
  return text;
}

/** `$t` marks the kind of a stored value. */
function findKeyProblem(text: string): string | undefined {
  if (text === "__proto__" || text === "$t") return `the key ${text} is not allowed`;
  return findBrokenText(text);
}

function convertScalar(walk: Walk, scalar: Scalar, path: FaultPath): JsonValue {
  const { value, source = "", tag } = scalar;
  if (tag === "!file") {
    walk.includes.push({ path, file: String(value) });
    return null;
  }
  if (typeof value === "number") return checkNumber(walk, scalar, path);
  const broken = typeof value === "string" ? findBrokenText(value) : undefined;
  if (broken !== undefined) note(walk, { path, node: scalar }, { code: "wrong_value", message: broken });
  if (typeof value === "string" && scalar.type === "PLAIN") checkNumberlike(walk, scalar, path);
  if (typeof value === "string" || typeof value === "boolean" || value === null) return value;
  note(walk, { path, node: scalar }, { code: "wrong_value", message: `${source} is not a JSON value` });
  return null;
}

/** Numbers of other versions of YAML, which are texts here. */
const NUMBERLIKE = /^[-+]?(?:0b[01_]+|0o[0-7_]+|0x[\da-fA-F_]+|\d[\d_]*)$/;

function checkNumberlike(walk: Walk, node: Scalar, path: FaultPath): void {
  const { source = "", tag } = node;
  if (tag !== undefined || !NUMBERLIKE.test(source)) return;
  const value = Number(source.replaceAll("_", "").replace(/^[-+]/, "")) * (source.startsWith("-") ? -1 : 1);
  note(
    walk,
    { path, node },
    {
      code: "wrong_value",
      message: `${source} is a number to other readers and a text here`,
      suggestion: `write ${value} for the number, or "${source}" for the text`,
    },
  );
}

/** Numbers that other readers would read otherwise, or that lose digits, are faults: the meaning must be plain. */
function checkNumber(walk: Walk, scalar: Scalar, path: FaultPath): JsonValue {
  const value = scalar.value as number;
  const source = scalar.source ?? "";
  const isWritten = /^[-+]?\d+$/.test(source);
  if (!Number.isFinite(value)) {
    note(walk, { path, node: scalar }, { code: "wrong_value", message: `${source} is not a JSON number` });
    return 0;
  }
  if (/^[-+]?0\d+$/.test(source)) {
    note(
      walk,
      { path, node: scalar },
      {
        code: "wrong_value",
        message: `${source} has a leading zero`,
        suggestion: `write ${value} for the number, or "${source}" for the text`,
      },
    );
  } else if (/^[-+]?\d+(\.\d*)?[eE][-+]?\d+$/.test(source)) {
    note(
      walk,
      { path, node: scalar },
      {
        code: "wrong_value",
        message: `${source} is read as the number ${value}`,
        suggestion: `write ${value} for the number, or "${source}" for the text`,
      },
    );
  } else if (isWritten ? !Number.isSafeInteger(value) : findInexactNumber(written(source)) !== undefined) {
    note(
      walk,
      { path, node: scalar },
      {
        code: "wrong_value",
        message: `${source} has more digits than a number keeps`,
        suggestion: `write "${source}"`,
      },
    );
  }
  return value;
}

/** The number as JSON writes it: `.5`, `+1.5` and `1.` are numbers in YAML alone, and so is `0x10`. */
function written(source: string): string {
  const plain = source
    .replace(/^\+/, "")
    .replace(/^(-?)\./, "$10.")
    .replace(/\.(?=$|[eE])/, "");
  return /^-?[\d.]+(?:[eE][-+]?\d+)?$/.test(plain) ? plain : "0";
}
