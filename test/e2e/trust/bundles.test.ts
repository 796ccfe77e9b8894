/** A task carried to another machine in one file, for the right person only, and a task whose keys are destroyed. */
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { strFromU8, unzipSync } from "fflate";
import { afterAll, describe, expect, it } from "vitest";
import { until } from "../../support/real-clock.js";
import { expectView } from "../../support/view-schemas.js";
import { crashSample, errorOf, letGo, Place, readLedger, removePlaces, SAMPLE_OUTPUT, writeSample } from "./place.js";

afterAll(removePlaces);

const TASK = "carried";

/** A crashed task here, and an empty place elsewhere with the keys of somebody else. */
async function prepare() {
  const here = new Place();
  await crashSample(here, TASK, "idempotent");
  const there = new Place();
  const key = join(there.folder, "theirs.key");
  expect((await there.run(["keys", "init", "--key-file", key])).code).toBe(0);
  return { here, there, key, theirs: { SPLASHDOWN_KEY_FILE: key }, bundle: join(here.folder, "story.zip") };
}

describe("a bundle", () => {
  it("carries a crashed task to somebody else, who goes on with it to the same end", async () => {
    const { here, there, key, theirs, bundle } = await prepare();
    mkdirSync(here.path("outputs", TASK, "own"));
    writeFileSync(here.path("outputs", TASK, "own", "notes.txt"), "of a program");
    const exported = await here.run(["checkpoints", "export", TASK, "--to", bundle, "--key-file", key, "--json"]);
    expect([exported.code, exported.stderr]).toEqual([0, ""]);
    expectView("export", exported.json());
    const view = exported.json<{ opened_by: string[]; size: number; records: number }>();
    expect(view.opened_by).toEqual([expect.stringMatching(/^keyfile [0-9a-f]{16} \(theirs\.key\)$/)]);
    expect(view.size).toBe(readFileSync(bundle).length);

    const imported = await there.run(["checkpoints", "import", bundle, "--json"], theirs);
    expect([imported.code, imported.stderr]).toEqual([0, ""]);
    expectView("import", imported.json());
    expect(imported.json()).toMatchObject({ records: view.records, deliverables: 1 });
    const notes = there.path("outputs", TASK, "own", "notes.txt");
    expect([readFileSync(notes, "utf8"), statSync(notes).mode & 0o777]).toEqual(["of a program", 0o600]);

    letGo(here);
    const resumed = await there.run(["resume", TASK, "--json"], theirs);
    expect([resumed.code, resumed.json<{ output: unknown }>().output]).toEqual([0, SAMPLE_OUTPUT]);
    expect(readLedger(here).sort()).toEqual(["alpha", "beta", "delta", "delta", "gamma"]);
    const audit = await there.run(["audit", "show", TASK, "--json"], theirs);
    const events = audit.json<{ entries: { event: string }[] }>().entries.map(({ event }) => event);
    expect(events).toEqual(expect.arrayContaining(["exported", "imported"]));
    expect((await there.run(["audit", "verify", TASK], theirs)).code).toBe(0);
  });

  it("opens for nobody else, also not for those who could open the task before", async () => {
    const { here, there, key, bundle } = await prepare();
    await here.run(["checkpoints", "export", TASK, "--to", bundle, "--key-file", key]);
    const before = there.fingerprint("outputs", "state");
    const wrong = await there.run(["checkpoints", "import", bundle, "--json"], {
      SPLASHDOWN_KEY_FILE: join(here.environment["SPLASHDOWN_CONFIG_DIR"] ?? "", "keys", "default.key"),
    });
    expect([wrong.code, errorOf(wrong).code]).toEqual([12, "KEY_WRONG"]);
    expect(there.fingerprint("outputs", "state")).toEqual(before);
  });

  it("refuses a damaged file, a second copy of a task, and a file that is there already, and changes nothing", async () => {
    const { here, there, key, theirs, bundle } = await prepare();
    const exporting = ["checkpoints", "export", TASK, "--to", bundle, "--key-file", key, "--json"];
    expect((await here.run(exporting)).code).toBe(0);
    const again = await here.run(exporting);
    expect([again.code, errorOf(again).code]).toEqual([2, "USAGE_INVALID"]);
    expect(readdirSync(here.folder).filter((name) => name.endsWith(".tmp"))).toEqual([]);

    const bytes = readFileSync(bundle);
    const damaged = join(there.folder, "damaged.zip");
    writeFileSync(damaged, bytes.with(bytes.length >> 1, (bytes[bytes.length >> 1] ?? 0) ^ 1));
    const refused = await there.run(["checkpoints", "import", damaged, "--json"], theirs);
    expect([refused.code, errorOf(refused).code]).toEqual([13, "BUNDLE_CORRUPT"]);
    expect(existsSync(there.path("outputs", TASK))).toBe(false);

    const twin = await here.run(["checkpoints", "import", bundle, "--task", "twin", "--json"], theirs);
    expect([twin.code, errorOf(twin).message]).toEqual([2, expect.stringContaining(`task ${TASK} is the same task`)]);
  });

  it("begins anew after an import that was cut off, and nobody takes the half of it for a task", async () => {
    const { here, there, key, theirs, bundle } = await prepare();
    await here.run(["checkpoints", "export", TASK, "--to", bundle, "--key-file", key]);
    expect((await there.run(["checkpoints", "import", bundle], theirs)).code).toBe(0);
    // As a kill right before the last two steps leaves it.
    const image = new Map(there.take("outputs"));
    const keyring = [...image.keys()].filter((path) => path.includes("keyring-"));
    for (const path of keyring) image.delete(path);
    there.restore(image, "outputs");
    writeFileSync(there.checkpoints(TASK, "arriving.json"), "{}");
    const shown = await there.run(["show", TASK, "--json"], theirs);
    expect([shown.code, errorOf(shown).code]).toEqual([13, "IMPORT_UNFINISHED"]);
    expect(
      (await there.run(["recover", "--json"], theirs)).json<{ tasks: { action: string }[] }>().tasks,
    ).not.toContainEqual(expect.objectContaining({ action: "taken_up" }));
    expect((await there.run(["checkpoints", "import", bundle], theirs)).code).toBe(0);
    expect((await there.run(["show", TASK], theirs)).code).toBe(0);
  });
});

