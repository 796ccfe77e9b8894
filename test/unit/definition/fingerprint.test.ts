import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { isJsonObject, type JsonValue } from "../../../src/base/json.js";
import { compareDefinitions } from "../../../src/definition/compare.js";
import type { WorkflowDefinition } from "../../../src/definition/model/workflow.js";
import { loadText } from "../../support/workflow-files.js";

const BASE = `workflow: {name: t, limits: {max_iterations: 9}}
steps:
  - {name: a, prompt: one, output: {x: {type: number}}}
  - {name: b, prompt: "two {{ a.output.x }}", depends_on: [a]}
  - {name: c, command: [node, c.mjs], depends_on: [b]}
  - {name: d, function: "./d.mjs#run", depends_on: [c]}
`;
const FILES = { "/work/d.mjs": "export function run() { return 1; }" };

async function load(text: string, files: Readonly<Record<string, string>> = FILES): Promise<WorkflowDefinition> {
  return (await loadText(text, { files })).definition;
}

describe("compareDefinitions", () => {
  const edit = async (change: (text: string) => string, files = FILES) =>
    compareDefinitions(await load(BASE), await load(change(BASE), files));

  it("D2: comments, layout, descriptions, versions and the order of keys change nothing", async () => {
    const found = await edit(
      (text) =>
        `# a comment\n${text.replace("{name: a, prompt: one,", "{description: said, prompt: one, name: a,").replace("name: t,", "version: 2, description: x, name: t,")}\n\n`,
    );
    expect(found).toMatchObject({ equal: true, changed: [], structure: false, policy: false });
  });

  it("D2: the order of siblings changes nothing among steps", async () => {
    const lines = BASE.trimEnd().split("\n");
    const found = await edit(() => [...lines.slice(0, 2), ...lines.slice(2).reverse()].join("\n"));
    expect(found).toMatchObject({ changed: [], added: [], removed: [], structure: false, policy: false });
  });

  const cases: readonly (readonly [string, string, string, Partial<ReturnType<typeof compareDefinitions>>])[] = [
    ["a prompt", "prompt: one", "prompt: other", { changed: ["main/a"], structure: false, policy: false }],
    ["an output schema", "type: number", "type: string", { changed: ["main/a"] }],
    ["an argument", "c.mjs]", "c.mjs, x]", { changed: ["main/c"] }],
    [
      "patience",
      "name: c,",
      "name: c, timeout: 5, retry: {max_attempts: 2},",
      { changed: [], structure: false, policy: true, equal: false },
    ],
    ["a limit", "max_iterations: 9", "max_iterations: 8", { changed: [], structure: false, policy: true }],
    ["a dependency", "depends_on: [c]", "depends_on: [b]", { changed: [], structure: true, policy: false }],
    ["a new step", "steps:\n", "steps:\n  - {name: x, value: 1}\n", { added: ["main/x"], structure: true }],
    [
      "a step that is gone",
      '  - {name: d, function: "./d.mjs#run", depends_on: [c]}\n',
      "",
      { removed: ["main/d"], structure: true },
    ],
  ];
  it.each(cases)("finds %s", async (_title, from, to, expected) => {
    expect(await edit((text) => text.replace(from, to))).toMatchObject(expected);
  });

  const GROUPED = `workflow: {name: t, input: {q: {type: string, description: said}}}
phases:
  - name: p
    specialists: [{name: a, value: 1}, {name: b, value: 2}]
    spawn: {name: more, value: 3}
    evaluate: {approve: 80, scorers: {quality: {expression: "90"}}}
    confidence: {minimum: 0.7}
    max_concurrent: 3
  - name: q
    specialists: [{name: c, value: 4}]
`;
  const NESTED = `workflow: {name: t}
steps:
  - name: m
    agents: [{name: a, value: 1, routes: [{to: b}]}, {name: b, value: 2}]
  - {name: g, parallel: [{name: c, value: 3}, {name: d, value: 4}], max_concurrent: 3}
`;
  const grouped: readonly (readonly [
    string,
    string,
    string,
    string,
    Partial<ReturnType<typeof compareDefinitions>>,
  ])[] = [
    ["the name of the workflow", GROUPED, "name: t,", "name: u,", { structure: false, policy: true }],
    ["what is said of an input", GROUPED, "said", "told", { equal: true, structure: false, policy: false }],
    ["an input's type", GROUPED, "type: string", "type: number", { policy: true }],
    ["the size of a phase", GROUPED, "max_concurrent: 3", "max_concurrent: 4", { structure: false, policy: true }],
    ["a threshold", GROUPED, "approve: 80", "approve: 81", { changed: [], structure: true, policy: false }],
    ["a confidence", GROUPED, "minimum: 0.7", "minimum: 0.6", { changed: [], structure: true, policy: false }],
    ["a scorer", GROUPED, '"90"', '"91"', { changed: ["main/p/$evaluate/quality"], structure: false }],
    ["an added specialist", GROUPED, "value: 3", "value: 5", { changed: ["main/p/more"], structure: false }],
    ["a route", NESTED, "{to: b}", "{to: b, when: 'true'}", { changed: [], structure: true }],
    ["the size of a group", NESTED, "max_concurrent: 3", "max_concurrent: 4", { structure: false, policy: true }],
    [
      "a way to fail",
      NESTED,
      "max_concurrent: 3",
      "max_concurrent: 3, failure_mode: all_or_nothing",
      { structure: true },
    ],
  ];
  it.each(grouped)("finds %s in scopes", async (_title, base, from, to, expected) => {
    const found = compareDefinitions(await load(base), await load(base.replace(from, to)));
    expect(found).toMatchObject({ equal: false, ...expected });
  });

  it("finds phases in another order, for their order is what they do", async () => {
    const [head = "", first = "", second = ""] = GROUPED.split(/(?=^  - name)/m);
    const found = compareDefinitions(await load(GROUPED), await load(head + second + first));
    expect(found).toMatchObject({ changed: [], structure: true });
  });

  it("finds a renamed step by what it does", async () => {
    const found = await edit((text) => text.replace("name: d,", "name: e,"));
    expect(found).toMatchObject({ renamed: [{ from: "main/d", to: "main/e" }], added: [], removed: [], changed: [] });
  });

  it("tells a new name alone: what waits for it, routes to it and begins with it follows", async () => {
    const ways = "workflow: {name: t, entry_point: a}\nagents:\n  - {name: a, value: 1, routes: [{to: d}]}\n";
    for (const text of [
      "workflow: {name: t}\nsteps:\n  - {name: d, value: 1, timeout: 5}\n  - {name: b, value: 2, depends_on: [d]}\n",
      `${ways}  - {name: d, value: 2, on_error: d, routes: [{to: a, when: "x == 1"}, {to: $end}]}\n`,
      `${ways.replace("entry_point: a", "entry_point: d")}  - {name: d, value: 2, routes: [{to: a, when: "x == 1"}, {to: $end}]}\n`,
    ]) {
      const found = compareDefinitions(await load(text), await load(text.replace(/\bd\b(?!:)/g, "e")));
      expect(found).toMatchObject({ renamed: [{ from: "main/d", to: "main/e" }], structure: false, policy: false });
    }
  });

  it("tells a scope that only has a new name as that, and nothing of what is in it, twins included", async () => {
    const twins = GROUPED.replace("{name: b, value: 2}", "{name: b, value: 1, timeout: 5}");
    for (const [text, from, to] of [
      [twins, "name: p\n", "p"],
      [NESTED, "name: m\n", "m"],
      [NESTED, "name: g,", "g"],
      [NESTED.replace("name: g,", "name: g, depends_on: [m],"), "name: g,", "g"],
    ] as const) {
      const found = compareDefinitions(
        await load(text),
        await load(text.replace(from, from.replace(`: ${to}`, ": new"))),
      );
      expect(found).toMatchObject({
        renamed: [{ from: `main/${to}`, to: "main/new" }],
        added: [],
        removed: [],
        changed: [],
        scopes: { added: [], removed: [] },
        structure: false,
        policy: false,
      });
    }
  });

  it("follows what waits for a scope that has a new name", async () => {
    const waiting = NESTED.replace("name: g,", "name: g, depends_on: [m],");
    const found = compareDefinitions(
      await load(waiting),
      await load(waiting.replace("name: m\n", "name: new\n").replace("[m]", "[new]")),
    );
    expect(found).toMatchObject({ renamed: [{ from: "main/m", to: "main/new" }], structure: false, policy: false });
  });

  it("names the scope that went and the one that came where they do not do the same", async () => {
    const next = GROUPED.replace("name: q", "name: r").replace("value: 4", "value: 5");
    const found = compareDefinitions(await load(GROUPED), await load(next));
    expect(found).toMatchObject({
      renamed: [],
      scopes: { added: ["main/r"], removed: ["main/q"] },
      added: ["main/r/c"],
      removed: ["main/q/c"],
      structure: true,
    });
  });

  it("tells a step that was added as that, and no other rule that changed", async () => {
    const text = "workflow: {name: t}\nsteps:\n  - {name: a, value: 1}\n";
    const found = compareDefinitions(await load(text), await load(`${text}  - {name: b, value: 2, timeout: 9}\n`));
    expect(found).toMatchObject({ added: ["main/b"], policy: false });
  });

  it("finds changed code of a function, and a changed included file", async () => {
    const changed = await edit((text) => text, { "/work/d.mjs": "export function run() { return 2; }" });
    expect(changed).toMatchObject({ changed: ["main/d"], structure: false });
    const text = "workflow: {name: t}\nsteps: [{name: a, prompt: !file p.md}]\n";
    const found = compareDefinitions(
      await load(text, { "/work/p.md": "one" }),
      await load(text, { "/work/p.md": "two" }),
    );
    expect(found.changed).toEqual(["main/a"]);
  });
});

