import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/base/json.js";
import { explainSettings, listSettings } from "../../../src/definition/settings/settings-notes.js";
import {
  loadSettingsFile,
  readEnvironmentSettings,
  settingsOfFlags,
  settingsOfWorkflow,
} from "../../../src/definition/settings/settings-sources.js";
import {
  AUTOMATIC_TRIGGERS,
  checkSettings,
  computeTriggers,
  defaultSettings,
  mergeSettings,
  resolveTaskPaths,
} from "../../../src/definition/settings/settings.js";
import { codeOf, refusalOf } from "../../support/error-code.js";
import { createLoaderDeps } from "../../support/workflow-files.js";

const lookUp = (values: Readonly<Record<string, string>>) => (name: string) => values[name];

function loadFile(text: string, environment: Readonly<Record<string, string>> = {}) {
  return loadSettingsFile(
    "/c/splashdown.config.yaml",
    createLoaderDeps({ files: { "/c/splashdown.config.yaml": text }, environment }),
  );
}

describe("defaultSettings", () => {
  it("are those of the seeds, with what DESIGN section 13 settles", () => {
    const settings = defaultSettings();
    expect(settings).toMatchObject({ store: "file:outputs", keys: [] });
    expect(settings.checkpoint_config).toMatchObject({
      enabled: true,
      storage_path: "./outputs/{TASK}/checkpoints",
      compression: true,
      encryption: true,
      max_checkpoints_per_phase: 5,
      checkpoint_size_limit_mb: 100,
      max_checkpoints: 10,
      keep_successful: true,
      metadata: "full",
    });
    expect(settings.checkpoint_config.retention_days).toBeUndefined();
    expect(settings.recovery_config).toEqual({
      auto_recovery: true,
      max_recovery_attempts: 3,
      recovery_timeout_seconds: 300,
      fallback_to_previous: true,
      on_unknown: "ask",
      take_up_within: "12h",
      new_here: "ask",
    });
    expect(settings.performance_config).toEqual({
      async_writes: true,
      batch_decisions: true,
      compression_level: 6,
      memory_mapped_threshold_mb: 10,
    });
  });

  it("are fresh each time", () => {
    expect(defaultSettings().checkpoint_config).not.toBe(defaultSettings().checkpoint_config);
  });
});

describe("mergeSettings", () => {
  it("lets later layers win and keeps the origin of each value", async () => {
    const file = await loadFile("store: file:there\ncheckpoint_config: {max_checkpoints: 20, compression: false}\n");
    const workflow = settingsOfWorkflow({ name: "w", settings: { checkpoint_config: { max_checkpoints: 30 } } });
    const environment = readEnvironmentSettings(lookUp({ SPLASHDOWN_STORE: "memory:" }));
    const flags = settingsOfFlags({ recovery_config: { on_unknown: "rerun" } }, "flag", {
      "recovery_config.on_unknown": "flag --on-unknown",
    });
    const { settings, origins } = mergeSettings([...(file === undefined ? [] : [file]), workflow, environment, flags]);
    expect(settings.store).toBe("memory:");
    expect(settings.checkpoint_config).toMatchObject({ max_checkpoints: 30, compression: false, encryption: true });
    expect(settings.recovery_config.on_unknown).toBe("rerun");
    expect(origins).toEqual({
      store: "environment SPLASHDOWN_STORE",
      "checkpoint_config.max_checkpoints": "workflow w",
      "checkpoint_config.compression": "/c/splashdown.config.yaml",
      "recovery_config.on_unknown": "flag --on-unknown",
    });
  });

  it("adds up rules of triggers", () => {
    const one = settingsOfFlags({ checkpoint_config: { triggers: { interval: { enabled: true } } } });
    const two = settingsOfFlags({ checkpoint_config: { triggers: { shutdown: { enabled: false } } } });
    expect(mergeSettings([one, two]).settings.checkpoint_config.triggers).toEqual({
      interval: { enabled: true },
      shutdown: { enabled: false },
    });
  });
});

