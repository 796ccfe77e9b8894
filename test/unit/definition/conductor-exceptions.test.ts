/** The table of docs/conductor.md that says where Conductor's files mean something else here: each row is shown, and none is missing. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../../src/base/json.js";
import { LIMITS } from "../../../src/base/limits.js";
import { findTemplateFault } from "../../../src/definition/templates/template-check.js";
import { renderText } from "../../../src/definition/templates/templates.js";
import type { MachineScope } from "../../../src/definition/model/workflow.js";
import { faultsOf, loadText } from "../../support/workflow-files.js";

const PAGE = readFileSync(new URL("../../../docs/conductor.md", import.meta.url), "utf8");

/** Rows of the table, by their first cell. */
function readRows(): ReadonlyMap<string, string> {
  const [, table = ""] = PAGE.split("| in Conductor | here |\n| --- | --- |\n");
  const lines = table.slice(0, table.indexOf("\n\n")).split("\n");
  return new Map(
    lines.map((line) => line.split(" | ").map((cell) => cell.replace(/^\| | \|$/g, "")) as [string, string]),
  );
}

const HEAD = "workflow: {name: w, entry_point: a}\n";
const agent = (keys: string, header = HEAD): string => `${header}agents: [{name: a, ${keys}}]\n`;
const notesOf = async (text: string): Promise<string> => (await loadText(text)).notes.join("\n");
const firstOf = async (text: string) => ((await loadText(text)).definition.root as MachineScope).children[0];
const printed = (template: string, scope = {}): string => renderText(template, scope);
const messageOf = async (text: string): Promise<string> =>
  (await faultsOf(text)).map(({ message }) => message).join("\n");

/** First words of a row → the reason in whole-files-differences.json, whose files are run by conductor-files.test.ts. */
const IN_FILES: Readonly<Record<string, string>> = {
  "`budget_usd` without": "a budget without budget_mode stops and asks",
  "`stdout`, `stderr`": "a script's own stdout, stderr and exit_code win over those that it prints",
  "items of a for-each": "keys of items are told apart, and are JSON's",
  "`outputs` of a for-each": "a failed item is null in its place",
  "a whole `{{": "a list or map of one whole expression stays one",
  "an input may have": "a value that its declared type cannot take is refused; there nothing is checked",
  "`$${NAME}`": "$${NAME} is the text ${NAME}",
  "`0b11`, `1_000`": "numbers and tags that readers of YAML do not agree on are faults that say what to write",
  "a name that nothing has":
    "a name that no step or input has is a fault of the file, also under `default` and `is defined`",
  "a condition may assign": "no assignment, bit operator, second expression or f-string is a condition",
  "`max_iterations` and": "a number in quotes and a key that nobody knows are faults of the file",
  "steps called":
    "a name that a template could not read, or that stands for something else, is a fault that says another",
  "an answer without text": "an empty answer of a model is a failure",
  "`output: {}`": "a workflow without fields in its output gives what its last step gave",
};
const reasons = new Set(
  (
    JSON.parse(
      readFileSync(new URL("../../golden/conductor/whole-files-differences.json", import.meta.url), "utf8"),
    ) as readonly { readonly why: string }[]
  ).map(({ why }) => why),
);

