/** `keys`, `doctor`, `config show` and `validate`: is this place right, and what is in force. */
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { CheckView, ConfigView, ValidateView } from "../../../src/runtime/contract.js";
import { expectView } from "../../support/view-schemas.js";
import { openPlace, type CommandPlace } from "../../support/command-place.js";
import { writeHeldSteps } from "../../support/held-steps.js";

const STEPS = ["s1"];
const NO_KEY = { SPLASHDOWN_KEY: "" };

/** A place whose only key is a file made by \`keys init\`. */
async function placeWithKeyFile(): Promise<{ place: CommandPlace; key: string; file: string }> {
  const place = openPlace();
  const file = join(place.folder, "home", "key");
  await place.run(["keys", "init", "--key-file", file]);
  return { place, key: file, file: writeHeldSteps(place, STEPS) };
}

describe("keys", () => {
  it("init makes a private key file once, says where and its fingerprint, and never prints it", async () => {
    const { place, key } = await placeWithKeyFile();
    expect(statSync(key).mode & 0o777).toBe(0o600);
    const secret = readFileSync(key, "utf8").split("\n")[1] ?? "";
    const again = await place.run(["keys", "init", "--key-file", key]);
    expect(again.code).toBe(12);
    for (const args of [["keys", "show"], ["keys", "verify"], ["doctor"], ["config", "show"]]) {
      const { stdout, stderr } = await place.run(args, { env: { SPLASHDOWN_KEY_FILE: key } });
      expect(stdout + stderr).not.toContain(secret);
    }
  });

  it("init --if-missing makes nothing where a key is at hand", async () => {
    const place = openPlace();
    const view = (await place.run(["keys", "init", "--if-missing", "--json"])).json();
    expect(view).toMatchObject({ created: false });
    expect(existsSync(join(place.folder, "home", "config", "keys"))).toBe(false);
  });

  it("reminds after each finished task until keys ack", async () => {
    const { place, key, file } = await placeWithKeyFile();
    const env = { SPLASHDOWN_KEY_FILE: key, ...NO_KEY };
    delete (env as Record<string, string>)["SPLASHDOWN_KEY"];
    const options = { env: { ...place.env, SPLASHDOWN_KEY_FILE: key } };
    const first = await place.run(["run", file, "--task", "a"], options);
    expect(first.stdout).toContain("is not marked as backed up; copy it, then: splashdown keys ack");
    expect((await place.run(["keys", "ack"], options)).stdout).toMatch(
      /^noted: key [0-9a-f]{16} in .* is backed up\n$/,
    );
    const second = await place.run(["run", file, "--task", "b"], options);
    expect(second.stdout).not.toContain("backed up");
  });

  it("FAULTS 14: another key ends every verb with 12 and changes no byte", async () => {
    const place = openPlace();
    await place.run(["run", writeHeldSteps(place, STEPS), "--task", "t"]);
    const other = { env: { SPLASHDOWN_KEY: Buffer.alloc(32, 8).toString("base64") } };
    for (const args of [
      ["show", "t"],
      ["events", "t"],
      ["resume", "t"],
      ["answer", "t", "rerun"],
      ["keys", "verify"],
    ]) {
      const { code } = await place.run(args, other);
      expect(code, args.join(" ")).toBe(12);
    }
    const list = await place.run(["list"], other);
    expect(list.code).toBe(0);
    expect(list.stdout).toContain("key_wrong, ");
    expect((await place.run(["keys", "verify"])).stdout).toContain("ok   t: opens\n");
    expect((await place.run(["show", "t"])).code).toBe(0);
  });

  it("show and verify of a task that is not there end with 10", async () => {
    const place = openPlace();
    expect((await place.run(["keys", "show", "none"])).code).toBe(10);
    expect((await place.run(["keys", "verify", "none"])).code).toBe(10);
  });
});

