/** A disk that is full in the middle of a run: everything is kept, the run says so and stops, and goes on when there is room. */
import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { afterAll, describe, expect, it, type TestContext } from "vitest";
import type { CommandResult } from "../../support/built-program.js";
import { errorOf, Place, readLedger, removePlaces } from "./place.js";
import { writeFilling } from "../../support/filling-workflow.js";

const TASK = "filling";
const STEPS = 14;
const filling = (place: Place) => ({ count: STEPS, ledger: place.path("project", "ledger.txt") });

const mounted: { readonly place: Place; readonly path: string }[] = [];

afterAll(async () => {
  for (const { place, path } of mounted) await place.runProgram("umount", [path]);
  removePlaces();
});

/** A place whose outputs lie on a file system of their own, of so many KiB. */
async function createSmallDisk(context: TestContext, sizeKib: number): Promise<Place> {
  const place = new Place();
  const path = place.path("disk");
  await place.runProgram("mkdir", [path]);
  const result = await place.runProgram("mount", ["-t", "tmpfs", "-o", `size=${sizeKib}k,mode=700`, "tmpfs", path]);
  if (result.code !== 0) context.skip(`a small file system cannot be mounted here: ${result.stderr}`);
  mounted.push({ place, path });
  return place;
}

const store = (place: Place): Record<string, string> => ({ SPLASHDOWN_STORE: `file:${place.path("disk", "outputs")}` });

/** What a run says of its end, in its view or, where not even the end could be recorded, as an error. */
function reasonOf(result: CommandResult): string {
  return result.stdout === "" ? errorOf(result).code : result.json<{ reason: string }>().reason;
}

describe("a full disk", () => {
  it.for([
    { when: "while snapshots are written", enabled: true },
    { when: "while only the journal is written", enabled: false },
  ])(
    "stops the run with STORE_FULL and 4 $when, keeps everything, and the run goes on after",
    async ({ enabled }, context) => {
      const place = await createSmallDisk(context, 2048);
      place.write("splashdown.config.json", JSON.stringify({ checkpoint_config: { enabled } }));
      // The key's place must last as long as the outputs': both are memory here.
      const own = place.path("own.key");
      expect((await place.run(["keys", "init", "--key-file", own])).code).toBe(0);
      const environment = { ...store(place), SPLASHDOWN_KEY_FILE: own };
      const file = writeFilling(place, filling(place));
      const full = await place.run(["run", file, "--task", TASK, "--json"], environment);
      expect(full.code).toBe(4);
      expect(reasonOf(full)).toContain("STORE_FULL");
      const begun = readLedger(place);
      expect(begun.length).toBeGreaterThan(2);
      expect(begun.length).toBeLessThan(STEPS);
      const journal = place.path("disk", "outputs", TASK, "checkpoints", "journal", "00000001-0000.jsonl");
      const kept = readFileSync(journal);

      const shown = await place.run(["show", TASK, "--json"], environment);
      const done = shown.json<{ steps: { status: string }[] }>().steps.filter(({ status }) => status === "completed");
      expect(done.length).toBeGreaterThanOrEqual(begun.length - 1);

      const still = await place.run(["resume", TASK, "--json"], environment);
      // A step whose record still fits may go through; then it is full again.
      const begunNow = readLedger(place);
      expect([still.code, reasonOf(still), begunNow.slice(0, begun.length)]).toEqual([
        4,
        expect.stringContaining("STORE_FULL"),
        begun,
      ]);
      expect(begunNow.length).toBeLessThan(STEPS);
      expect(readFileSync(journal).subarray(0, kept.length).equals(kept)).toBe(true);

      expect((await place.runProgram("mount", ["-o", "remount,size=64m", place.path("disk")])).code).toBe(0);
      const resumed = await place.run(["resume", TASK, "--json"], environment);
      expect([resumed.code, resumed.json<{ output: unknown }>().output]).toEqual([
        0,
        { last: `step_${STEPS}`, first: 120_032 },
      ]);
      expect(readLedger(place)).toEqual(Array.from({ length: STEPS }, (_each, index) => `step_${index + 1}`));
      // The reserve goes with its owner.
      const reserve = place.path("disk", "outputs", TASK, "checkpoints", ".ballast");
      expect(statSync(reserve, { throwIfNoEntry: false })).toBeUndefined();
    },
  );

  it("stops the run in the same way where the disk holds a database of SQLite, and it goes on after", async (context) => {
    const place = await createSmallDisk(context, 4096);
    const own = place.path("own.key");
    expect((await place.run(["keys", "init", "--key-file", own])).code).toBe(0);
    const environment = { SPLASHDOWN_STORE: `sqlite:${place.path("disk", "tasks.db")}`, SPLASHDOWN_KEY_FILE: own };
    const full = await place.run(["run", writeFilling(place, filling(place)), "--task", TASK, "--json"], environment);
    expect([full.code, reasonOf(full)]).toEqual([4, expect.stringContaining("STORE_FULL")]);
    const begun = readLedger(place);
    expect(begun.length).toBeGreaterThan(2);
    expect(begun.length).toBeLessThan(STEPS);
    const shown = await place.run(["show", TASK, "--json"], environment);
    const { steps, damage } = shown.json<{ steps: { status: string }[]; damage: string[] }>();
    expect(damage).toEqual([]);
    expect(steps.filter(({ status }) => status === "completed").length).toBeGreaterThanOrEqual(begun.length - 1);
    expect((await place.runProgram("mount", ["-o", "remount,size=64m", place.path("disk")])).code).toBe(0);
    const resumed = await place.run(["resume", TASK, "--json"], environment);
    expect([resumed.code, resumed.json<{ output: unknown }>().output]).toEqual([
      0,
      { last: `step_${STEPS}`, first: 120_032 },
    ]);
    expect(readLedger(place)).toEqual(Array.from({ length: STEPS }, (_each, index) => `step_${index + 1}`));
  });

  it("refuses a new task with the same code where there is no room for its beginning", async (context) => {
    const place = await createSmallDisk(context, 256);
    writeFileSync(place.path("disk", "filler"), Buffer.alloc(200 * 1024));
    const own = place.path("own.key");
    expect((await place.run(["keys", "init", "--key-file", own])).code).toBe(0);
    const environment = { ...store(place), SPLASHDOWN_KEY_FILE: own };
    const file = writeFilling(place, filling(place));
    const full = await place.run(["run", file, "--task", TASK, "--json"], environment);
    expect(full.code).toBe(4);
    expect(reasonOf(full)).toContain("STORE_FULL");
    rmSync(place.path("disk", "filler"));
    expect((await place.runProgram("mount", ["-o", "remount,size=64m", place.path("disk")])).code).toBe(0);
    const again = await place.run(["resume", TASK, "--json"], environment);
    expect([again.code, again.json<{ status: string }>().status]).toEqual([0, "done"]);
  });
});
