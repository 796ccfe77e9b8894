/**
 * Where the product guards its durability, found in the syntax tree: fencing checks, syncs, watermarks, claim checks, awaits of
 * durable writes, and the records that demand a fencing check. Each site can be switched off by itself.
 *
 * A site's id is its file, the function around it, what is called, and the how-manieth such call it is there; so it stays
 * the same when lines move.
 */
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

/**
 * The sites of one file.
 *
 * Shape: `{ id, kind, start, end, text, off }` in the order of the text; `off` replaces `start` to `end` where the site is off.
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
    if (ts.isExpressionStatement(node) && ts.isAwaitExpression(node.expression)) visitAwait(node, code, add);
    if (isFencedRecord(node)) add(node, { kind: "record", name: node.text, off: "" });
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
function visitAwait(node, code, add) {
  const awaited = node.expression.expression;
  const call = innermostCall(awaited);
  const name = call === undefined ? undefined : calledName(call.expression);
  if (name === undefined || !DURABLE_WRITES.has(name)) return;
  const awaitedText = code.slice(awaited.getStart(), awaited.end);
  add(node, { kind: "await", name, off: `void Promise.resolve(${awaitedText}).catch(() => undefined);` });
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

/** The code with one site switched off. */
export function switchOff(code, { start, end, off }) {
  const changed = new MagicString(code);
  if (off === "") changed.remove(start, /^\s*,/.test(code.slice(end)) ? end + code.slice(end).indexOf(",") + 1 : end);
  else changed.overwrite(start, end, off);
  return { code: changed.toString(), map: changed.generateMap({ hires: true }) };
}

/** The code with a note at each call that is reached: which tests could notice anything. */
export function recordReached(code, sites) {
  const changed = new MagicString(code);
  for (const { id, kind, start, end } of sites) {
    const note = `globalThis.__reachedGuard?.(${JSON.stringify(id)})`;
    if (kind === "await") changed.appendLeft(start, `{ ${note}; `).appendRight(end, " }");
    else if (kind !== "record") changed.appendLeft(start, `(${note}, `).appendRight(end, ")");
  }
  return { code: changed.toString(), map: changed.generateMap({ hires: true }) };
}
