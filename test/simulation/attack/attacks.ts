/**
 * What somebody can do who may write every file of a task's folder and has no key: take files away, cut them, change any
 * byte and repair what needs no key, put back, exchange and double what was there at either time, and write header lines.
 */
import type { JsonObject, JsonValue } from "../../../src/base/json.js";
import { forgeHeader, headerFieldsOf } from "../../support/forged-header.js";
import type { Files } from "../../support/task-rows.js";
import type { AttackScene } from "./attack-scene.js";

/** The folder after the attack, as changes to the newer snapshot; `undefined`: the file is taken away. */
interface Attack {
  readonly name: string;
  readonly changes: ReadonlyMap<string, Buffer | undefined>;
}

const SEGMENT = /^journal\/(\d{8})-(\d{4})\.jsonl$/;
/** Files that differ between the snapshots and are mixed in every way. */
const MIXED_MAX = 11;
/** One of so many bytes of each file is changed. */
const BYTE_STEP = 5;
const CUT_STEP = 23;

function attack(name: string, ...changes: readonly (readonly [string, Buffer | undefined])[]): Attack {
  return { name, changes: new Map(changes) };
}

/** All attacks, each a state of its own; in an order that does not change. */
export function* listAttacks({ older, newer, elsewhere }: AttackScene<Files>): Generator<Attack> {
  yield* mixtures(older, newer);
  yield* fromElsewhere(elsewhere, newer);
  for (const [path, bytes] of newer) {
    yield attack(`${path} is taken away`, [path, undefined]);
    yield* cuts(path, bytes);
    yield* flips(path, bytes);
    yield* exchanges(path, newer, older);
    if (SEGMENT.test(path)) yield* lineEdits(path, bytes);
  }
  yield* headersOverRecords(newer);
  yield* headersAlone(newer, older);
}

/** Every subset of the files that differ is put back to the older snapshot. */
function* mixtures(older: Files, newer: Files): Generator<Attack> {
  const paths = [...new Set([...older.keys(), ...newer.keys()])].filter(
    (path) => older.get(path)?.equals(newer.get(path) ?? Buffer.alloc(0)) !== true,
  );
  const mixed = paths.sort((first, second) => weight(first) - weight(second)).slice(0, MIXED_MAX);
  for (let subset = 1; subset < 2 ** mixed.length; subset += 1) {
    const chosen = mixed.filter((_path, at) => (subset & (1 << at)) !== 0);
    yield attack(`put back: ${chosen.join(", ")}`, ...chosen.map((path) => [path, older.get(path)] as const));
  }
}

/** The older copy went on elsewhere: all of it, or its history under the answers and keyrings of now. */
function* fromElsewhere(elsewhere: Files, newer: Files): Generator<Attack> {
  const paths = [...new Set([...elsewhere.keys(), ...newer.keys()])];
  const kinds = ["journal/", "checkpoint_", "audit/", "keyring-", "control/"];
  for (let subset = 1; subset < 2 ** kinds.length; subset += 1) {
    const chosen = kinds.filter((_kind, at) => (subset & (1 << at)) !== 0);
    const taken = paths.filter((path) => chosen.some((kind) => path.startsWith(kind)));
    yield attack(
      `went on elsewhere: ${chosen.join(", ")}`,
      ...taken.map((path) => [path, elsewhere.get(path)] as const),
    );
    const added = taken.filter((path) => elsewhere.has(path));
    yield attack(
      `went on elsewhere, beside what is here: ${chosen.join(", ")}`,
      ...added.map((path) => [path, elsewhere.get(path)] as const),
    );
  }
}

/** Journal, keyring and answers first: they decide more than the rest. */
function weight(path: string): number {
  const kinds = ["journal/", "keyring-", "control/", "checkpoint_", "audit/"];
  const at = kinds.findIndex((kind) => path.startsWith(kind));
  return at < 0 ? kinds.length : at;
}

function* cuts(path: string, bytes: Buffer): Generator<Attack> {
  const ends = new Set([0, bytes.length - 1]);
  for (let at = bytes.indexOf("\n"); at >= 0; at = bytes.indexOf("\n", at + 1))
    for (const end of [at, at + 1]) ends.add(end);
  for (let at = CUT_STEP; at < bytes.length; at += CUT_STEP) ends.add(at);
  ends.delete(bytes.length);
  for (const end of ends) yield attack(`${path} is cut to ${end} bytes`, [path, bytes.subarray(0, end)]);
}

function* flips(path: string, bytes: Buffer): Generator<Attack> {
  for (let at = 0; at < bytes.length; at += BYTE_STEP) {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] ?? 0) ^ (1 << (at % 7));
    yield attack(`${path} has another byte ${at}`, [path, changed]);
  }
}

