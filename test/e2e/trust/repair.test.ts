/** Damage that can be repaired: the file is named and set aside with a reason, what was before is used, nothing is lost. */
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { withRepairedSum, withText } from "./forgery.js";
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

const TASK = "repaired";

afterAll(removePlaces);

interface Resumed {
  readonly status: string;
  readonly output: unknown;
  readonly recovery: {
    readonly base: { readonly file: string } | null;
    readonly quarantined: { readonly file: string; readonly code: string; readonly moved_to: string }[];
    readonly passed_over: { readonly file: string; readonly code: string; readonly reason: string }[];
    readonly lost: unknown[];
  };
}

let place: Place;
let sound: Image;
let soundState: Image;
let newest: string;
let before: string;
let another: Buffer;

/** A task that failed in its last step with a file per trigger, and another one of the same workflow beside it. */
beforeAll(async () => {
  place = new Place();
  const file = writeSample(place, "fail");
  // Each checkpoint gets its file before anything follows: on a slow disk a newer one takes the place of one that waits.
  const settings = place.write("splashdown.config.yaml", "performance_config: {async_writes: false}\n");
  for (const task of [TASK, "other"]) {
    requireEnded(await place.run(["run", file, "--task", task, "--json"]), 4);
  }
  rmSync(settings);
  letGo(place);
  sound = place.take("outputs", TASK);
  soundState = place.take("state");
  [before = "", newest = ""] = place.snapshots(TASK).slice(-2);
  another = readFileSync(place.checkpoints("other", place.snapshots("other").at(-1) ?? ""));
});

function reset(): void {
  place.restore(sound, "outputs", TASK);
  place.restore(soundState, "state");
}

const newestBytes = (): Buffer => readFileSync(place.checkpoints(TASK, newest));

function flipMiddle(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  let at = copy.indexOf('"payload":"') + 400;
  // A flip that leaves the alphabet of the text would be damage that even a repaired checksum cannot hide.
  while (!/[A-Za-z0-9+/]/.test(String.fromCharCode((copy[at] ?? 0) ^ 1))) at += 1;
  copy[at] = (copy[at] ?? 0) ^ 1;
  return copy;
}

/** Goes on with the task; only its last step runs, and the output is that of an undisturbed run. */
async function resumeWell(): Promise<Resumed> {
  const ledgerBefore = readLedger(place).length;
  const result = await place.run(["resume", TASK, "--json"]);
  expect([result.code, result.stderr.includes('"error"')]).toEqual([0, false]);
  const view = result.json<Resumed>();
  expect([view.status, view.output, view.recovery.lost]).toEqual(["done", SAMPLE_OUTPUT, []]);
  expect(readLedger(place).slice(ledgerBefore)).toEqual(["delta"]);
  return view;
}

