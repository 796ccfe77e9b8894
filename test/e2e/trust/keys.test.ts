/** Keys as people hand them over: with stray white space, empty, in another Unicode form, or not at all. */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PROGRAM } from "../../support/built-program.js";
import { errorOf, letGo, Place, removePlaces, SAMPLE_OUTPUT, writeSample, UNTOUCHED } from "./place.js";

const KEY = Buffer.alloc(32, 7).toString("base64");
const TASK = "keyed";
const COMPOSED = "größenwahn im café";

afterAll(removePlaces);

/** A place with a task of the sample that failed in its last step and can go on. */
async function startWith(environment: Readonly<Record<string, string>>): Promise<Place> {
  const place = new Place();
  const file = writeSample(place, "fail");
  const result = await place.run(["run", file, "--task", TASK, "--json"], environment);
  expect([result.code, result.json<{ status: string }>().status]).toEqual([4, "failed"]);
  letGo(place);
  return place;
}

describe("a key in a variable", () => {
  let place: Place;
  beforeAll(async () => {
    place = await startWith({ SPLASHDOWN_KEY: KEY });
  });

  it.each([
    [
      "with a trailing newline",
      `${KEY}\n`,
      "KEY_SOURCE_INVALID",
      /the variable \$SPLASHDOWN_KEY does not hold a key: it begins or ends with white space/,
    ],
    ["that is empty", "", "KEY_SOURCE_INVALID", /the key variable \$SPLASHDOWN_KEY is empty/],
    ["that is blank", " \n", "KEY_SOURCE_INVALID", /the key variable \$SPLASHDOWN_KEY is empty/],
    [
      "of another key",
      Buffer.alloc(32, 8).toString("base64"),
      "KEY_WRONG",
      /needs env [0-9a-f]{16} \(SPLASHDOWN_KEY\); given was [0-9a-f]{16} /,
    ],
    [
      "that is a passphrase",
      "correct horse battery",
      "KEY_SOURCE_INVALID",
      /\$SPLASHDOWN_KEY does not hold a key: it has 21 characters .*; a passphrase is for SPLASHDOWN_PASSPHRASE/,
    ],
  ])("is refused %s, and nothing is written", async (_name, key, code, text) => {
    const before = place.fingerprint(...UNTOUCHED);
    for (const verb of [
      ["resume", TASK],
      ["show", TASK],
      ["checkpoints", "list", TASK],
    ]) {
      const result = await place.run([...verb, "--json"], { SPLASHDOWN_KEY: key });
      expect([verb[0], result.code, errorOf(result).code]).toEqual([verb[0], 12, code]);
      expect(errorOf(result).message).toMatch(text);
      expect(result.stderr + result.stdout).not.toContain(key.trim() === "" ? KEY : key.trim());
    }
    const listed = await place.run(["list", "--json"], { SPLASHDOWN_KEY: key });
    expect([listed.code, listed.json<{ problem: { code: string } }[]>()[0]?.problem.code]).toEqual([0, code]);
    expect(place.fingerprint(...UNTOUCHED)).toEqual(before);
  });

  it("opens the task when it is right", async () => {
    const result = await place.run(["resume", TASK, "--json"], { SPLASHDOWN_KEY: KEY });
    expect([result.code, result.json<{ output: unknown }>().output]).toEqual([0, SAMPLE_OUTPUT]);
  });

  it("makes no task with one that cannot be used", async () => {
    const fresh = new Place();
    const file = writeSample(fresh, "fail");
    for (const environment of [{ SPLASHDOWN_KEY: `${KEY}\n` }, { SPLASHDOWN_KEY: "" }]) {
      const result = await fresh.run(["run", file, "--task", TASK, "--json"], environment);
      expect([result.code, errorOf(result).code]).toEqual([12, "KEY_SOURCE_INVALID"]);
    }
    expect([existsSync(fresh.path("outputs")), existsSync(fresh.path("config"))]).toEqual([false, false]);
  });
});

describe("a passphrase", () => {
  it("opens in composed and in decomposed form, and in no other", async () => {
    const place = await startWith({ SPLASHDOWN_PASSPHRASE: COMPOSED });
    const before = place.fingerprint(...UNTOUCHED);
    const other = COMPOSED.replace("é", "e");
    const wrong = await place.run(["resume", TASK, "--json"], { SPLASHDOWN_PASSPHRASE: other });
    expect([wrong.code, errorOf(wrong).code]).toEqual([12, "KEY_WRONG"]);
    expect(errorOf(wrong).message).toMatch(/given was another passphrase in \$SPLASHDOWN_PASSPHRASE/);
    expect(place.fingerprint(...UNTOUCHED)).toEqual(before);
    expect(COMPOSED.normalize("NFD")).not.toBe(COMPOSED);
    const result = await place.run(["resume", TASK, "--json"], { SPLASHDOWN_PASSPHRASE: COMPOSED.normalize("NFD") });
    expect([result.code, result.json<{ output: unknown }>().output]).toEqual([0, SAMPLE_OUTPUT]);
  });
});