/** Shuffles the keys of every map by the numbers given. */
function shuffleKeys(value: JsonValue, picks: readonly number[], depth = 0): JsonValue {
  if (Array.isArray(value)) return value.map((item: JsonValue) => shuffleKeys(item, picks, depth + 1));
  if (!isJsonObject(value)) return value;
  const keys = Object.keys(value);
  const order = keys.map((key, index) => ({ key, rank: picks[(index * 7 + depth * 3) % picks.length] ?? 0 }));
  order.sort((left, right) => left.rank - right.rank);
  return Object.fromEntries(order.map(({ key }) => [key, shuffleKeys(value[key] ?? null, picks, depth + 1)]));
}

const plainWord = fc.stringMatching(/^[a-z ]{0,9}$/);
const plainLeaf = fc.oneof(fc.integer(), fc.boolean(), fc.constant(null), plainWord);
const plainValue: fc.Arbitrary<JsonValue> = fc.oneof(
  plainLeaf,
  fc.array(plainLeaf, { maxLength: 3 }),
  fc.dictionary(fc.stringMatching(/^[a-z]{1,5}$/), plainLeaf, { noNullPrototype: true }),
);

const stepOf = (name: string): fc.Arbitrary<JsonValue> =>
  fc.oneof(
    fc.record({
      name: fc.constant(name),
      prompt: fc.stringMatching(/^[a-z ]{1,12}$/),
      retry: fc.record({ max_attempts: fc.integer({ min: 1, max: 5 }), jitter: fc.constant(0.2) }),
    }),
    fc.record({
      name: fc.constant(name),
      command: fc.array(fc.stringMatching(/^[a-z]{1,6}$/), { minLength: 1, maxLength: 3 }),
      env: fc.dictionary(fc.stringMatching(/^[A-Z]{1,4}$/), fc.stringMatching(/^[a-z]{0,6}$/)),
    }),
    fc.record({
      name: fc.constant(name),
      value: plainValue,
      timeout: fc.integer({ min: 1, max: 99 }),
    }),
  );