describe("a bad newest snapshot file", () => {
  it.each<[string, string, () => Buffer | Promise<Buffer>]>([
    ["cut to nothing", "CHECKPOINT_TRUNCATED", () => Buffer.alloc(0)],
    ["cut to one byte", "CHECKPOINT_TRUNCATED", () => newestBytes().subarray(0, 1)],
    ["cut in half", "CHECKPOINT_TRUNCATED", () => newestBytes().subarray(0, newestBytes().length / 2)],
    ["with one bit flipped", "CHECKPOINT_CORRUPT", () => flipMiddle(newestBytes())],
    [
      "with one bit flipped and its checksum repaired",
      "CHECKPOINT_TAMPERED",
      () => withRepairedSum(flipMiddle(newestBytes()), (text) => text),
    ],
    ["replaced by {}", "FORMAT_NOT_OURS", () => Buffer.from("{}")],
    [
      "replaced by {} sealed with the right key",
      "CHECKPOINT_CORRUPT",
      () => withText(place, { task: TASK, file: newest }, { text: "{}" }),
    ],
    ["replaced by one of another task", "TASK_SWAPPED", () => another],
    [
      "replaced by a plain one",
      "SEAL_MISSING",
      () => withText(place, { task: TASK, file: newest }, { text: "{}", plain: true }),
    ],
    [
      "of an unknown algorithm",
      "CHECKPOINT_CORRUPT",
      () =>
        withRepairedSum(newestBytes(), (text) => text.replace("A256GCM-HKDF-SHA512-KC1", "A128CBC-HKDF-SHA512-KC1")),
    ],
  ])("%s is named, set aside with a reason, and the one before is used", async (_name, code, damage) => {
    reset();
    const bad = await damage();
    writeFileSync(place.checkpoints(TASK, newest), bad);
    const shown = (await place.run(["show", TASK, "--json"])).json<{ damage: string[] }>();
    expect(shown.damage.join("\n")).toContain(`${newest}: ${code}, `);
    const { recovery } = await resumeWell();
    expect(recovery.quarantined).toEqual([{ file: newest, code, moved_to: `quarantine/${newest}` }]);
    expect(recovery.base?.file).toBe(before);
    expect(readFileSync(place.checkpoints(TASK, "quarantine", newest)).equals(bad)).toBe(true);
    expect(readFileSync(place.checkpoints(TASK, "quarantine", `${newest}.reason.txt`), "utf8")).toMatch(
      new RegExp(`^${code}: .{10}`),
    );
    expect(existsSync(place.checkpoints(TASK, newest))).toBe(false);
  });

  it.each<[string, (text: string) => string]>([
    ["999", (text) => text.replace('"version":"1.0"', '"version":"999"')],
    ["the number 999", (text) => text.replace('"version":"1.0"', '"version":999')],
    ['"1"', (text) => text.replace('"version":"1.0"', '"version":"1"')],
    ["null", (text) => text.replace('"version":"1.0"', '"version":null')],
    ["none", (text) => text.replace('"version":"1.0",', "")],
  ])("of version %s is refused by name and left as it is", async (_version, change) => {
    reset();
    const foreign = withRepairedSum(newestBytes(), change);
    writeFileSync(place.checkpoints(TASK, newest), foreign);
    const checked = await place.run([
      "debug",
      "validate-checkpoint",
      `--file=${place.checkpoints(TASK, newest)}`,
      "--json",
    ]);
    expect(checked.code).toBe(13);
    const { recovery } = await resumeWell();
    expect(recovery.passed_over.map(({ file, code }) => [file, code])).toEqual([[newest, "FORMAT_VERSION"]]);
    expect(recovery.base?.file).toBe(before);
    expect(readFileSync(place.checkpoints(TASK, newest)).equals(foreign)).toBe(true);
  });

  it("is said in words while the task goes on", async () => {
    reset();
    writeFileSync(place.checkpoints(TASK, newest), "{}");
    const result = await place.run(["resume", TASK]);
    expect(result.code).toBe(0);
    expect(result.stderr).toContain(
      `${newest} is not usable (FORMAT_NOT_OURS) and was moved to quarantine/${newest}; ${before} is used instead`,
    );
  });

  it("costs nothing even when every one is bad", async () => {
    reset();
    const all = place.snapshots(TASK);
    for (const name of all) writeFileSync(place.checkpoints(TASK, name), "");
    const { recovery } = await resumeWell();
    expect(recovery.quarantined.map(({ file }) => file).sort()).toEqual([...all].sort());
    expect(recovery.base).toBeNull();
  });

  it("hinders no other task", async () => {
    reset();
    writeFileSync(place.checkpoints(TASK, newest), "");
    const listed = (await place.run(["list", "--json"])).json<{ task: string; status: string; problem?: unknown }[]>();
    expect(listed.map(({ task, status, problem }) => [task, status, problem])).toEqual([
      ["other", "failed", undefined],
      [TASK, "failed", undefined],
    ]);
  });
});