describe("a redacted report", () => {
  it("tells every event and none of the words, names and values in them", async () => {
    const place = new Place();
    letGo(place);
    await place.run(["run", writeSample(place, "hold"), "--task", TASK]);
    const file = join(place.folder, "report.zip");
    const exported = await place.run(["checkpoints", "export", TASK, "--redacted", "--to", file, "--json"]);
    expect([exported.code, exported.stderr]).toEqual([0, ""]);
    expectView("export", exported.json());
    const parts = Object.entries(unzipSync(readFileSync(file))).map(
      ([name, bytes]) => [name, strFromU8(bytes)] as const,
    );
    const texts = new Map(parts);
    const events = (texts.get("events.jsonl") ?? "")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { type: string });
    expect(events).toHaveLength(exported.json<{ records: number }>().records);
    expect(events[0]?.type).toBe("task_started");
    expect(events.at(-1)?.type).toBe("task_closed");
    const whole = parts.map(([, text]) => text).join("");
    for (const secret of ["canary", "alpha", "gamma", "gather", "sample", "ledger", place.folder, TASK])
      expect([secret, whole.includes(secret)]).toEqual([secret, false]);
    const refused = await place.run(["checkpoints", "import", file, "--json"]);
    expect([refused.code, errorOf(refused).message]).toEqual([13, "a redacted report holds no task to import"]);
    const nowhere = await place.run([
      "checkpoints",
      "export",
      TASK,
      "--to",
      join(place.folder, "none", "x.zip"),
      "--json",
    ]);
    expect([nowhere.code, errorOf(nowhere).message]).toEqual([2, expect.stringContaining("there is no folder ")]);
    const missing = await place.run(["checkpoints", "import", "none.zip", "--json"]);
    expect([missing.code, errorOf(missing).message]).toEqual([2, expect.stringMatching(/none\.zip does not exist$/)]);
  });
});

describe("keys shred", () => {
  it("makes a task unreadable for good, and says since when and by whom", async () => {
    const place = new Place();
    letGo(place);
    await place.run(["run", writeSample(place, "hold"), "--task", TASK]);
    const unasked = await place.run(["keys", "shred", TASK, "--json"]);
    expect([unasked.code, errorOf(unasked).code]).toEqual([2, "USAGE_INVALID"]);
    expect((await place.run(["show", TASK])).code).toBe(0);
    const shredded = await place.run(["keys", "shred", TASK, "--yes", "--json"]);
    expect([shredded.code, shredded.stderr]).toEqual([0, ""]);
    expectView("shred", shredded.json());
    expect(shredded.json()).toMatchObject({ shredded: true, keyrings: ["keyring-1.json"] });
    const shown = await place.run(["show", TASK, "--json"]);
    expect([shown.code, errorOf(shown).code]).toEqual([12, "KEY_SHREDDED"]);
    expect(errorOf(shown).message).toMatch(/destroyed on \d{4}-\d\d-\d\dT.* by /);
    expect((await place.run(["list"])).stdout).toContain(TASK);
    expect((await place.run(["keys", "shred", TASK, "--yes", "--json"])).json()).toMatchObject({ shredded: false });
  });

  it("refuses while the owner lives, who holds the key", async () => {
    const place = new Place();
    const owner = place.start(["run", writeSample(place, "hold"), "--task", TASK, "--json"]);
    await until("the last step runs", () => readLedger(place).includes("delta"));
    const refused = await place.run(["keys", "shred", TASK, "--yes", "--json"]);
    expect([refused.code, errorOf(refused).code]).toEqual([11, "OWNER_ALIVE"]);
    letGo(place);
    expect((await owner.done).code).toBe(0);
    expect((await place.run(["show", TASK])).code).toBe(0);
  });

  it("tells a lost keyring from a destroyed one", async () => {
    const place = new Place();
    letGo(place);
    await place.run(["run", writeSample(place, "hold"), "--task", TASK]);
    const image = new Map(place.take("outputs"));
    for (const path of [...image.keys()].filter((name) => name.includes("keyring-"))) image.delete(path);
    place.restore(image, "outputs");
    const shown = await place.run(["show", TASK, "--json"]);
    expect([shown.code, errorOf(shown).code]).toEqual([12, "KEYRING_MISSING"]);
  });
});
