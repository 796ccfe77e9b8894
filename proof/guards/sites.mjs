/**
 * Where the product guards its durability, found in the syntax tree: fencing checks, syncs, watermarks, claim checks, awaits of
 * durable writes, and the records that demand a fencing check. Each site can be switched off by itself.
 *
 * A site's id is its file, the function around it, what is called, and the how-manieth such call it is there; so it stays
 * the same when lines move.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import MagicString from "magic-string";
import ts from "typescript";

const FENCES = new Set(["confirm", "look"]);
const SYNCS = new Set(["sync", "datasync", "syncFolder", "syncRoot"]);
const WATERMARKS = new Set(["raiseAnchor", "replaceAnchor", "lowerAnchor"]);
const JUDGEMENTS = new Set(["requireNotRolledBack", "findRollback"]);
const CLAIM_CHECKS = new Set([
  "requireOwnerGone",
  "requireNoClaimant",
  "requireNotAlive",
  "requireFree",
  "requireNotTrashed",
]);
const DURABLE_WRITES = new Set(
  (
    "append carry close datasync dropSegment durable flush idle link note putOnce query raiseAnchor record removeMessage " +
    "removeRevisionsBelow removeSegment rename replaceAnchor replaceWhole settle settleNames sync syncFolder syncRoot " +
    "transaction write writeTask writeTemp writeWhole"
  ).split(" "),
);
/** The constant that lists the records which are followed by an act that cannot be taken back. */
const FENCED_RECORDS = "IRREVERSIBLE";
/** Where a durable write is made; a prompt's `confirm` and the like stand elsewhere. */
const ROOMS = /^src\/(checkpoint|engine\/runner|journal|process|recovery|runtime|store|transfer|vault)\//;

const ROOT = join(import.meta.dirname, "../..");
/** What matters most is judged first. */
const KINDS = ["fence", "record", "anchor", "claim", "sync", "await"];

/** All sites: by kind, then by file, closing last. */
export function listSites() {
  const isSource = (path) => path.endsWith(".ts") && !path.includes("generated");
  const files = readdirSync(join(ROOT, "src"), { recursive: true }).filter(isSource);
  const sites = files.flatMap((file) => {
    const path = join("src", file);
    return findSites(path, readFileSync(join(ROOT, path), "utf8"));
  });
  const rank = ({ kind, id }) => KINDS.indexOf(kind) + (id.includes(" await close ") ? 1 : 0);
  return sites.sort((left, right) => rank(left) - rank(right) || compareText(left.id, right.id));
}

function compareText(left, right) {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

/**
 * The sites of one file.
 *
 * Shape: `{ id, kind, start, end, text, off }` in the order of the text; `off` stands for `start` to `end` where the site is
 * off. Of an await they are what is awaited.
 */
export function findSites(path, code) {
  if (!ROOMS.test(path)) return [];
  const source = ts.createSourceFile(path, code, ts.ScriptTarget.Latest, true);
  const counts = new Map();
  const sites = [];
  const add = (node, { kind, name, off }) => {
    const base = `${path} ${enclosingName(node)} ${kind} ${name}`;
    const ordinal = (counts.get(base) ?? 0) + 1;
    counts.set(base, ordinal);
    const text = code.slice(node.getStart(), node.end).replace(/\s+/g, " ");
    sites.push({
      id: `${base} ${ordinal}`,
      kind,
      start: node.getStart(),
      end: node.end,
      text: text.slice(0, 100),
      off,
    });
  };
  const visit = (node) => {
    if (ts.isCallExpression(node)) visitCall(node, add);
    if (ts.isExpressionStatement(node) && ts.isAwaitExpression(node.expression))
      visitAwait(node.expression.expression, add);
    if (isFencedRecord(node)) add(node, { kind: "record", name: node.text });
    ts.forEachChild(node, visit);
  };
  visit(source);
  return sites;
}

function visitCall(node, add) {
  const name = calledName(node.expression);
  if (name === undefined || isQuestion(node)) return;
  if (FENCES.has(name)) add(node, { kind: "fence", name, off: "Promise.resolve(true)" });
  else if (SYNCS.has(name)) add(node, { kind: "sync", name, off: "Promise.resolve()" });
  else if (WATERMARKS.has(name)) add(node, { kind: "anchor", name, off: "Promise.resolve(true)" });
  else if (JUDGEMENTS.has(name)) add(node, { kind: "anchor", name, off: "undefined" });
  else if (CLAIM_CHECKS.has(name)) add(node, { kind: "claim", name, off: "Promise.resolve()" });
}

/** `await write();` becomes a call that nobody waits for. */
function visitAwait(awaited, add) {
  const call = innermostCall(awaited);
  const name = call === undefined ? undefined : calledName(call.expression);
  if (name !== undefined && DURABLE_WRITES.has(name)) add(awaited, { kind: "await", name });
}

/** Of `a.sync().catch(f)` the call of `sync`. */
function innermostCall(node) {
  if (!ts.isCallExpression(node)) return undefined;
  const callee = node.expression;
  const isChained = ts.isPropertyAccessExpression(callee) && ["catch", "then", "finally"].includes(callee.name.text);
  return isChained ? innermostCall(callee.expression) : node;
}

function calledName(callee) {
  if (ts.isIdentifier(callee)) return callee.text;
  return ts.isPropertyAccessExpression(callee) ? callee.name.text.replace(/^#/, "") : undefined;
}

/** `options.confirm(plan)` asks a person; a fencing check takes an epoch or nothing. */
function isQuestion(node) {
  const [first] = node.arguments;
  return calledName(node.expression) === "confirm" && first !== undefined && calledText(first) === "plan";
}

const calledText = (node) => (ts.isIdentifier(node) ? node.text : undefined);

function isFencedRecord(node) {
  if (!ts.isStringLiteral(node) || !ts.isArrayLiteralExpression(node.parent)) return false;
  for (let around = node.parent; around !== undefined; around = around.parent) {
    if (ts.isVariableDeclaration(around)) return around.name.getText() === FENCED_RECORDS;
  }
  return false;
}

function enclosingName(node) {
  for (let around = node.parent; around !== undefined; around = around.parent) {
    const isNamed =
      ts.isFunctionDeclaration(around) ||
      ts.isMethodDeclaration(around) ||
      ts.isVariableDeclaration(around) ||
      ts.isPropertyAssignment(around);
    if (isNamed && around.name !== undefined) return around.name.getText();
    if (ts.isConstructorDeclaration(around)) return "constructor";
  }
  return "module";
}

/** The code with a switch at every site; guard-switch.mjs is what it asks. */
export function addSwitches(code, sites) {
  const changed = new MagicString(code);
  for (const { id, kind, start, end, off } of sites) {
    const name = JSON.stringify(id);
    if (kind === "await") changed.appendLeft(start, `globalThis.__awaited(${name}, `).prependRight(end, ")");
    else if (kind === "record")
      changed.appendLeft(start, `...(globalThis.__isGuardOff(${name}) ? [] : [`).prependRight(end, "])");
    else changed.appendLeft(start, `(globalThis.__isGuardOff(${name}) ? ${off} : `).prependRight(end, ")");
  }
  return { code: changed.toString(), map: changed.generateMap({ hires: true }) };
}