describe("a damaged journal", () => {
  const segment = () => place.checkpoints(TASK, "journal", "00000001-0000.jsonl");
  const lines = () => readFileSync(segment(), "latin1").trimEnd().split("\n");

  it("loses nothing by a torn tail", async () => {
    reset();
    const bytes = readFileSync(segment());
    writeFileSync(segment(), Buffer.concat([bytes, Buffer.from('{"n":999,"k":"completion","d":"AAAA')]));
    const view = await resumeWell();
    expect(view.recovery).toMatchObject({
      tails: [{ segment: "00000001-0000", tail: "torn", dropped_bytes: 35 }],
      damage: [],
    });
  });

  it("loses nothing by a bad record that a snapshot covers", async () => {
    reset();
    writeFileSync(
      segment(),
      `${lines()
        .map((line, index) => (index === 6 ? flip(line) : line))
        .join("\n")}\n`,
    );
    const view = await resumeWell();
    expect(view.recovery).toMatchObject({
      damage: [{ segment: "00000001-0000", line: 7, what: "hash" }],
      quarantined: [],
    });
  });

  it("loses nothing by a lost segment that a snapshot covers", async () => {
    reset();
    renameSync(place.path("project", "go"), place.path("aside"));
    const again = await place.run(["resume", TASK, "--json"]);
    renameSync(place.path("aside"), place.path("project", "go"));
    expect([again.code, place.segments(TASK)]).toEqual([4, ["00000001-0000.jsonl", "00000002-0000.jsonl"]]);
    renameSync(segment(), place.path("lost-segment"));
    const view = await resumeWell();
    expect(view.recovery).toMatchObject({ damage: [{ segment: "00000001-0000", what: "missing" }] });
  });
});

describe("loss that nothing covers", () => {
  /** The completion of gamma is lost, with the snapshots that would cover it: its intent is known, its end is not. */
  async function loseCompletion(): Promise<Place> {
    const lossy = new Place();
    const file = writeSample(lossy, "fail", "external");
    expect((await lossy.run(["run", file, "--task", TASK, "--json"])).code).toBe(4);
    letGo(lossy);
    for (const name of lossy.snapshots(TASK)) renameSync(lossy.checkpoints(TASK, name), lossy.path(name));
    const path = lossy.checkpoints(TASK, "journal", "00000001-0000.jsonl");
    const all = readFileSync(path, "latin1").trimEnd().split("\n");
    const at = all.findLastIndex((line) => line.includes('"k":"completion"'));
    writeFileSync(path, `${all.map((line, index) => (index === at ? flip(line) : line)).join("\n")}\n`);
    return lossy;
  }

  it.each([
    ["done", ["done", "--output", '{"name":"gamma","text":"output-canary-gamma"}'], 1],
    ["rerun", ["rerun"], 2],
  ])(
    "stops with 13; with --accept-loss it asks about the step, and goes on with the answer %s",
    async (_name, words, runs) => {
      const lossy = await loseCompletion();
      const untouched = lossy.fingerprint(...UNTOUCHED);
      const refused = await lossy.run(["resume", TASK, "--json"]);
      expect([refused.code, errorOf(refused).code]).toEqual([13, "JOURNAL_CORRUPT"]);
      expect(errorOf(refused).hint).toBe(`splashdown resume ${TASK} --accept-loss`);
      expect(lossy.fingerprint(...UNTOUCHED)).toEqual(untouched);

      const accepted = await lossy.run(["resume", TASK, "--accept-loss", "--json"]);
      const view = accepted.json<{ status: string; questions: { kind: string; step: string }[] }>();
      expect([accepted.code, view.status]).toEqual([22, "waiting"]);
      expect(view.questions.map(({ kind, step }) => [kind, step.split("@")[0]])).toEqual([
        ["unknown_outcome", "main/weigh/gamma"],
      ]);
      expect(readLedger(lossy).filter((line) => line === "gamma")).toHaveLength(1);

      expect((await lossy.run(["answer", TASK, ...words, "--json"])).code).toBe(0);
      const done = await lossy.run(["resume", TASK, "--json"]);
      expect([done.code, done.json<{ output: unknown }>().output]).toEqual([0, SAMPLE_OUTPUT]);
      expect(readLedger(lossy).filter((line) => line === "gamma")).toHaveLength(runs);
      expect(lossy.snapshots(TASK).length).toBeGreaterThan(0);
    },
  );
});

/** Another character in the sealed part of a record. */
function flip(line: string): string {
  const at = line.indexOf('"d":"') + 25;
  return line.slice(0, at) + (line[at] === "A" ? "B" : "A") + line.slice(at + 1);
}
