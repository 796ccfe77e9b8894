/**
 * What somebody can do who may write every row of a SQL store and has no key, beyond what is the same in a folder: each row
 * taken away, put back, doubled and moved, and each clear column changed by itself.
 */
import type { SqlValue } from "../../../src/store/sql/sql-database.js";
import type { AttackScene } from "./attack-scene.js";
import { nameRow, withFittingEpoch, type Row, type Table } from "../../support/task-rows.js";

export interface RowAttack {
  readonly name: string;
  /** All rows after it. */
  readonly rows: readonly Row[];
  readonly takesTaskAway?: boolean;
}

type Rows = readonly Row[];

/** Groups that differ between the snapshots and are mixed in every way. */
const MIXED_MAX = 9;

export function* listRowAttacks({ older, newer, elsewhere }: AttackScene<Rows>): Generator<RowAttack> {
  yield* mixtures(newer, older, "older");
  yield* mixtures(newer, elsewhere, "elsewhere");
  for (const row of newer) {
    if (row.table !== "tasks") yield { name: `${nameRow(row)} is taken away`, rows: without(newer, row) };
    yield* columnChanges(newer, row, older);
    yield* doubles(newer, row);
  }
  yield* moves(newer);
  yield* shortened(newer);
  yield* exchanges(newer, older);
  yield* twins(newer, older);
}

const without = (rows: Rows, row: Row): Rows => rows.filter((other) => other !== row);

const replaced = (rows: Rows, row: Row, values: Row["values"]): Rows =>
  rows.map((other) => (other === row ? { ...row, values } : other));

/** What is put back together: a segment with its lines, an object, the task itself. */
function groupOf({ table, values }: Row): string {
  if (table === "segments" || table === "lines") return `journal ${String(values["epoch"])}-${String(values["idx"])}`;
  return table === "objects" ? String(values["key"]) : table;
}

function weight(group: string): number {
  const kinds = ["tasks", "journal ", "keyring-", "control/", "checkpoint_", "audit/"];
  const at = kinds.findIndex((kind) => group.startsWith(kind));
  return at < 0 ? kinds.length : at;
}

/** Every subset of the groups that differ is as it was in the other snapshot. */
function* mixtures(newer: Rows, other: Rows, which: string): Generator<RowAttack> {
  const textOf = (rows: Rows, group: string) =>
    JSON.stringify(rows.filter((row) => groupOf(row) === group).map(({ values }) => values));
  const groups = [...new Set([...newer, ...other].map(groupOf))].filter(
    (group) => textOf(newer, group) !== textOf(other, group),
  );
  const mixed = groups.sort((first, second) => weight(first) - weight(second)).slice(0, MIXED_MAX);
  for (let subset = 1; subset < 2 ** mixed.length; subset += 1) {
    const chosen = new Set(mixed.filter((_group, at) => (subset & (1 << at)) !== 0));
    const rows = [
      ...newer.filter((row) => !chosen.has(groupOf(row))),
      ...other.filter((row) => chosen.has(groupOf(row))),
    ];
    yield { name: `rows put back to ${which}: ${[...chosen].join(", ")}`, rows: inOrder(rows) };
  }
}

const ORDER: readonly Table[] = ["migrations", "tasks", "segments", "lines", "objects"];
const inOrder = (rows: Rows): Rows =>
  rows.toSorted((first, second) => ORDER.indexOf(first.table) - ORDER.indexOf(second.table));

const numbersAround = (value: number): SqlValue[] => [
  0,
  1,
  value - 1,
  value + 1,
  value + 7,
  -1,
  -7,
  1.5,
  2_147_483_647,
  2 ** 53,
  "abc",
  "",
  Buffer.from("7"),
];

function choicesOf({ table, values }: Row, column: string, all: Rows): readonly (SqlValue | undefined)[] {
  const others = (name: string) => all.flatMap((row) => (row.table === table ? [row.values[name]] : []));
  switch (column) {
    case "id":
    case "task":
      return [2, -1, "abc"];
    case "name":
      return ["u", "", "../t", "T", "t ", "t\n"];
    case "trashed_at":
      return [0, 5, "abc", 2 ** 60];
    case "key":
      return [...others("key"), "", "../escape", "/root", "control/answer-x", "keyring-999.json", "blobs/", "a\nb", 7];
    case "digest":
      return [...others("digest"), "", "abc", 7];
    case "header":
      return [undefined, "", "{}", "no json", '{"phase":"abc","seq":-1}', ...others("header")];
    case "bytes":
      return ["", "abc", Buffer.alloc(0), 7];
    default:
      return numbersAround(Number(values[column]));
  }
}

const COLUMNS_OF: Readonly<Record<Table, readonly string[]>> = {
  migrations: ["version"],
  tasks: ["id", "name", "epoch", "trashed_at"],
  segments: ["task", "epoch", "idx"],
  lines: ["task", "epoch", "idx", "n", "bytes"],
  objects: ["task", "key", "size", "digest", "header", "bytes"],
};

/** Columns of the task's row that take it away under its name. */
const AWAY = new Set(["id", "name", "trashed_at"]);

