/** What a step returns comes back equal after a kill, or is refused when it is saved, with its path. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { LIBRARY } from "../../support/built-program.js";
import { until } from "../../support/real-clock.js";
import { Place, readLedger, removePlaces, requireEnded } from "./place.js";

afterAll(removePlaces);

/** Source text of each value that must come back, by name. Each stands three deep, in a map and a list. */
const KEPT: Readonly<Record<string, string>> = {
  date: "new Date(1700000000123)",
  early_date: "new Date(-8640000000000000)",
  bigint: "2n ** 80n + 1n",
  negative_bigint: "-(2n ** 64n)",
  map: "new Map([['a', 1], [2, new Map([['b', new Date(5)]])]])",
  set: "new Set([1, 'two', 3n])",
  bytes: "new Uint8Array([0, 255, 10, 13])",
  nan: "NaN",
  infinity: "Infinity",
  minus_infinity: "-Infinity",
  minus_zero: "-0",
  surrogate: "'\\ud800 alone'",
  emoji: "'👩‍🚀 and ‮text'",
  nul: "'a\\u0000b'",
  long_number: "9007199254740994",
  id_text: "'1234567890123456789'",
  tag_like: "({ $t: 'date', v: 'not one' })",
  missing_field: "({ here: 1, gone: undefined })",
  null_value: "null",
  no_prototype: "Object.assign(Object.create(null), { a: 1 })",
  large: "'x'.repeat(300 * 1024) + 'end'",
};

/** What must be refused, with the path that the refusal names. */
const REFUSED: Readonly<Record<string, readonly [source: string, path: string]>> = {
  invalid_date: ["new Date(NaN)", "outer"],
  undefined_in_list: ["[1, undefined]", "outer"],
  hole_in_list: ["[1, , 3]", "outer"],
  cycle: ["(() => { const a = {}; a.self = a; return a; })()", "self"],
  code: ["() => 1", "outer"],
  symbol: ["Symbol('s')", "outer"],
  error: ["new Error('it broke', { cause: new Error('deep') })", "outer"],
  instance: ["new (class Odd { x = 1 })()", "outer"],
  accessor: ["({ get x() { return 1; } })", "x"],
  proto_key: ['JSON.parse(\'{"__proto__": {"a": 1}}\')', "__proto__"],
  regexp: ["/a/", "outer"],
  promise: ["Promise.resolve(1)", "outer"],
};

/** The step functions; \`wrap\` puts a value three deep. */
function writeModule(place: Place, name: string, body: string): string {
  return place.write(
    name,
    `import assert from "node:assert/strict";
import { appendFileSync, existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { defineWorkflow } from ${JSON.stringify(LIBRARY)};
const wrap = (value) => ({ outer: new Map([["inner", [value]]]) });
const folder = ${JSON.stringify(place.path("project"))};
${body}
`,
  );
}

describe("values of a step", () => {
  let report: Record<string, string>;
  let runs: number;

  beforeAll(async () => {
    const place = new Place();
    const names = Object.keys(KEPT);
    const file = writeModule(
      place,
      "kept.mjs",
      `const values = { ${names.map((name) => `${name}: () => (${KEPT[name]})`).join(", ")} };
const names = Object.keys(values);
const compare = (name, outputs) => {
  try {
    const expected = name === "missing_field" ? { here: 1 } : values[name]();
    const found = outputs[name].outer.get("inner")[0];
    assert.deepEqual(Object.keys(outputs[name]), ["outer"]);
    if (typeof expected === "object" && expected !== null && Object.getPrototypeOf(expected) === null) assert.deepEqual({ ...found }, { ...expected });
    else assert.deepStrictEqual(found, expected);
    return "equal";
  } catch (error) {
    return String(error.message ?? error);
  }
};
export default defineWorkflow({
  workflow: { name: "kept", limits: { max_iterations: 100 } },
  steps: [
    ...names.map((name) => ({ name, effects: "none", function: () => { appendFileSync(folder + "/ledger.txt", name + "\\n"); return wrap(values[name]()); } })),
    { name: "hold", effects: "none", depends_on: names, function: async () => {
      appendFileSync(folder + "/ledger.txt", "hold\\n");
      while (!existsSync(folder + "/go")) await sleep(10);
      return {};
    } },
    { name: "check", effects: "none", depends_on: ["hold", ...names], input: Object.fromEntries(names.map((name) => [name, "{{ " + name + ".output }}"])),
      function: (context) => Object.fromEntries(names.map((name) => [name, compare(name, context.outputs)])) },
  ],
  output: { report: "{{ check.output }}" },
});`,
    );
    const running = place.start(["run", file, "--task", "kept", "--json"]);
    await until("every value is saved", () => readLedger(place).includes("hold") || running.child.exitCode !== null);
    running.child.kill("SIGKILL");
    await running.done;
    place.write("go", "");
    const resumed = await place.run(["resume", "kept", "--json"]);
    report = requireEnded<{ output: { report: Record<string, string> } }>(resumed, 0).output.report;
    runs = readLedger(place).filter((line) => line === "date").length;
  });

  it("are made once", () => {
    expect(runs).toBe(1);
  });

  it.each(Object.keys(KEPT))("come back equal after a kill: %s", (name) => {
    expect(report[name]).toBe("equal");
  });
});

describe("values that cannot be kept", () => {
  let ended: object;
  let errors: Map<string, { code: string; message: string }>;

  beforeAll(async () => {
    const place = new Place();
    const names = Object.keys(REFUSED);
    const file = writeModule(
      place,
      "refused.mjs",
      `const values = { ${names.map((name) => `${name}: () => (${REFUSED[name]?.[0]})`).join(", ")} };
export default defineWorkflow({
  workflow: { name: "refused", entry_point: "all", limits: { max_iterations: 100 } },
  agents: Object.keys(values).map((name) => ({ name, effects: "none", function: () => wrap(values[name]()) })),
  parallel: [{ name: "all", failure_mode: "continue_on_error", agents: Object.keys(values), routes: [{ to: "$end" }] }],
});`,
    );
    ended = requireEnded(await place.run(["run", file, "--task", "refused", "--json"]), 4);
    const shown = await place.run(["show", "refused", "--json"]);
    const { steps } = shown.json<{ steps: { path: string; error?: { code: string; message: string } }[] }>();
    errors = new Map(
      steps.map(({ path, error }) => [path.split("/").at(-1) ?? "", error ?? { code: "none", message: "" }]),
    );
  });

  it("fail every one of their steps", () => {
    expect(ended).toMatchObject({ status: "failed", steps: { done: 0, failed: Object.keys(REFUSED).length } });
  });

  it.each(Object.keys(REFUSED))("are refused when they are saved, with their path: %s", (name) => {
    const error = errors.get(name);
    expect(error?.code).toBe("VALUE_UNSUPPORTED");
    expect(error?.message).toContain(REFUSED[name]?.[1] ?? "?");
  });
});