/** The bytes of every other file, of either time, under this name; and this file under the names of others. */
function* exchanges(path: string, newer: Files, older: Files): Generator<Attack> {
  for (const [which, files] of [
    ["newer", newer],
    ["older", older],
  ] as const)
    for (const [other, bytes] of files)
      if (other !== path && kindOf(other) === kindOf(path))
        yield attack(`${path} holds the ${which} ${other}`, [path, bytes]);
}

const kindOf = (path: string): string => path.replace(/[^a-z/].*$/, "").replace(/\/.*/, "");

function* lineEdits(path: string, bytes: Buffer): Generator<Attack> {
  const lines = bytes.toString("latin1").split("\n").slice(0, -1);
  const join = (edited: readonly string[]) => Buffer.from(`${edited.join("\n")}\n`, "latin1");
  for (const [at, line] of lines.entries()) {
    yield attack(`${path} lacks line ${at + 1}`, [path, join(lines.toSpliced(at, 1))]);
    yield attack(`${path} has line ${at + 1} twice`, [path, join(lines.toSpliced(at, 0, line))]);
    const next = lines[at + 1];
    if (next !== undefined)
      yield attack(`${path} has line ${at + 1} later`, [path, join(lines.toSpliced(at, 2, next, line))]);
    yield attack(`${path} ends with line ${at + 1} once more`, [path, join([...lines, line])]);
  }
}

/** Values of every field that could send a history elsewhere; the hash of the line fits. */
function changesOf(fields: JsonObject, positions: readonly JsonObject[], others: readonly JsonObject[]): JsonObject[] {
  const values: Record<string, readonly JsonValue[]> = {
    base: [null, fields["workflow_id"] ?? null],
    epoch: [1, 2, 3, 9],
    index: [0, 1],
    key: [null, ...others.map((other) => other["key"] ?? null)],
    prev: [null, ...positions],
    repeats: [0, 1, 2],
    timestamp: ["2020-01-01T00:00:00.000Z"],
    whole: [true],
    workflow_id: ["11111111-2222-4333-8444-555555555555"],
    suite: ["none"],
    commit: others.map((other) => other["commit"] ?? null),
    salt: others.map((other) => other["salt"] ?? null),
    seal: ["", ...others.map((other) => other["seal"] ?? null)],
  };
  return Object.entries(values).flatMap(([name, choices]) => choices.map((value) => ({ [name]: value })));
}

interface Position extends JsonObject {
  readonly epoch: number;
  readonly index: number;
  readonly n: number;
  readonly h: string;
}

function positionsOf(files: Files): Position[] {
  return [...files].flatMap(([path, bytes]) => {
    const [, epoch, index] = SEGMENT.exec(path) ?? [];
    if (epoch === undefined) return [];
    const records = bytes.toString("latin1").matchAll(/^\{"[nr]":(\d+),.*"h":"([^"]+)"\}$/gm);
    return [...records].map(([, n, h]) => ({ epoch: Number(epoch), index: Number(index), n: Number(n), h: h ?? "" }));
  });
}

function segmentsOf(files: Files): [string, Buffer][] {
  return [...files].filter(([path, bytes]) => SEGMENT.test(path) && bytes.length > 0);
}

function* headersOverRecords(files: Files): Generator<Attack> {
  const positions = positionsOf(files);
  const segments = segmentsOf(files);
  const headers = segments.map(([, bytes]) => headerFieldsOf(bytes));
  for (const [path, bytes] of segments) {
    const fields = headerFieldsOf(bytes);
    const records = bytes.subarray(bytes.indexOf("\n") + 1);
    for (const change of changesOf(fields, positions, headers)) {
      const header = forgeHeader({ ...fields, ...change });
      yield attack(`${path} begins with ${JSON.stringify(change)}`, [path, Buffer.concat([header, records])]);
    }
  }
}

/** A planted line without records: each header that was ever written, under each later epoch, continuing each record. */
function* headersAlone(newer: Files, older: Files): Generator<Attack> {
  const positions = [...positionsOf(newer), ...positionsOf(older)];
  const top = Math.max(...segmentsOf(newer).map(([path]) => Number(SEGMENT.exec(path)?.[1])));
  const continued = [null, ...positions].flatMap((prev) => [0, 1].map((repeats) => ({ prev, repeats })));
  for (const [path, bytes] of segmentsOf(newer))
    for (const epoch of [top + 1, top + 2, top + 7, 99_999_998])
      for (const { prev, repeats } of continued) {
        const header = forgeHeader({ ...headerFieldsOf(bytes), epoch, index: 0, base: null, prev, repeats });
        const at = `journal/${String(epoch).padStart(8, "0")}-0000.jsonl`;
        const told = prev === null ? "nothing" : `record ${prev.n} of epoch ${prev.epoch}`;
        yield attack(`${at} is the header of ${path} and continues ${told}, repeating ${repeats}`, [at, header]);
      }
}
