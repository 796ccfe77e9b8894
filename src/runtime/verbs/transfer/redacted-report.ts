/**
 * `checkpoints export --redacted`: what happened in a task, for a bug report, without what it was about.
 *
 * Kept are structure, numbers, times, ids, and words of our own closed vocabularies under the fields that hold them. Any
 * other text becomes its length and a keyed mark: equal texts have equal marks, and without the task's key nobody can
 * guess them. What users and models gave or got is only measured, not even its numbers are told.
 */
import { zipSync } from "fflate";
import { isJsonObject, type JsonObject, type JsonValue } from "../../../base/json.js";
import type { History } from "../../../journal/history.js";
import { dayOf } from "../../../transfer/bundle.js";
import type { TaskVault } from "../../../vault/contract.js";

/** Fields whose texts are words of ours. */
const OWN_WORDS = new Set([
  "type",
  "kind",
  "trigger",
  "status",
  "end",
  "op",
  "code",
  "effects",
  "node",
  "scope",
  "exitStatus",
  "mode",
  "suite",
  "codec",
  "state",
]);
/** Fields that hold values of people and models. */
const VALUES = new Set([
  "inline",
  "value",
  "values",
  "inputs",
  "answer",
  "output",
  "facts",
  "metadata",
  "set",
  "definition",
]);
const WORD = /^[a-z][a-z_]{0,39}$/;
const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,3})?Z$/;
const ERROR_CODE = /^[A-Z][A-Z_]{0,39}$/;
const MARK_BYTES = 4;

/** What is told of the program and the task, beside its events. */
export interface ReportFacts {
  readonly app: string;
  readonly platform: string;
  readonly store: string;
  /** ISO 8601, UTC. */
  readonly created: string;
}

const EXPLANATION = `A report of one task, made by: splashdown checkpoints export --redacted

report.json    the program, the machine's kind, and what reading the journal found
events.jsonl   every event: kinds, times, numbers and ids

Deliverables, which are nothing but text, are not in it.
Names and texts are replaced by their length and a mark that only the task's key could explain; values are measured only.
`;

/** The zip file. Errors: JOURNAL_TAMPERED. */
export function packReport(facts: ReportFacts, history: History, vault: TaskVault): Uint8Array {
  const report = { format: "splashdown.report", version: "1.0", ...facts, encrypted: vault.encrypted };
  return zipSync(
    {
      "report.json": Buffer.from(`${JSON.stringify({ ...report, journal: history.report() }, undefined, 2)}\n`),
      "README.txt": Buffer.from(EXPLANATION),
      "events.jsonl": Buffer.from([...redactEvents(history, vault)].join("")),
    },
    { mtime: dayOf(facts.created) },
  );
}

/** The events of a history, one JSON line each, with their numbers. Errors: JOURNAL_TAMPERED. */
function* redactEvents(history: History, vault: TaskVault): Generator<string> {
  for (const record of history.records) {
    const event = record.decode() as unknown as JsonObject;
    yield `${JSON.stringify({ n: record.n, ...redactEvent(event, vault) })}\n`;
  }
}

/** Fields below the first level, which are ours too; every other name there may come from people. */
const OWN_FIELDS = new Set(
  (
    "action atMs attempt attempts base blob bootId bytes cached calls checkpointId code confidence cost costUsd crashed " +
    "damage digest disposition dropped_bytes durationMs end epoch from h id index inputTokens issues journal_bytes key " +
    "kind line lost message n orphans outputTokens path phase pid position prev quarantined reason records refused " +
    "replayed report score scores segment seq severity sha256 sizeBytes startTicks machineId mark namespace status step steps tail tails text to " +
    "total trigger type unknown usage what where"
  ).split(" "),
);

/** An event without what it was about. Shape: an object with the names of our fields; other names become marks. */
function redactEvent(event: JsonObject, vault: TaskVault): JsonObject {
  const entries = Object.entries(event) as [string, JsonValue][];
  return Object.fromEntries(entries.map(([name, item]) => [name, redactField(name, item, vault)]));
}

function redactField(name: string, value: JsonValue, vault: TaskVault): JsonValue {
  if (VALUES.has(name)) return measure(value);
  if (typeof value === "string") return redactText(name, value, vault);
  if (Array.isArray(value)) return (value as readonly JsonValue[]).map((item) => redactField(name, item, vault));
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value) as [string, JsonValue][];
  return Object.fromEntries(
    entries.map(([inner, item]) => [
      OWN_FIELDS.has(inner) ? inner : redactText("", inner, vault),
      redactField(inner, item, vault),
    ]),
  );
}

function redactText(field: string, text: string, vault: TaskVault): string {
  const isOurs = OWN_WORDS.has(field) && (WORD.test(text) || ERROR_CODE.test(text));
  if (isOurs || ID.test(text) || TIME.test(text)) return text;
  if (!vault.encrypted) return `<${text.length} characters>`;
  const mark = vault.keyedDigest("redacted", Buffer.from(text)).subarray(0, MARK_BYTES).toString("hex");
  return `<${text.length} characters, ${mark}>`;
}

function measure(value: JsonValue): JsonValue {
  const kind = Array.isArray(value) ? "list" : value === null ? "null" : typeof value;
  return { kept_back: kind, bytes: Buffer.byteLength(JSON.stringify(value)) };
}