function* columnChanges(newer: Rows, row: Row, older: Rows): Generator<RowAttack> {
  for (const column of COLUMNS_OF[row.table])
    for (const choice of new Set(choicesOf(row, column, [...newer, ...older]))) {
      if (choice === row.values[column]) continue;
      const { [column]: _before, ...rest } = row.values;
      const values = choice === undefined ? rest : { ...rest, [column]: choice };
      yield {
        name: `${nameRow(row)} has the ${column} ${told(choice)}`,
        rows: replaced(newer, row, values),
        takesTaskAway: row.table === "tasks" && AWAY.has(column),
      };
    }
}

function told(value: SqlValue | undefined): string {
  if (value instanceof Uint8Array) return `of ${value.length} bytes`;
  return value === undefined ? "null" : JSON.stringify(value).slice(0, 60);
}

function* doubles(newer: Rows, row: Row): Generator<RowAttack> {
  const { table, values } = row;
  const places: Readonly<Record<string, readonly SqlValue[]>> = {
    lines: [Number(values["n"]) + 1000, -1],
    segments: [Number(values["idx"]) + 1, 9999],
    objects: [`${String(values["key"])}.copy`],
  };
  const column = { lines: "n", segments: "idx", objects: "key" }[table as "lines" | "segments" | "objects"];
  if (column === undefined) return;
  for (const place of places[table] ?? []) {
    const copy = { table, values: { ...values, [column]: place } };
    yield { name: `${nameRow(row)} stands at ${told(place)} too`, rows: inOrder([...newer, copy]) };
  }
}

/** Segments under other epochs, lines in other segments. */
function* moves(newer: Rows): Generator<RowAttack> {
  const segments = newer.filter(({ table }) => table === "segments");
  const top = Math.max(...segments.map(({ values }) => Number(values["epoch"])));
  for (const { values } of segments) {
    const isOf = (row: Row) =>
      (row.table === "segments" || row.table === "lines") &&
      row.values["epoch"] === values["epoch"] &&
      row.values["idx"] === values["idx"];
    for (const epoch of [-1, 0, top + 1, top + 7])
      for (const idx of [0, 1]) {
        const moved = newer.map((row) => (isOf(row) ? { ...row, values: { ...row.values, epoch, idx } } : row));
        const name = `the segment ${String(values["epoch"])}-${String(values["idx"])} stands at ${epoch}-${idx}`;
        yield { name, rows: moved };
        yield { name: `${name}, and the task's epoch fits`, rows: withFittingEpoch(moved) };
        const copied = [
          ...newer,
          ...newer.filter(isOf).map((row) => ({ ...row, values: { ...row.values, epoch, idx } })),
        ];
        yield { name: `${name} as well`, rows: inOrder(copied) };
      }
  }
}

/** The oldest or the newest segments are gone, under every epoch that the task's row can tell. */
function* shortened(newer: Rows): Generator<RowAttack> {
  const epochs = [
    ...new Set(newer.flatMap(({ table, values }) => (table === "segments" ? [Number(values["epoch"])] : []))),
  ].sort((first, second) => first - second);
  const top = epochs.at(-1) ?? 0;
  for (const end of ["oldest", "newest"])
    for (let count = 1; count <= epochs.length; count += 1) {
      const gone = new Set(end === "oldest" ? epochs.slice(0, count) : epochs.slice(-count));
      const left = newer.filter(
        ({ table, values }) => !["segments", "lines"].includes(table) || !gone.has(Number(values["epoch"])),
      );
      for (let epoch = -1; epoch <= top + 2; epoch += 1) {
        const rows = left.map((row) => (row.table === "tasks" ? { ...row, values: { ...row.values, epoch } } : row));
        yield { name: `the ${end} ${count} segments are gone and the task's epoch is ${epoch}`, rows };
      }
    }
}

/** The bytes of every other line, of either time. */
function* exchanges(newer: Rows, older: Rows): Generator<RowAttack> {
  const lines = newer.filter(({ table }) => table === "lines");
  for (const row of lines)
    for (const [which, other] of [
      ...lines.map((line) => ["newer", line] as const),
      ...older.filter(({ table }) => table === "lines").map((line) => ["older", line] as const),
    ]) {
      const bytes = other.values["bytes"];
      if (bytes === undefined || bytes === row.values["bytes"]) continue;
      yield {
        name: `${nameRow(row)} holds the ${which} ${nameRow(other)}`,
        rows: replaced(newer, row, { ...row.values, bytes }),
      };
    }
}

/** The whole task under a second name, as it is or as it was. */
function* twins(newer: Rows, older: Rows): Generator<RowAttack> {
  for (const [which, rows] of [
    ["newer", newer],
    ["older", older],
  ] as const)
    for (const name of ["a", "u"]) {
      const copies = rows.flatMap(({ table, values }): Row[] => {
        if (table === "tasks") return [{ table, values: { ...values, id: 77, name } }];
        return "task" in values ? [{ table, values: { ...values, task: 77 } }] : [];
      });
      yield { name: `the ${which} task is there as ${name} too`, rows: inOrder([...newer, ...copies]) };
    }
}
