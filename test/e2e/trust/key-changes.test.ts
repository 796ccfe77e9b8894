/** The life of a key: another one is added, the first one taken away, the task's own key changed; the task goes on. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { generateIdentity, identityToRecipient } from "age-encryption";
import { afterAll, describe, expect, it } from "vitest";
import { expectView } from "../../support/view-schemas.js";
import { errorOf, letGo, Place, removePlaces, SAMPLE_OUTPUT, writeSample } from "./place.js";

const TASK = "kept";

/** Wraps a key by turning its bits. */
const WRAPPING = `import { readFileSync } from "node:fs";
const { operation, key, wrapped } = JSON.parse(readFileSync(0, "utf8"));
const turn = (text) => Buffer.from(text, "base64").map((byte) => byte ^ 90).toString("base64");
console.log(JSON.stringify(operation === "wrap" ? { wrapped: turn(key) } : { key: turn(wrapped) }));
`;

afterAll(removePlaces);

async function startFailing(): Promise<Place> {
  const place = new Place();
  const result = await place.run(["run", writeSample(place, "fail"), "--task", TASK, "--json"]);
  expect(result.code).toBe(4);
  letGo(place);
  return place;
}

interface Changes {
  readonly tasks: readonly {
    readonly changed: boolean;
    readonly revision?: number;
    readonly generation?: number;
  }[];
}

/** The key that a sealed file names in its header. */
const KEY_ID = /"key":"([0-9a-f]{16})"/;

/** Files below the outputs that have the text in them; the key of a sealed file stands in its header. */
/** But for the keyring, which goes on naming every key that there was. */
function filesNaming(place: Place, text: string): string[] {
  const files = [...place.take("outputs")].filter(([path]) => !path.includes("keyring-"));
  return files.flatMap(([path, { bytes }]) => (bytes.includes(text) ? [path] : []));
}

async function change(place: Place, ...args: string[]): Promise<Changes> {
  const result = await place.run(["keys", ...args, "--json"]);
  expect([args.join(" "), result.code, result.stderr]).toEqual([args.join(" "), 0, ""]);
  expectView("key-change", result.json());
  return result.json<Changes>();
}