describe("computeTriggers", () => {
  const rulesOf = (config: JsonObject) =>
    computeTriggers(mergeSettings([settingsOfFlags({ checkpoint_config: config })]).settings.checkpoint_config);

  it("has all on but the interval", () => {
    const rules = rulesOf({});
    expect(AUTOMATIC_TRIGGERS.filter((name) => !rules[name].enabled)).toEqual(["interval"]);
    expect(rulesOf({ interval_seconds: 5 }).interval.enabled).toBe(true);
  });

  it("follows the seed's lists, and a rule of its own before them", () => {
    const rules = rulesOf({
      automatic_triggers: ["shutdown"],
      manual_triggers: [],
      triggers: { phase_completed: { min_interval_seconds: 9, when: "x" } },
    });
    expect(rules.shutdown).toEqual({ enabled: true });
    expect(rules.phase_started).toEqual({ enabled: false });
    expect(rules.user_requested).toEqual({ enabled: false });
    expect(rules.phase_completed).toEqual({ enabled: true, min_interval_seconds: 9, when: "x" });
  });
});

describe("loadSettingsFile", () => {
  it("fills variables, keeps what only a task can fill, and fills that later", async () => {
    const layer = await loadFile('checkpoint_config: {storage_path: "${ROOT:-/tmp}/{TASK}/${workflow.name}"}\n', {
      ROOT: "/data",
    });
    expect(layer?.values.checkpoint_config?.storage_path).toBe("/data/{TASK}/${workflow.name}");
    const merged = mergeSettings(layer === undefined ? [] : [layer]).settings;
    expect(resolveTaskPaths(merged, { task: "t1", workflow: "w1" }).checkpoint_config.storage_path).toBe("/data/t1/w1");
  });

  it("is nothing where there is no file, and an empty file is no setting", async () => {
    expect(await loadSettingsFile("/none.yaml", createLoaderDeps({}))).toBeUndefined();
    expect((await loadFile(""))?.values).toEqual({});
  });

  it("D7: tells unknown keys and wrong values with their place", async () => {
    const error = await refusalOf(() =>
      loadFile(
        "checkpoint_confg: {}\ncheckpoint_config: {max_checkpoint: 3, triggers: {shutdwn: {}}}\nkeys: [{type: env}]\nrecovery_config: {on_unknown: aks}\n",
      ),
    );
    expect(error.code).toBe("SETTING_INVALID");
    expect(error.message.split("\n")).toEqual([
      '/c/splashdown.config.yaml:1:1 checkpoint_confg: unknown key "checkpoint_confg" in the file (did you mean checkpoint_config?)',
      '/c/splashdown.config.yaml:2:21 checkpoint_config.max_checkpoint: unknown key "max_checkpoint" in checkpoint_config (did you mean max_checkpoints?)',
      "/c/splashdown.config.yaml:2:51 checkpoint_config.triggers.shutdwn: there is no trigger shutdwn (did you mean shutdown?)",
      "/c/splashdown.config.yaml:3:8 keys[0]: a key source of type env needs variable (add variable)",
      '/c/splashdown.config.yaml:4:31 recovery_config.on_unknown: on_unknown must be one of ask, rerun, skip, fail, it is the text "aks" (did you mean ask?)',
    ]);
  });

  it("D7: tells of key sources that lack something, have too much, or are none", async () => {
    const error = await refusalOf(() =>
      loadFile("keys: [5, {type: keyfile, path: k, variable: V}, {type: stone}, {type: command}]\n"),
    );
    const texts = error.message.split("\n").map((line) => line.replace(/^\S+ /, ""));
    expect(texts).toEqual([
      "keys[0]: keys[0] must be a map, it is the number 5 (write {type: …})",
      "keys[1].variable: variable has no meaning for a key source of type keyfile (it needs path)",
      'keys[2].type: type must be one of keyfile, passphrase, env, command, age, system, it is the text "stone"',
      "keys[3]: a key source of type command needs command (add command)",
    ]);
  });

  it("D7: names the triggers there are when one resembles none", async () => {
    const error = await refusalOf(() => loadFile("checkpoint_config: {triggers: {zzzzzz: {}}}\n"));
    expect(error.message).toContain("there is no trigger zzzzzz (triggers: ");
  });

  it("refuses a file that is too large or broken", async () => {
    expect((await refusalOf(() => loadFile("x".repeat(2 * 1024 * 1024)))).message).toContain("larger than");
    expect((await refusalOf(() => loadFile("a: [1"))).code).toBe("SETTING_INVALID");
  });
});