describe("config show", () => {
  it("tells each value and where it comes from: default, file, environment, flag", async () => {
    const place = openPlace({ SPLASHDOWN_STORE: "file:from-environment" });
    place.write("splashdown.config.yaml", "checkpoint_config: {max_checkpoints: 7}\nstore: file:from-file\n");
    const originOf = async (args: readonly string[], key: string): Promise<unknown> => {
      const { settings } = (await place.run(["config", "show", "--json", ...args])).json<ConfigView>();
      const row = settings.find((setting) => setting.key === key);
      return [row?.value, row?.origin.replace(/^.*(splashdown\.config\.yaml).*$/, "$1")];
    };
    expect(await originOf([], "checkpoint_config.max_checkpoints")).toEqual([7, "splashdown.config.yaml"]);
    expect(await originOf([], "checkpoint_config.compression")).toEqual([true, "default"]);
    expect(await originOf([], "store")).toEqual(["file:from-environment", expect.stringContaining("SPLASHDOWN_STORE")]);
    expect(await originOf(["--store", "memory:"], "store")).toEqual(["memory:", "flag --store"]);
  });

  it("ends with 2 for a setting that does not exist, with the nearest that does", async () => {
    const place = openPlace();
    place.write("splashdown.config.yaml", "checkpoint_config: {max_checkpoint: 7}\n");
    const { code, stderr } = await place.run(["config", "show"]);
    expect(code).toBe(2);
    expect(stderr).toContain("max_checkpoints");
    expect(stderr).toContain("[SETTING_INVALID]");
  });

  it("ends with 2 for a settings file that is named and not there, and for a store that does not exist", async () => {
    const place = openPlace();
    expect((await place.run(["config", "show", "--config", "none.yaml"])).code).toBe(2);
    expect((await place.run(["list", "--store", "carrier-pigeon:"])).code).toBe(2);
  });
});

describe("doctor", () => {
  it("finds a good place good, with 0", async () => {
    const result = await openPlace().run(["doctor", "--json"]);
    const { checks } = result.json<{ checks: CheckView[] }>();
    expect(checks.map(({ name, ok }) => [name, ok])).toEqual([
      ["node", true],
      ["store", true],
      ["keys", true],
      ["children", true],
      ["tasks", true],
      ["disk", true],
    ]);
    expect(result.code).toBe(0);
  });

  it("names what needs mending and how, with 4", async () => {
    const place = openPlace();
    await place.run(["run", writeHeldSteps(place, STEPS), "--task", "t"]);
    const other = { env: { SPLASHDOWN_KEY: Buffer.alloc(32, 8).toString("base64") } };
    const { code, stdout } = await place.run(["doctor"], other);
    expect(code).toBe(4);
    expect(stdout).toMatch(/^FAIL tasks: key_wrong, t: .*\n {5}→ splashdown keys show t$/m);

    const folder = join(place.folder, "outputs", "t", "checkpoints");
    const file = readdirSync(folder).find((name) => name.startsWith("checkpoint_")) ?? "";
    const bytes = readFileSync(join(folder, file));
    writeFileSync(join(folder, file), bytes.with(bytes.length >> 1, (bytes[bytes.length >> 1] ?? 0) ^ 1));
    const rotten = await place.run(["doctor", "--tasks", "--json"]);
    expect(rotten.code).toBe(4);
    expectView("doctor", rotten.json());
    expect(rotten.json<{ checks: CheckView[] }>().checks.filter(({ ok }) => !ok)).toMatchObject([{ name: "t", file }]);

    // To look again is no way to mend what was just seen.
    const nowhere = await place.run(["doctor", "--store", "file:steps.yaml"]);
    expect([nowhere.code, nowhere.stdout]).toEqual([
      4,
      expect.stringMatching(/^FAIL store: .*\n {5}→ mend what it says, or name another place with --store$/m),
    ]);
  });
});

describe("validate", () => {
  it("tells what a good file is and which inputs it takes", async () => {
    const place = openPlace();
    const file = writeHeldSteps(place, STEPS);
    const { code, stdout } = await place.run(["validate", file]);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: "steps.yaml: valid; workflow steps, 1 step\n  --input n=… (number, default 0)\n",
    });
  });

  it("FAULTS 49: answers with every fault and its place, on stdout, with 2, and runs nothing", async () => {
    const place = openPlace();
    place.write("bad.yaml", "workflow: {name: bad}\nsteps:\n  - {name: s1, comand: [sh, step.sh, s1]}\n");
    const result = await place.run(["validate", "bad.yaml", "--json"]);
    expect({ code: result.code, stderr: result.stderr }).toEqual({ code: 2, stderr: "" });
    const view = result.json<ValidateView>();
    expectView("validate", view);
    expect(view).toMatchObject({
      file: "bad.yaml",
      valid: false,
      faults: [
        { code: "unknown_key", line: 3, column: 16, path: "steps[0].comand", suggestion: "did you mean command?" },
      ],
    });
    expect(place.ledger()).toEqual([]);
  });

  it("ends with 10 when there is no such file", async () => {
    expect((await openPlace().run(["validate", "none.yaml"])).code).toBe(10);
  });
});
