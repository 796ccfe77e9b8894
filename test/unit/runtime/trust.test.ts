import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Splashdown } from "../../../src/runtime/contract.js";
import { openSplashdown, type OpenOptions } from "../../../src/runtime/open.js";
import { trustFolder } from "../../../src/runtime/verbs/trust-verb.js";
import { createEnvironment } from "../../../src/runtime/platform/environment.js";
import { openFolder } from "../../support/temporary-folder.js";
import { expectView } from "../../support/view-schemas.js";

const NOT_TRUSTED = { code: "FOLDER_NOT_TRUSTED", exitStatus: 2 };
const FLOW = {
  workflow: { name: "w" },
  steps: [{ name: "a", command: ["sh", "-c", "echo a >> ledger"], effects: "none" }],
};

/** A folder as it comes from elsewhere; what it brings along leaves a trace when it runs. */
class Brought {
  readonly folder = openFolder();
  /** The person's own. */
  readonly home = openFolder();
  readonly told: string[] = [];

  constructor(settings: unknown, file = "splashdown.config.yaml") {
    this.write(file, JSON.stringify(settings));
    this.write("flow.json", JSON.stringify(FLOW));
    this.write("x.sh", `#!/bin/sh\nenv > ${join(this.folder, "trace")}\nexit 1\n`);
    chmodSync(join(this.folder, "x.sh"), 0o755);
  }

