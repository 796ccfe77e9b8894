/** Somebody with write access to a task and no key tries to send it back: nothing runs a second time. */
import { cpSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createRequire } from "node:module";
import { describe, expect, it } from "vitest";
import type { CommandPlace } from "../../support/command-place.js";
import { openPlace } from "../../support/command-place.js";
import { forgeHeader, hashOf, headerFieldsOf } from "../../support/forged-header.js";

const STEPS = ["p1", "p2", "p3"] as const;

function flow(last = "", more = ""): string {
  const steps = STEPS.map((name, at) => {
    const after = at === 0 ? "" : `, depends_on: [${STEPS[at - 1] ?? ""}]`;
    const command = `echo ${name} >> ledger${name === "p3" ? last : ""}`;
    return `  - {name: ${name}, command: [sh, -c, "${command}"], effects: external${after}}`;
  });
  return `workflow: {name: pay}\n${more}steps:\n${steps.join("\n")}\n`;
}

interface Driver {
  readonly DatabaseSync: new (path: string) => {
    prepare(sql: string): { all(): unknown[]; run(...values: unknown[]): unknown };
    exec(sql: string): void;
    close(): void;
  };
}

const journalOf = (place: CommandPlace, task: string): string =>
  join(place.folder, "outputs", task, "checkpoints", "journal");

function forge(segment: Uint8Array, epoch: number, n: number): Buffer {
  const prev = { epoch: 1, index: 0, n, h: hashOf(segment, n) };
  return forgeHeader({ ...headerFieldsOf(segment), epoch, index: 0, repeats: 0, base: null, prev });
}

/** Copies a folder of tasks, but for the sockets of owners. */
function copyTasks(from: string, to: string): void {
  cpSync(from, to, { recursive: true, filter: (path) => !path.endsWith(".sock") });
}

/** Cuts a segment after a record. */
function cutAfter(path: string, n: number): void {
  const bytes = readFileSync(path);
  const start = bytes.indexOf(`\n{"n":${n + 1},`) + 1;
  if (start === 0) throw new Error(`there is no record ${n + 1}`);
  truncateSync(path, start);
}

