/** The reference has every key, setting, verb, code and status, each with all that it promises; `explain` finds them. */
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { ERROR_TABLE, EXIT_STATUS } from "../../../src/base/error-table.js";
import { createProgram } from "../../../src/cli/program.js";
import type { KeyEntry } from "../../../src/cli/reference/entry.js";
import { findEntries, formatEntries } from "../../../src/cli/reference/explain.js";
import { listSettings, listVariables, listWorkflowKeys } from "../../../src/cli/reference/keys.js";
import { formatReference } from "../../../src/cli/reference/pages.js";
import { listVerbs } from "../../../src/cli/reference/verbs.js";
import { codeOf } from "../../support/error-code.js";
import { readPage } from "../../support/document-pages.js";

const program = createProgram({} as never, "0.0.0");
const pages = formatReference(program, new Map([["Exports", readPage("src/index.ts")]]));
const keys = [...listWorkflowKeys(), ...listSettings()];
const named = (name: string): KeyEntry | undefined => keys.find((entry) => entry.name === name);

describe("the reference", () => {
  it("has every key with text, type, place and an example that is YAML of that key", () => {
    expect(keys.length).toBeGreaterThan(400);
    for (const { key, name, text, type, places, example } of keys) {
      expect({ name, isWhole: text !== "" && type !== "" && places.length > 0 }).toEqual({ name, isWhole: true });
      expect(Object.keys(parse(example) as object), example).toEqual([key]);
    }
  });

  it("says what a key takes, where it stands and what it is by default", () => {
    expect(named("step.effects")).toMatchObject({ type: "none | idempotent | external", required: false });
    expect(named("step.effects")?.places).toContain("phase.specialists[]");
    expect(named("step.depends_on")?.type).toBe("list of dependency or text");
    expect(named("workflow.name")).toMatchObject({ required: true, type: "text", places: ["workflow"] });
    expect(named("checkpoint_config.max_checkpoints")?.default).toBe("10");
    expect(named("retry.backoff")?.type).toBe("fixed | exponential");
  });

  it("takes examples from files that are tried, where one has the key", () => {
    expect(named("for_each")?.owner).toBe("workflow file");
    expect(named("step.for_each")?.example).toMatch(/^for_each: [\w.]+$/);
    expect(named("providers")?.example).toContain("key_command: [ pass, show, openai ]");
  });

  it("has a page for every code, status, verb and variable", () => {
    for (const code of Object.keys(ERROR_TABLE)) expect(pages.get("errors.md")).toContain(`| \`${code}\` |`);
    for (const status of Object.values(EXIT_STATUS)) expect(pages.get("errors.md")).toContain(`\n| ${status} |`);
    for (const { name } of listVerbs(program)) expect(pages.get("commands.md")).toContain(`\n## ${name}\n`);
    for (const { name } of listVariables()) expect(pages.get("settings.md")).toContain(`| \`${name}\` |`);
    expect(pages.get("library.md")).toContain("defineWorkflow");
    expect(pages.get("commands.md")).toContain("Exit status:");
  });

  it("shows tables whose cells do not break", () => {
    for (const [name, text] of pages)
      for (const table of text.matchAll(/(?:^\|.*\|\n)+/gm)) {
        const widths = table[0]
          .trim()
          .split("\n")
          .map((row) => row.replaceAll(String.raw`\|`, "").split("|").length);
        expect(new Set(widths).size, `${name}: ${table[0].slice(0, 80)}`).toBe(1);
      }
  });
});

describe("explain", () => {
  const explain = (word: string): string => formatEntries(findEntries(word, program));

  it("finds a key by its name, of one place, or all keys of an owner", () => {
    expect(explain("step.effects")).toMatch(/^step\.effects: .*\n {2}type +none \| idempotent \| external\n/);
    expect(explain("effects")).toContain("tool.effects: ");
    expect(explain("retry")).toContain("retry.max_attempts: ");
  });

  it("finds codes, statuses, verbs, settings and variables", () => {
    expect(explain("step_failed")).toContain("what to do   splashdown show TASK");
    expect(explain("22")).toContain("STEP_UNKNOWN");
    expect(explain("debug replay")).toContain("Usage: splashdown debug replay");
    expect(explain("max_checkpoints")).toContain("default      10");
    expect(explain("SPLASHDOWN_KEY_FILE")).toContain("path of the key file");
    expect(explain("SPLASHDOWN_RECOVERY_ON_UNKNOWN")).toContain("recovery_config.on_unknown");
  });

  it("names what is like a word that nothing is called", () => {
    expect(codeOf(() => findEntries("retries", program))).toBe("USAGE_INVALID");
    expect(() => findEntries("retries", program)).toThrow(/nothing is called "retries"; there are: .*retry/);
    expect(() => findEntries("zzzz", program)).toThrow(/nothing is called "zzzz"$/);
  });
});