describe("a first run without a key", () => {
  it("makes one outside the outputs, says so once, and reminds until it is backed up", async () => {
    const place = new Place();
    const file = writeSample(place, "hold");
    letGo(place);
    const first = await place.run(["run", file, "--task", "one"]);
    expect(first.code).toBe(0);
    expect(first.stderr).toMatch(/made key [0-9a-f]{16} in .*default\.key; back it up/);
    expect(first.stdout).toContain("is not marked as backed up");
    const second = await place.run(["run", file, "--task", "two"]);
    expect([second.code, second.stderr.includes("made key")]).toEqual([0, false]);
    expect(second.stdout).toContain("is not marked as backed up");
    expect((await place.run(["keys", "ack"])).code).toBe(0);
    const third = await place.run(["run", file, "--task", "three"]);
    expect([third.code, third.stdout.includes("backed up")]).toEqual([0, false]);
  });

  it("makes no second key beside data that a lost one sealed, whatever run is asked for", async () => {
    const place = await startWith({ SPLASHDOWN_KEY: KEY });
    const before = place.fingerprint(...UNTOUCHED);
    const file = place.path("project", "sample.json");
    for (const more of [["--new"], ["--task", "another"]]) {
      const result = await place.run(["run", file, ...more, "--json"]);
      expect([result.code, errorOf(result).code]).toEqual([12, "KEY_NOT_CREATED"]);
      expect(errorOf(result).message).toContain("sealed data of another key is present");
    }
    expect(place.fingerprint(...UNTOUCHED)).toEqual(before);
    const own = place.path("own.key");
    expect((await place.run(["keys", "init", "--key-file", own])).code).toBe(0);
    const chosen = await place.run(["run", file, "--task", "another", "--json"], { SPLASHDOWN_KEY_FILE: own });
    expect([chosen.code, chosen.json<{ status: string }>().status]).toEqual([0, "done"]);
  });

  it("names the command that makes a key file which is configured and not there, and makes no task", async () => {
    const place = new Place();
    const file = writeSample(place, "fail");
    const missing = place.path("keys", "mine.key");
    const result = await place.run(["run", file, "--task", TASK, "--json"], { SPLASHDOWN_KEY_FILE: missing });
    expect([result.code, errorOf(result).code]).toEqual([12, "KEY_NOT_CREATED"]);
    expect(errorOf(result).hint).toBe(`splashdown keys init --key-file ${missing}`);
    expect(existsSync(place.path("outputs"))).toBe(false);
  });
});

describe("a first run where the key would not last", () => {
  const inMemory = existsSync("/dev/shm") && process.platform === "linux";
  it("is refused with two commands that work as printed", async (context) => {
    if (!inMemory) context.skip("needs a folder in memory, /dev/shm");
    const memory = mkdtempSync("/dev/shm/splashdown-trust-");
    try {
      expect(await followTwoCommands({ HOME: memory, SPLASHDOWN_CONFIG_DIR: join(memory, "config") })).toBe("done");
    } finally {
      rmSync(memory, { recursive: true, force: true });
    }
  });

  it("is refused in a container's layer too, when the outputs are on a disk", async (context) => {
    const layers = mkdtempSync(join(tmpdir(), "splashdown-layer-"));
    const [lower, upper, work, merged] = ["lower", "upper", "work", "merged"].map((name) => join(layers, name));
    for (const folder of [lower, upper, work, merged]) mkdirSync(folder ?? "");
    const host = new Place();
    const options = `lowerdir=${lower},upperdir=${upper},workdir=${work}`;
    const mounted = await host.runProgram("mount", ["-t", "overlay", "overlay", "-o", options, merged ?? ""]);
    if (mounted.code !== 0) context.skip(`an overlay cannot be mounted here: ${mounted.stderr}`);
    try {
      expect(await followTwoCommands({ HOME: merged ?? "", SPLASHDOWN_CONFIG_DIR: join(merged ?? "", "config") })).toBe(
        "done",
      );
    } finally {
      await host.runProgram("umount", [merged ?? ""]);
      rmSync(layers, { recursive: true, force: true });
    }
  });
});

/** The settings folder does not last: a run is refused, the two printed commands are typed in a shell, a run is done. */
async function followTwoCommands(environment: { HOME: string; SPLASHDOWN_CONFIG_DIR: string }): Promise<string> {
  const place = new Place();
  const file = writeSample(place, "hold");
  letGo(place);
  const refused = await place.run(["run", file, "--task", TASK, "--json"], environment);
  expect([refused.code, errorOf(refused).code]).toEqual([12, "KEY_NOT_CREATED"]);
  expect(errorOf(refused).message).toContain("its file system is more volatile than the store's");
  expect(existsSync(place.path("outputs"))).toBe(false);
  const commands = errorOf(refused).details["commands"] as string[];
  const path = place.path("splashdown.key");
  expect(commands).toEqual([`splashdown keys init --key-file ${path}`, `export SPLASHDOWN_KEY_FILE=${path}`]);
  const plain = await place.run(["run", file, "--task", TASK], environment);
  for (const command of commands) expect(plain.stderr).toContain(`  → ${command}\n`);

  const bin = place.path("bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "splashdown"), `#!/bin/sh\nexec ${process.execPath} ${PROGRAM} "$@"\n`);
  chmodSync(join(bin, "splashdown"), 0o700);
  const script = [...commands, `splashdown run ${file} --task ${TASK} --json`].join("\n");
  const done = await place.runProgram("sh", ["-e", "-c", script], {
    ...environment,
    PATH: `${bin}:${process.env["PATH"] ?? ""}`,
  });
  return done.code === 0 && done.stdout.includes('"status": "done"') ? "done" : done.stderr + done.stdout;
}