const workflows = fc.record({
  workflow: fc.record({
    name: fc.constant("t"),
    limits: fc.record({ max_iterations: fc.integer({ min: 1, max: 99 }), max_calls: fc.integer({ min: 1, max: 9 }) }),
  }),
  steps: fc.tuple(stepOf("a"), stepOf("b"), stepOf("c")),
}) as fc.Arbitrary<JsonValue>;

describe("a fingerprint", () => {
  it("D2: does not depend on the order of keys, on comments or on layout", async () => {
    await fc.assert(
      fc.asyncProperty(workflows, fc.array(fc.integer(), { minLength: 5, maxLength: 9 }), async (workflow, picks) => {
        const plain = await load(JSON.stringify(workflow));
        const other = await load(`# comment\n${stringify(shuffleKeys(workflow, picks), { indent: 4 })}\n# end\n`);
        expect(other.fingerprint).toBe(plain.fingerprint);
        expect(compareDefinitions(plain, other)).toMatchObject({
          equal: true,
          changed: [],
          structure: false,
          policy: false,
        });
      }),
      { numRuns: 60 },
    );
  });

  it("loading the same text twice gives the same definition", async () => {
    await fc.assert(
      fc.asyncProperty(workflows, async (workflow) => {
        const text = JSON.stringify(workflow);
        expect(await load(text)).toEqual(await load(text));
      }),
      { numRuns: 30 },
    );
  });
});
