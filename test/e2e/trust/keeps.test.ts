/** A resume that fails destroys nothing: what was there before it is there after it, and a proper resume then works. */
import { chmodSync, renameSync, rmSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { KILL_CHILD } from "../../support/killed-run.js";
import {
  errorOf,
  letGo,
  Place,
  readLedger,
  removePlaces,
  requireEnded,
  SAMPLE_OUTPUT,
  writeSample,
  type Image,
  UNTOUCHED,
} from "./place.js";

const TASK = "kept";

afterAll(removePlaces);

let place: Place;
let sound: Image;
let soundState: Image;

beforeAll(async () => {
  place = new Place();
  const file = writeSample(place, "fail");
  requireEnded(await place.run(["run", file, "--task", TASK, "--json"]), 4);
  letGo(place);
  sound = place.take("outputs");
  soundState = place.take("state");
});

/** Digests of the files that were there before, whatever came to them. */
function oldFiles(): string[] {
  const old = new Set(sound.keys());
  return place.fingerprint("outputs").filter((line) => old.has(line.split(" ")[0] ?? ""));
}

async function requireProperResume(): Promise<void> {
  const before = readLedger(place).length;
  const result = await place.run(["resume", TASK, "--json"]);
  expect([result.code, result.json<{ output: unknown }>().output]).toEqual([0, SAMPLE_OUTPUT]);
  expect(readLedger(place).slice(before)).toEqual(["delta"]);
  place.restore(sound, "outputs");
  place.restore(soundState, "state");
}

describe("a resume that fails", () => {
  it.each<[string, number, () => () => void, Readonly<Record<string, string>>]>([
    ["for a wrong key", 12, () => () => undefined, { SPLASHDOWN_KEY: Buffer.alloc(32, 9).toString("base64") }],
    [
      "for a key that is not there",
      12,
      () => {
        const key = place.path("config", "keys", "default.key");
        renameSync(key, place.path("aside.key"));
        return () => renameSync(place.path("aside.key"), key);
      },
      {},
    ],
    [
      "for a settings file that is wrong",
      2,
      () => {
        const settings = place.write("splashdown.config.json", '{"checkpoint_confg": {}}');
        return () => rmSync(settings);
      },
      {},
    ],
    [
      "for a changed definition",
      20,
      () => {
        const file = place.path("project", "sample.json");
        renameSync(file, place.path("aside.json"));
        place.write(
          "sample.json",
          JSON.stringify({
            workflow: { name: "sample" },
            phases: [{ name: "other", specialists: [{ name: "x", command: ["true"] }] }],
          }),
        );
        return () => renameSync(place.path("aside.json"), file);
      },
      {},
    ],
  ])("%s leaves every byte as it was", async (_why, status, spoil, environment) => {
    const before = place.fingerprint(...UNTOUCHED);
    const mend = spoil();
    const spoilt = place.fingerprint(...UNTOUCHED);
    const result = await place.run(["resume", TASK, "--json"], environment);
    expect([result.code, readLedger(place)]).toEqual([status, expect.not.arrayContaining(["x"])]);
    expect(place.fingerprint(...UNTOUCHED)).toEqual(spoilt);
    mend();
    expect(place.fingerprint(...UNTOUCHED)).toEqual(before);
    await requireProperResume();
  });

  it("for a workflow file that is gone goes on by the sealed definition, and says so", async () => {
    const file = place.path("project", "sample.json");
    renameSync(file, place.path("aside.json"));
    try {
      const result = await place.run(["resume", TASK, "--json"]);
      const view = result.json<{ output: unknown; notices: string[] }>();
      expect([result.code, view.output]).toEqual([0, SAMPLE_OUTPUT]);
      expect(view.notices.join("\n")).toContain("sample.json");
    } finally {
      renameSync(place.path("aside.json"), file);
      place.restore(sound, "outputs");
      place.restore(soundState, "state");
    }
  });

  it("for a step's program that is gone keeps all checkpoints", async () => {
    const program = place.path("project", "specialist.mjs");
    renameSync(program, place.path("aside.mjs"));
    const before = oldFiles();
    const result = await place.run(["resume", TASK, "--json"]);
    expect(result.code).toBe(4);
    // The journal has grown in a segment of its own, and the old ones are as they were.
    expect(oldFiles()).toEqual(before);
    renameSync(place.path("aside.mjs"), program);
    await requireProperResume();
  });

  it("on a file system that cannot be written says so and keeps everything", async (context) => {
    const outputs = place.path("outputs");
    const before = place.fingerprint("outputs");
    const bound = await place.runProgram("mount", ["--bind", outputs, outputs]);
    if (bound.code !== 0) {
      chmodSync(place.checkpoints(TASK, "journal"), 0o500);
      context.onTestFinished(() => chmodSync(place.checkpoints(TASK, "journal"), 0o700));
    } else {
      expect((await place.runProgram("mount", ["-o", "remount,ro,bind", outputs])).code).toBe(0);
    }
    const result = await place.run(["resume", TASK, "--json"]);
    const shown = await place.run(["show", TASK, "--json"]);
    const listed = await place.run(["list", "--json"]);
    if (bound.code === 0) expect((await place.runProgram("umount", [outputs])).code).toBe(0);
    else chmodSync(place.checkpoints(TASK, "journal"), 0o700);
    expect([result.code, errorOf(result).code]).toEqual([4, "STORE_UNWRITABLE"]);
    expect([shown.code, listed.code]).toEqual([0, 0]);
    expect(place.fingerprint("outputs")).toEqual(before);
    await requireProperResume();
  });

  it("by a kill at any moment after its start keeps all checkpoints", async () => {
    const before = oldFiles();
    let killed = 0;
    for (const n of [1, 3, 6, 10, 15, 21, 28, 36]) {
      const args = [KILL_CHILD, place.program, `operation:${n}`, "resume", TASK];
      if ((await place.runProgram(process.execPath, args)).signal === "SIGKILL") killed += 1;
      expect([n, oldFiles()]).toEqual([n, before]);
      const now = await place.run(["show", TASK, "--json"]);
      expect([n, now.code, now.json<{ damage: string[] }>().damage]).toEqual([n, 0, []]);
    }
    expect(killed).toBeGreaterThan(4);
    const result = await place.run(["resume", TASK, "--json"]);
    const view = result.json<{ output: unknown }>();
    expect([result.code, view.output]).toEqual([0, SAMPLE_OUTPUT]);
  });
});