describe("readEnvironmentSettings", () => {
  it("types each variable as its setting is", () => {
    const layer = readEnvironmentSettings(
      lookUp({
        SPLASHDOWN_CHECKPOINT_ENABLED: "no",
        SPLASHDOWN_CHECKPOINT_CONFIG_MAX_CHECKPOINTS: "12",
        SPLASHDOWN_RECOVERY_TAKE_UP_WITHIN: "30m",
        SPLASHDOWN_CHECKPOINT_AUTOMATIC_TRIGGERS: "shutdown, interval",
        SPLASHDOWN_CHECKPOINT_TRIGGERS: '{"interval": {"enabled": true}}',
        SPLASHDOWN_PERFORMANCE_COMPRESSION_LEVEL: "",
      }),
    );
    expect(layer.values).toEqual({
      checkpoint_config: {
        enabled: false,
        max_checkpoints: 12,
        automatic_triggers: ["shutdown", "interval"],
        triggers: { interval: { enabled: true } },
      },
      recovery_config: { take_up_within: "30m" },
    });
  });

  it.each([
    [{ WORKFLOW_CHECKPOINT_BACKEND: "postgres", WORKFLOW_CHECKPOINT_DSN: "postgres://h/d" }, "postgres://h/d"],
    [{ WORKFLOW_CHECKPOINT_BACKEND: "memory" }, "memory:"],
    [{ WORKFLOW_CHECKPOINT_BACKEND: "file" }, "file:outputs"],
    [{ WORKFLOW_CHECKPOINT_BACKEND: "PostgreSQL" }, "postgres:"],
    [{ WORKFLOW_CHECKPOINT_DSN: "postgres://h/d" }, "postgres://h/d"],
    [{ WORKFLOW_CHECKPOINT_BACKEND: "sqlite" }, "sqlite:"],
    [{ WORKFLOW_CHECKPOINT_BACKEND: "sqlite", WORKFLOW_CHECKPOINT_DSN: "x.db" }, "sqlite:x.db"],
    [{ WORKFLOW_CHECKPOINT_BACKEND: "memory", SPLASHDOWN_STORE: "file:x" }, "file:x"],
  ])("takes %j for the store", (values, store) => {
    expect(readEnvironmentSettings(lookUp(values)).values.store).toBe(store);
  });

  it.each([
    { SPLASHDOWN_CHECKPOINT_ENABLED: "maybe" },
    { SPLASHDOWN_PERFORMANCE_COMPRESSION_LEVEL: "much" },
    { SPLASHDOWN_CHECKPOINT_TRIGGERS: "{" },
    { SPLASHDOWN_CHECKPOINT_TRIGGERS: "[]" },
    { SPLASHDOWN_CHECKPOINT_AUTOMATIC_TRIGGERS: "[1" },
    { SPLASHDOWN_PERFORMANCE_COMPRESSION_LEVEL: "12" },
  ])("refuses %j", (values) => {
    expect(codeOf(() => readEnvironmentSettings(lookUp(values as unknown as Record<string, string>)))).toBe(
      "SETTING_INVALID",
    );
  });
});

describe("checkSettings", () => {
  it("does not write the defaults into a layer", () => {
    const values = { checkpoint_config: { enabled: false } };
    expect(checkSettings(values, "x")).toEqual({ checkpoint_config: { enabled: false } });
  });
});

describe("notes on settings", () => {
  const merged = mergeSettings([
    settingsOfFlags(
      { performance_config: { memory_mapped_threshold_mb: 5 }, checkpoint_config: { encryption: false } },
      "flag",
    ),
  ]);

  it("D7: explain what a key cannot do in Node, when a person set it", () => {
    expect(explainSettings(merged).map((note) => note.key)).toEqual([
      "performance_config.memory_mapped_threshold_mb",
      "checkpoint_config.encryption",
    ]);
    expect(explainSettings(mergeSettings([]))).toEqual([]);
  });

  it("list every value with its origin", () => {
    const rows = listSettings(merged);
    expect(rows.find((row) => row.key === "checkpoint_config.encryption")).toMatchObject({
      value: false,
      origin: "flag",
    });
    expect(rows.find((row) => row.key === "store")).toEqual({ key: "store", value: "file:outputs", origin: "default" });
    expect(rows.length).toBeGreaterThan(20);
  });
});