describe("a key's life", () => {
  it("hands a task from one key file to another, and it goes on with the new one only", async () => {
    const place = await startFailing();
    const second = join(place.folder, "keys", "second.key");
    const only = { SPLASHDOWN_KEY_FILE: second };
    expect((await place.run(["keys", "init", "--key-file", second])).code).toBe(0);
    expect(errorOf(await place.run(["show", TASK, "--json"], only)).code).toBe("KEY_WRONG");
    expect((await change(place, "add", TASK, "--key-file", second)).tasks[0]).toMatchObject({
      changed: true,
      revision: 2,
    });
    expect((await change(place, "add", "--all", "--key-file", second)).tasks[0]).toMatchObject({ changed: false });
    const removed = await place.run(["keys", "remove", "default.key", TASK, "--json"], only);
    expect(removed.json<Changes>().tasks[0]).toMatchObject({ changed: true, revision: 4 });
    expect(errorOf(await place.run(["show", TASK, "--json"])).code).toBe("KEY_WRONG");
    const resumed = await place.run(["resume", TASK, "--json"], only);
    expect([resumed.code, resumed.json<{ output: unknown }>().output]).toEqual([0, SAMPLE_OUTPUT]);
    const audit = await place.run(["audit", "show", TASK, "--json"], only);
    const events = audit.json<{ entries: { event: string; verb: string }[] }>().entries;
    expect(events.filter(({ event }) => event === "keys_changed").map(({ verb }) => verb)).toEqual([
      "keys add",
      "keys remove",
    ]);
  });

  it("goes on after the task's own key was changed, and reads what is older", async () => {
    const place = await startFailing();
    const rotated = await change(place, "rotate", TASK, "--task-key");
    expect(rotated.tasks[0]).toMatchObject({ changed: true, generation: 2 });
    const resumed = await place.run(["resume", TASK, "--json"]);
    expect([resumed.code, resumed.json<{ output: unknown }>().output]).toEqual([0, SAMPLE_OUTPUT]);
    const list = await place.run(["checkpoints", "list", TASK, "--json"]);
    expect(list.code).toBe(0);
    const first = await place.run(["debug", "replay", "--checkpoint", `${TASK}:1`, "--json"]);
    expect(first.code).toBe(0);
  });

  it("seals everything again under a new key: the old one opens nothing that stays, and the task goes on", async () => {
    const place = await startFailing();
    const [old = "none"] = filesNaming(place, '"key":"').flatMap(
      (file) => KEY_ID.exec(readFileSync(file, "utf8"))?.[1] ?? [],
    );
    // The journal and the last snapshot at least: between them a newer one may take the place of one that waits.
    expect(filesNaming(place, old).length).toBeGreaterThan(1);
    const changed = await change(place, "rotate", TASK, "--task-key", "--reencrypt");
    expect(changed.tasks[0]).toMatchObject({ generation: 2, reencrypted: { left: [], removed: { segments: 1 } } });
    expect(filesNaming(place, old)).toEqual([]);
    expect((await place.run(["audit", "verify", TASK])).code).toBe(0);
    const resumed = await place.run(["resume", TASK, "--json"]);
    expect([resumed.code, resumed.json<{ output: unknown }>().output]).toEqual([0, SAMPLE_OUTPUT]);
    expect((await place.run(["keys", "rotate", TASK, "--reencrypt"])).code).toBe(2);
  });

  it("refuses to take the last key away, and says how to name a task", async () => {
    const place = await startFailing();
    const refused = await place.run(["keys", "remove", "default.key", TASK, "--json"]);
    expect([refused.code, errorOf(refused).code]).toEqual([2, "KEY_LOCKED_OUT"]);
    expect((await place.run(["keys", "rotate"])).code).toBe(2);
    expect((await place.run(["keys", "add", TASK])).code).toBe(2);
  });

  it("is locked for somebody's age recipient, and opened with the identity alone", async () => {
    const place = await startFailing();
    const identity = await generateIdentity();
    const file = join(place.folder, "age.txt");
    writeFileSync(file, `${identity}\n`, { mode: 0o600 });
    const added = await change(place, "add", TASK, "--age", await identityToRecipient(identity));
    expect(added.tasks[0]).toMatchObject({ changed: true, revision: 2 });
    const theirs = { SPLASHDOWN_AGE_IDENTITY: file };
    const removed = await place.run(["keys", "remove", "keyfile", TASK, "--json"], theirs);
    expect(removed.json<Changes>().tasks[0]).toMatchObject({ changed: true, revision: 4 });
    expect(errorOf(await place.run(["show", TASK, "--json"])).code).toBe("KEY_MISSING");
    const resumed = await place.run(["resume", TASK, "--json"], theirs);
    expect([resumed.code, resumed.json<{ output: unknown }>().output]).toEqual([0, SAMPLE_OUTPUT]);
  });

  it("is kept by a command of somebody's: tried when keys are shown, named by its script, taken away by that name", async () => {
    const place = new Place();
    const script = place.write("wrap.mjs", WRAPPING);
    const use = (...argv: string[]) =>
      place.write("splashdown.config.yaml", `keys: [{type: command, command: ${JSON.stringify(argv)}}]\n`);
    use("no-such-wrap");
    const shown = await place.run(["keys", "show"]);
    expect(shown.stdout).toContain('no folder of PATH has a program "no-such-wrap"');
    use(process.execPath, script);
    expect((await place.run(["run", writeSample(place, "fail"), "--task", TASK])).code).toBe(4);
    const own = join(place.folder, "own.key");
    expect((await place.run(["keys", "init", "--key-file", own])).code).toBe(0);
    await change(place, "add", TASK, "--key-file", own);
    place.write("splashdown.config.yaml", `keys: [{type: keyfile, path: ${own}}]\n`);
    const removed = await place.run(["keys", "remove", "node wrap.mjs", TASK]);
    expect([removed.code, removed.stdout]).toEqual([
      0,
      expect.stringMatching(/- command [0-9a-f]{16} \(node wrap\.mjs\)/),
    ]);
  });

  it("says which package the system's keyring needs", async () => {
    const place = new Place();
    place.write("splashdown.config.yaml", "keys:\n  - type: system\n    account: ada\n");
    const result = await place.run(["run", writeSample(place, "hold"), "--json"]);
    expect([result.code, errorOf(result).code]).toEqual([12, "KEY_SOURCE_INVALID"]);
    expect(errorOf(result).message).toContain("npm install @napi-rs/keyring@2.1.2");
  });
});