/** Number of the first record of that kind after the given number of completions. */
function recordAfter(path: string, completions: number): number {
  const kinds = [...readFileSync(path, "latin1").matchAll(/^\{"n":(\d+),"k":"([a-z_]+)"/gm)];
  const done = kinds.filter(([, , kind]) => kind === "completion")[completions - 1];
  return Number(done?.[1]);
}

describe("a header that was planted in a finished task", () => {
  it("[security C1] sends no payment a second time, and is named", async () => {
    const place = openPlace();
    place.write("pay.yaml", flow());
    expect((await place.run(["run", "pay.yaml", "--task", "d1"])).code).toBe(0);
    const folder = journalOf(place, "d1");
    writeFileSync(join(folder, "00000007-0000.jsonl"), forge(readFileSync(join(folder, "00000001-0000.jsonl")), 7, 2));
    const list = await place.run(["list", "--json"]);
    expect(list.json<unknown[]>()).toMatchObject([{ task: "d1", status: "done", steps_done: 3 }]);
    const doctor = await place.run(["doctor", "--tasks"]);
    expect(doctor.stdout).toContain("00000007-0000.jsonl: its header was not written with the task's key");
    await place.run(["recover"]);
    await place.run(["resume", "d1"]);
    await place.run(["run", "pay.yaml", "--task", "d1"]);
    expect(place.ledger()).toEqual([...STEPS]);
    expect((await place.run(["show", "d1", "--json"])).json<{ status: string }>().status).toBe("done");
  });

  it("[security C1 kin] changes nothing of a task in SQLite, whose row says a later epoch too", async () => {
    const place = openPlace();
    place.write("pay.yaml", flow());
    const store = ["--store", "sqlite:tasks.db"];
    expect((await place.run(["run", "pay.yaml", "--task", "d1", ...store])).code).toBe(0);
    const { DatabaseSync } = createRequire(import.meta.url)("@photostructure/sqlite") as Driver;
    const database = new DatabaseSync(join(place.folder, "tasks.db"));
    const task = "(select id from splashdown_tasks where name = 'd1')";
    const rows = database
      .prepare(`select bytes from splashdown_lines where task = ${task} and epoch = 1 and idx = 0 order by n`)
      .all() as { bytes: Uint8Array }[];
    const segment = Buffer.from(`${rows.map(({ bytes }) => Buffer.from(bytes).toString("utf8")).join("\n")}\n`);
    database.exec(`insert into splashdown_segments (task, epoch, idx) values (${task}, 7, 0)`);
    database
      .prepare(`insert into splashdown_lines (task, epoch, idx, n, bytes) values (${task}, 7, 0, 0, ?)`)
      .run(forge(segment, 7, 2).subarray(0, -1));
    database.exec("update splashdown_tasks set epoch = 7");
    database.close();
    await place.run(["recover", ...store]);
    await place.run(["resume", "d1", ...store]);
    expect(place.ledger()).toEqual([...STEPS]);
    const shown = await place.run(["show", "d1", "--json", ...store]);
    expect(shown.json<{ status: string }>().status).toBe("done");
  });

  it("[security C1 kin] leaves a task that crashed where it was: its payments are asked about, never repeated", async () => {
    const place = openPlace();
    place.write("pay.yaml", flow("; kill -9 $PPID; sleep 5"));
    await place.run(["run", "pay.yaml", "--task", "d1"]);
    const folder = journalOf(place, "d1");
    const segment = readFileSync(join(folder, "00000001-0000.jsonl"));
    for (const epoch of [5, 6]) {
      const name = `0000000${epoch}-0000.jsonl`;
      writeFileSync(join(folder, name), forge(segment, epoch, epoch - 3));
    }
    const ledger = place.ledger();
    await place.run(["recover"]);
    expect(place.ledger()).toEqual(ledger);
    expect((await place.run(["show", "d1", "--json"])).json<{ status: string }>().status).toBe("waiting");
  });
});

const SNAPSHOTS_OFF = "checkpoint_config: {enabled: false}\n";

describe("a folder that was put back to an older state", () => {
  it("[security H4] a: is refused with snapshots switched off: the journal's owner has remembered every payment", async () => {
    const place = openPlace();
    place.write("splashdown.config.yaml", SNAPSHOTS_OFF);
    place.write("pay.yaml", flow("; kill -9 $PPID; sleep 5"));
    await place.run(["run", "pay.yaml", "--task", "t"]);
    expect(place.ledger()).toEqual([...STEPS]);
    for (const completions of [2, 1]) {
      const segment = join(journalOf(place, "t"), "00000001-0000.jsonl");
      cutAfter(segment, recordAfter(segment, completions));
      const refused = await place.run(["recover", "--json"]);
      expect(refused.code).toBe(15);
      expect((await place.run(["resume", "t", "--json"])).stderr).toContain("TASK_ROLLED_BACK");
    }
    expect(place.ledger()).toEqual([...STEPS]);
  });

  it("[security H4] b: is refused where only the last completion before the crash is missing", async () => {
    const place = openPlace();
    place.write("pay.yaml", flow("; kill -9 $PPID; sleep 5"));
    await place.run(["run", "pay.yaml", "--task", "t"]);
    const segment = join(journalOf(place, "t"), "00000001-0000.jsonl");
    // The intent of the third payment is gone, as if it had never begun.
    cutAfter(segment, recordAfter(segment, 2));
    for (const name of readdirSync(join(place.folder, "outputs/t/checkpoints")))
      if (name.startsWith("checkpoint_")) rmSync(join(place.folder, "outputs/t/checkpoints", name));
    expect((await place.run(["run", "pay.yaml", "--json"])).code).toBe(15);
    expect(place.ledger()).toEqual([...STEPS]);
  });

  it("[security H4] c: is refused when it went on elsewhere and has later epochs", async () => {
    const place = openPlace();
    const outputs = join(place.folder, "outputs");
    const older = join(place.folder, "older");
    place.write("pay.yaml", flow("; kill -9 $PPID; sleep 5"));
    await place.run(["run", "pay.yaml", "--task", "t"]);
    copyTasks(outputs, older);
    const elsewhere = { env: { SPLASHDOWN_STATE_DIR: join(place.folder, "elsewhere") } };
    const segment = join(older, "t/checkpoints/journal/00000001-0000.jsonl");
    cutAfter(segment, recordAfter(segment, 1));
    for (const name of readdirSync(join(older, "t/checkpoints")))
      if (name.startsWith("checkpoint_")) rmSync(join(older, "t/checkpoints", name));
    await place.run(["resume", "t", "--on-unknown", "skip", "--store", "file:older"], elsewhere);
    const ledger = place.ledger();
    rmSync(outputs, { recursive: true });
    copyTasks(older, outputs);
    for (const verb of [["recover"], ["resume", "t"], ["run", "pay.yaml", "--task", "t"]]) {
      const result = await place.run([...verb, "--json"]);
      expect([verb[0], result.code]).toEqual([verb[0], 15]);
    }
    expect(place.ledger()).toEqual(ledger);
  });
});