  write(name: string, text: string): string {
    const path = join(this.folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return path;
  }

  environment(more: Readonly<Record<string, string>> = {}) {
    const own = { HOME: this.home, SPLASHDOWN_CONFIG_DIR: join(this.home, "config") };
    const folders = { SPLASHDOWN_STATE_DIR: join(this.home, "state"), PATH: process.env["PATH"] ?? "" };
    return createEnvironment({ ...own, ...folders, ...more }, this.folder);
  }

  async open(options: OpenOptions = {}): Promise<Splashdown> {
    const log = { info: () => undefined, warn: (text: string) => void this.told.push(text), debug: () => undefined };
    const splashdown = await openSplashdown({ environment: this.environment(), log, ...options });
    onTestFinished(() => splashdown.close());
    return splashdown;
  }

  /** A task of the person's own, sealed by the person's own key. */
  async withTask(): Promise<this> {
    const splashdown = await this.open({ configFile: this.write("own.json", "{}") });
    await splashdown.keys.init({ ifMissing: true });
    await splashdown.run({ workflow: join(this.folder, "flow.json"), task: "t" });
    return this;
  }

  get hasRun(): boolean {
    return existsSync(join(this.folder, "trace"));
  }
}

async function readAll(splashdown: Splashdown): Promise<void> {
  await splashdown.list();
  await splashdown.show("t");
  for await (const event of splashdown.events("t")) void event;
  await splashdown.checkpoints.list("t");
  await splashdown.debug.listCheckpoints("t");
  await splashdown.metrics();
  await splashdown.audit.show("t");
  await splashdown.keys.show();
  await splashdown.keys.show("t");
  await splashdown.doctor({ tasks: true });
  await splashdown.config();
  await splashdown.validate("flow.json");
  await splashdown.graph("flow.json");
}

describe("the settings of a folder that nobody has trusted", () => {
  it("[security H7] name a key command: no reading verb runs it, and it is said what waits", async () => {
    const place = await new Brought({ keys: [{ type: "command", command: ["./x.sh"] }] }).withTask();
    await readAll(await place.open());
    expect(place.hasRun).toBe(false);
    expect(place.told.at(-1) ?? "").not.toBe("");
    expect(place.told.join("\n")).toMatch(
      /1 setting of .*splashdown\.config\.yaml is not used.*: keys; .*splashdown trust/,
    );
    // The same, trusted, does run it: the test would notice.
    await trustFolder(place.environment());
    await (await place.open()).doctor();
    expect(place.hasRun).toBe(true);
  });

  it("[security H7 kin] a package in the folder's node_modules is loaded by nobody, trusted or not", async () => {
    const place = await new Brought({ keys: [{ type: "system", account: "ada" }] }).withTask();
    for (const name of ["@napi-rs/keyring", "age-encryption"]) {
      place.write(`node_modules/${name}/package.json`, `{"name":"${name}","type":"module","exports":"./index.js"}`);
      const trace = JSON.stringify(join(place.folder, "trace"));
      place.write(
        `node_modules/${name}/index.js`,
        `import { writeFileSync } from "node:fs"; writeFileSync(${trace}, "");`,
      );
    }
    await readAll(await place.open());
    await trustFolder(place.environment());
    await (await place.open()).doctor();
    expect(place.hasRun).toBe(false);
    const named = place.environment({ SPLASHDOWN_PACKAGES: place.folder });
    await (await place.open({ environment: named })).doctor();
    expect(place.hasRun).toBe(true);
  });

  it("[security H7 kin] a key file of a stranger seals nothing: run ends before anything is made", async () => {
    const place = new Brought({ keys: [{ type: "keyfile", path: "./theirs.key" }] });
    place.write("theirs.key", "x");
    const splashdown = await place.open();
    await expect(splashdown.run({ workflow: "flow.json" })).rejects.toMatchObject(NOT_TRUSTED);
    await expect(splashdown.run({ workflow: "flow.json" })).rejects.toThrow(
      /keys .*theirs|keys in .*splashdown\.config\.yaml/,
    );
    expect(readdirSync(place.folder)).not.toContain("outputs");
    expect(existsSync(join(place.folder, "ledger"))).toBe(false);
    // The key of the person's own environment is asked instead, and the folder's is not.
    const own = place.environment({ SPLASHDOWN_KEY: Buffer.alloc(32, 9).toString("base64") });
    expect(await (await place.open({ environment: own })).run({ workflow: "flow.json" })).toMatchObject({
      status: "done",
    });
  });

  it("[security H7 kin] a store is not opened: verbs that need it say so, and one that is named by hand is used", async () => {
    for (const settings of [
      { store: "postgres://u:secret@127.0.0.1:1/db" },
      { store: "sqlite:theirs.db" },
      { checkpoint_config: { storage_path: "/tmp/theirs/{TASK}/checkpoints" } },
    ]) {
      const place = new Brought(settings);
      const splashdown = await place.open();
      await expect(splashdown.list()).rejects.toMatchObject(NOT_TRUSTED);
      await expect(splashdown.run({ workflow: "flow.json" })).rejects.toMatchObject(NOT_TRUSTED);
      expect(await splashdown.validate("flow.json")).toMatchObject({ valid: true });
      expect(await (await place.open({ store: "file:mine" })).list()).toEqual([]);
      expect(place.told.join()).not.toContain("secret");
    }
  });

  it("[security H7 kin] agents and providers: a workflow that needs one is refused before its first step, and no other", async () => {
    const agent = { name: "b", agent: "mine", prompt: "x" };
    const place = new Brought({
      cli_agents: { mine: { like: "claude", command: ["./x.sh"] } },
      providers: { theirs: { type: "openai-compatible", base_url: "http://127.0.0.1:1/v1", key_command: ["./x.sh"] } },
    });
    const splashdown = await place.open();
    await splashdown.keys.init({ ifMissing: true });
    place.write(
      "cli.json",
      JSON.stringify({ ...FLOW, steps: [...FLOW.steps, { ...agent, type: "cli", cli: "mine", agent: undefined }] }),
    );
    place.write(
      "model.json",
      JSON.stringify({ ...FLOW, steps: [...FLOW.steps, { name: "b", prompt: "x", provider: "theirs", model: "m" }] }),
    );
    await expect(splashdown.run({ workflow: "model.json" })).rejects.toMatchObject(NOT_TRUSTED);
    await expect(splashdown.dryRun({ workflow: "model.json" })).rejects.toMatchObject(NOT_TRUSTED);
    await splashdown.doctor({ models: true });
    expect(existsSync(join(place.folder, "ledger"))).toBe(false);
    expect(place.hasRun).toBe(false);
    expect(await splashdown.run({ workflow: "flow.json" })).toMatchObject({ status: "done" });
  });

  it("[security H7 kin] no folder says of itself that it is trusted, that its tasks may run, or that yours lie open", async () => {
    const place = await new Brought({
      recovery_config: { new_here: "resume", max_recovery_attempts: 7 },
      checkpoint_config: { encryption: false, max_checkpoints: 4 },
    }).withTask();
    const rows = new Map((await (await place.open()).config()).settings.map(({ key, ...row }) => [key, row]));
    expect(rows.get("recovery_config.new_here")).toMatchObject({
      value: "ask",
      note: expect.stringContaining("splashdown trust") as string,
    });
    expect(rows.get("checkpoint_config.encryption")).toMatchObject({ value: true });
    // What names nothing is used at once.
    expect(rows.get("recovery_config.max_recovery_attempts")).toMatchObject({ value: 7 });
    expect(rows.get("checkpoint_config.max_checkpoints")).toMatchObject({ value: 4 });
  });

  it("that hold nothing but harmless ones, or the defaults, are used without a word", async () => {
    const place = new Brought({ store: "file:outputs", checkpoint_config: { max_checkpoints: 4, encryption: true } });
    await (await place.open()).list();
    expect(place.told).toEqual([]);
  });
});

describe("splashdown trust", () => {
  const KEYS = { keys: [{ type: "keyfile", path: "./own.key" }] };
  const waits = async (place: Brought): Promise<boolean> => {
    place.told.length = 0;
    await place.open();
    return place.told.some((text) => text.includes("splashdown trust"));
  };

  it("[security H7 kin] trusts a text: another one, in the file or in what it includes, waits again", async () => {
    const place = new Brought({});
    place.write("splashdown.config.yaml", "keys: !file keys.yaml\n");
    place.write("keys.yaml", "[{type: keyfile, path: ./own.key}]\n");
    expect(await waits(place)).toBe(true);
    const view = await trustFolder(place.environment());
    expectView("trust", view);
    expect(view).toMatchObject({ action: "trust", folders: [{ state: "trusted", settings: [{ key: "keys" }] }] });
    expect(await waits(place)).toBe(false);
    place.write("keys.yaml", "[{type: command, command: [./x.sh]}]\n");
    expect(await waits(place)).toBe(true);
    expect(await trustFolder(place.environment(), { list: true })).toMatchObject({ folders: [{ state: "changed" }] });
  });

  it("lists what is trusted, and takes it back", async () => {
    const place = new Brought(KEYS);
    await trustFolder(place.environment());
    expect(await trustFolder(place.environment(), { list: true })).toMatchObject({
      folders: [{ folder: place.folder, state: "trusted" }],
    });
    expect(await trustFolder(place.environment(), { remove: true })).toMatchObject({ action: "remove" });
    expect(await waits(place)).toBe(true);
    expect(await trustFolder(place.environment(), { list: true })).toEqual({ action: "list", folders: [] });
    expect(await trustFolder(place.environment(), { remove: true })).toEqual({ action: "remove", folders: [] });
  });

  it("is said by the environment as well, for this folder or for named ones", async () => {
    const place = new Brought(KEYS);
    for (const [said, isTold] of [
      ["1", false],
      [place.folder, false],
      [`/nowhere:${place.folder}`, false],
      ["/nowhere", true],
      ["0", true],
    ] as const) {
      place.told.length = 0;
      await place.open({ environment: place.environment({ SPLASHDOWN_TRUST: said }) });
      expect([said, place.told.length > 0]).toEqual([said, isTold]);
    }
  });

  it("is asked once in a terminal for each text, whatever the answer", async () => {
    const place = new Brought(KEYS);
    let asked = 0;
    const askTrust = async (): Promise<boolean> => {
      asked += 1;
      return asked > 1;
    };
    for (const expected of [1, 1]) {
      await place.open({ askTrust });
      expect(asked).toBe(expected);
    }
    place.write("splashdown.config.yaml", JSON.stringify({ ...KEYS, checkpoint_config: { max_checkpoints: 5 } }));
    place.told.length = 0;
    for (const expected of [2, 2]) {
      await place.open({ askTrust });
      expect(asked).toBe(expected);
    }
    expect(place.told).toEqual([]);
  });

  it("says so where there is no settings file", async () => {
    const place = new Brought({});
    await expect(trustFolder(place.environment(), { folder: place.home })).rejects.toMatchObject({
      code: "USAGE_INVALID",
    });
  });
});

describe("a key command", () => {
  it("[security H7 kin] gets PATH, HOME and what its setting names, and no secret beside", async () => {
    const source = { type: "command", command: ["./x.sh"], variables: ["VAULT_ADDR"] };
    const place = new Brought({ keys: [source] });
    await trustFolder(place.environment());
    const more = { AWS_SECRET_ACCESS_KEY: "not-yours", VAULT_ADDR: "https://vault", LANG: "C" };
    await (await place.open({ environment: place.environment(more) })).doctor();
    const given = readFileSync(join(place.folder, "trace"), "utf8");
    expect(given).toContain("VAULT_ADDR=https://vault");
    expect(given).toContain(`HOME=${place.home}`);
    expect(given).not.toContain("not-yours");
  });
});
