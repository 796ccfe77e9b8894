/** What was found of each guard, in git: one line per site, in the order of the sources. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const TABLE = join(import.meta.dirname, "table.json");
const ACCEPTED = join(import.meta.dirname, "accepted.json");

/** Shape: `{ caughtBy, reachedBy }` by id. */
export function readTable() {
  return new Map(JSON.parse(readFileSync(TABLE, "utf8")).map(({ id, ...row }) => [id, row]));
}

/** Sites that are gone are left out. */
export function writeTable(table, sites) {
  const lines = sites.filter(({ id }) => table.has(id)).map(({ id }) => JSON.stringify({ id, ...table.get(id) }));
  writeFileSync(TABLE, lines.length === 0 ? "[]\n" : `[\n${lines.map((line) => `  ${line}`).join(",\n")}\n]\n`);
}

/** Why a site's loss cannot be noticed, by id. */
export function readAccepted() {
  return new Map(JSON.parse(readFileSync(ACCEPTED, "utf8")).map(({ id, why }) => [id, why]));
}