/** First words of a row → what shows it. */
const SHOWN: Readonly<Record<string, () => Promise<void> | void>> = {
  "a step without `retry`": async () => {
    expect(await firstOf(agent("prompt: x"))).toMatchObject({ retry: { maxAttempts: 3 } });
    expect(await firstOf(agent("type: script, command: x"))).toMatchObject({ retry: { maxAttempts: 1 } });
  },
  "`hooks` are rendered": async () => {
    const header = "workflow: {name: w, entry_point: a, hooks: {on_start: 'hi', on_error: {command: [x]}}}\n";
    const { definition } = await loadText(agent("prompt: x", header));
    expect(definition.hooks).toMatchObject({ on_start: { text: "hi" }, on_error: { step: { kind: "command" } } });
  },
  "`context.trim_strategy: summarize`": async () => {
    const header = "workflow: {name: w, entry_point: a, context: {trim_strategy: summarize}}\n";
    expect(await notesOf(agent("prompt: x", header))).toContain("no model is asked for a summary");
  },
  "`dialog`, `validator`": async () => {
    const keys =
      "dialog: {trigger_prompt: x}, validator: {criteria: x}, sandbox: {identifier_scope: agent}, skills: [s], plugins: [p]";
    const notes = await notesOf(agent(`prompt: x, ${keys}`));
    for (const key of ["dialog", "validator", "sandbox", "skills", "plugins"])
      expect(notes).toContain(`agents[0].${key}: `);
  },
  "keys, tokens, addresses and arguments in": async () => {
    const header = "workflow: {name: w, entry_point: a, runtime: {provider: {name: openai, api_key: '${KEY}'}}}\n";
    const { definition, notes } = await loadText(agent("prompt: x", header), { environment: { KEY: "t0ps3cret" } });
    expect(JSON.stringify(definition)).not.toContain("t0ps3cret");
    expect(notes.join()).not.toContain("a secret stands");
    expect(await notesOf(agent("prompt: x", header.replace("'${KEY}'", "abcdef")))).toContain(
      "a secret stands in the file",
    );
  },
  "`include`, `import`": async () => {
    for (const tag of ["{% include 'x' %}", "{% extends 'x' %}", "{% import 'x' as y %}"])
      expect(await messageOf(agent(`prompt: "${tag}"`))).toMatch(/template/);
  },
  "`random` in templates": () => {
    expect(() => printed("{{ [1, 2] | random }}")).toThrow(/a resumed run must see the same text/);
    expect(() => printed("{{ rand() }}")).toThrow(/conditions of routes only/);
  },
  "`default` and `is defined`": () => {
    expect(printed("{{ gone.output.x | default('d') }} {{ gone.output.x is defined }}")).toBe("d False");
  },
  "whole floats print": () => {
    expect(printed("{{ 4 / 2 }} {{ [1.0] }} {{ 1.0 ~ '' }} {{ 1.0 | default(2) }} {{ x }}", { x: 1 })).toBe(
      "2.0 [1.0] 1.0 1 1",
    );
  },
  "tuples, as of": () => {
    expect(printed("{{ m.items() | list }}", { m: { a: 1 } })).toBe("[['a', 1]]");
    expect(findTemplateFault("{% set a, b = 1, 2 %}")).toBeDefined();
  },
  "`1 < x < 9`": () => expect(findTemplateFault("{{ 1 < x < 9 }}")?.message).toContain("write `a < b and b < c`"),
  "`name * 3` on a text": () => {
    expect(() => printed("{{ name * 3 }}", { name: "ab" })).toThrow(/is no number/);
    expect(printed("{{ 'ab' * 3 }}")).toBe("ababab");
  },
  "`cycler`, `lipsum`": () => expect(findTemplateFault("{{ lipsum() }}")?.message).toBe("there is no function lipsum"),
  "files of any size": () => {
    expect([LIMITS.workflowYamlBytesMax, LIMITS.workflowFileBytesMax]).toEqual([1024 * 1024, 10 * 1024 * 1024]);
    expect([LIMITS.workflowTokensMax, LIMITS.workflowDepthMax, LIMITS.templateTagsMax]).toEqual([300_000, 100, 10_000]);
  },
  "a prompt that names what": async () => {
    const header = "workflow: {name: w, entry_point: a, context: {mode: explicit}, input: {i: {type: string}}}\n";
    expect(await messageOf(agent('prompt: "{{ workflow.input.i }}"', header))).toContain(
      "input does not name workflow.input.i",
    );
  },
  "merge keys": async () => {
    const text = `${HEAD}agents:\n  - &base {name: a, type: set, value: x}\n  - {<<: *base, name: b}\n`;
    const [fault] = await faultsOf(text);
    expect(fault?.suggestion).toBe("merge keys are not part of YAML 1.2; write the keys out or use one alias");
  },
  "maps keep the order": async () => {
    const { definition } = await loadText(agent("value: {z: 1, b: {y: 1, a: 2}, 10: 1, 2: 1}"));
    const [child] = (definition.root as MachineScope).children;
    const { value } = child as unknown as { readonly value: JsonValue };
    expect(printed("{{ value }} {{ value | list }}", { value })).toBe(
      "{'2': 1, '10': 1, 'z': 1, 'b': {'y': 1, 'a': 2}} ['2', '10', 'z', 'b']",
    );
    const written = "{'z': 1, 'b': 2}";
    expect(printed(`{{ ${written} }}`)).toBe(written);
    expect(printed(`{{ ${written} | list }} {% for key in ${written} %}{{ key }}{% endfor %}`)).toBe("['z', 'b'] zb");
    expect(printed("{{ value.b | tojson }}", { value })).toBe('{"a": 2, "y": 1}');
  },
  "members of a parallel group": async () => {
    const text = `workflow: {name: w, entry_point: g}\nagents:\n  - {name: a, type: script, command: x, timeout_seconds: 5, retry: {max_attempts: 2}}\n  - {name: b, type: wait, duration: 1s}\nparallel: [{name: g, agents: [a, b]}]\n`;
    await expect(loadText(text)).resolves.toBeDefined();
  },
  ...Object.fromEntries(
    Object.entries(IN_FILES).map(([words, why]) => [words, () => expect([...reasons]).toContain(why)]),
  ),
};

describe("the table of exceptions for Conductor's files", () => {
  const rows = [...readRows().keys()];
  const checkOf = (row: string) => Object.entries(SHOWN).find(([words]) => row.startsWith(words))?.[1];

  it("has rows, each with a check here, and each check has its row", () => {
    expect(rows.filter((row) => checkOf(row) === undefined)).toEqual([]);
    expect(rows).toHaveLength(Object.keys(SHOWN).length);
  });

  it.each(rows)("says what is so: %s", async (row) => {
    await checkOf(row)?.();
    expect(checkOf(row)).toBeDefined();
  });
});
