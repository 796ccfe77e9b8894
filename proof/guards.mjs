#!/usr/bin/env node
/**
 * Removes, one at a time, every guard of durability in `src`: fencing checks, syncs, watermarks, claim checks, awaits of durable
 * writes. For each it runs the tests that reach the place, until one of them fails. A guard whose loss nothing notices is no guard.
 *
 *   node proof/guards.mjs [--only PATTERN] [--part K/N] [--again] [--list] [--notes FILE] [--json]
 *
 * --only     sites whose id fits the pattern
 * --part     the K-th of N parts of them, for nights
 * --again    also those that stand in the table
 * --list     the sites with what the table says, and nothing more
 * --notes F  which test file reaches which site, from an earlier run; made anew where F is not there
 *
 * What was found is kept in proof/guards/table.json, site by site as it is found: the test that notices, or that none does. A
 * site whose loss cannot be noticed stands in proof/guards/accepted.json with the reason.
 * Exit status 0: all in the table, caught or accepted. 1: one survived or was not judged, or an entry fits no site any more.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { readAccepted, readTable, writeTable } from "./guards/table.mjs";
import { Judges } from "./guards/judges.mjs";
import { listSites } from "./guards/sites.mjs";
import { orderTests, readNotes } from "./guards/notes.mjs";

const { values } = parseArgs({
  options: {
    only: { type: "string", default: "" },
    part: { type: "string", default: "1/1" },
    again: { type: "boolean", default: false },
    list: { type: "boolean", default: false },
    notes: { type: "string" },
    json: { type: "boolean", default: false },
  },
});

const sites = listSites();
const [part = 1, parts = 1] = values.part.split("/").map(Number);
const chosen = sites
  .filter(({ id }) => new RegExp(values.only, "i").test(id))
  .filter((_site, at) => at % parts === part - 1);
const folder = mkdtempSync(join(tmpdir(), "splashdown-guards-"));
try {
  if (values.list) listChosen();
  else process.exitCode = await judgeAll();
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function listChosen() {
  const table = readTable();
  for (const { id, text } of chosen) console.log(`${id}\n    ${text}\n    ${table.get(id)?.caughtBy ?? "not known"}`);
  console.log(`${chosen.length} sites`);
}

async function judgeAll() {
  const known = readTable();
  const open = chosen.filter(({ id }) => values.again || !known.has(id));
  if (open.length > 0) await judgeOpen(open);
  return report();
}

async function judgeOpen(open) {
  const notes = readNotes(values.notes ?? join(folder, "notes.jsonl"));
  const judges = new Judges(join(folder, "off"));
  try {
    for (const site of open) {
      const files = orderTests(site, notes);
      const { caughtBy, isOver } = await judges.judge(site.id, files);
      if (isOver === true) {
        console.error(`?   ${site.id} took too long; it stays open`);
        continue;
      }
      const table = readTable();
      table.set(site.id, { caughtBy, reachedBy: files.length });
      writeTable(table, sites);
      if (!values.json)
        console.log(`${caughtBy === undefined ? "-   " : "ok  "}${site.id} (${caughtBy ?? files.length})`);
    }
  } finally {
    judges.close();
  }
}

function report() {
  const table = readTable();
  const accepted = readAccepted();
  const rows = chosen.map(({ id, text }) => ({ id, text, ...table.get(id), isKnown: table.has(id) }));
  const unjudged = rows.filter(({ isKnown }) => !isKnown);
  const missed = rows.filter(({ isKnown, caughtBy }) => isKnown && caughtBy === undefined);
  const survived = missed.filter(({ id }) => !accepted.has(id));
  const stale = [...accepted.keys()].filter(
    (id) => !sites.some((site) => site.id === id) || table.get(id)?.caughtBy !== undefined,
  );
  if (values.json) console.log(JSON.stringify({ rows, survived, unjudged, stale }));
  else {
    for (const { id, text, reachedBy } of survived)
      console.log(`SURVIVED ${id}\n    ${text} (reached by ${reachedBy} test files)`);
    for (const id of stale) console.log(`STALE in accepted.json: ${id}`);
    const caught = rows.length - missed.length - unjudged.length;
    console.log(
      `${rows.length} guards: ${caught} noticed, ${missed.length - survived.length} accepted, ${survived.length} not noticed, ${unjudged.length} not tried`,
    );
  }
  return survived.length + stale.length + unjudged.length === 0 ? 0 : 1;
}
