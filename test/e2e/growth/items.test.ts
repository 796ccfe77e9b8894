/** Many items, failing items, and nested workflows that are killed: what each costs, and what the end says. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/base/json.js";
import type { RunView } from "../../../src/runtime/contract.js";
import { LIBRARY, PROJECT_FOLDER } from "../../support/built-program.js";
import { openPlace } from "../../support/command-place.js";
import { countRecords, runKilledAt } from "../../support/killed-run.js";

const each = (agent: string, rest = "") => `workflow: {name: many, entry_point: each, input: {list: {type: array}}}
agents: []
for_each:
  - {name: each, type: for_each, source: workflow.input.list, as: it, max_concurrent: 64, ${rest} agent: ${agent}}
output: {count: "{{ each.count }}", outputs: "{{ each.outputs }}", errors: "{{ each.errors }}"}
`;
const listOf = (count: number) => JSON.stringify({ list: Array.from({ length: count }, (_none, index) => index) });

describe("for_each", () => {
  it("of 2,000 items with a window of 64 writes two records per item, and as much around them as for 20", async () => {
    const place = openPlace();
    place.write("wf.yaml", each('{name: w, type: set, value: "{{ it }}"}'));
    const around: number[] = [];
    for (const count of [20, 2000]) {
      place.write("in.json", listOf(count));
      const run = await place.run(["run", "wf.yaml", "--inputs", "in.json", "--task", `t${count}`, "--json"]);
      expect(run.json<RunView>()).toMatchObject({ exit_status: 0, output: { count } });
      around.push(countRecords(place, `t${count}`) - 2 * count);
    }
    expect(around[1]).toBe(around[0]);
  });

  it("FAULTS 5: keeps a slot for each item, names those that failed, and ends with 3", async () => {
    const place = openPlace();
    const script = `{name: w, type: script, command: sh, args: [-c, 'if [ {{ it }} = 3 ]; then echo no; else echo "{\\"n\\": {{ it }}}"; fi'], effects: none, output: {n: {type: number}}}`;
    place.write("wf.yaml", each(script, "failure_mode: continue_on_error,"));
    place.write("in.json", listOf(10));
    const run = await place.run(["run", "wf.yaml", "--inputs", "in.json", "--task", "t", "--json"]);
    expect(run.code).toBe(3);
    const { outputs, errors, count } = run.json<RunView>().output as Record<string, unknown>;
    expect(outputs).toMatchObject(Array.from({ length: 10 }, (_none, n) => (n === 3 ? null : { n })));
    expect([count, Object.keys(errors as object)]).toEqual([10, ["3"]]);
  });
});

describe("a nested workflow", () => {
  it("FAULTS 29: killed three levels deep goes on there, and repeats nothing that is done", async () => {
    const place = openPlace();
    const step = (name: string, to = "") =>
      `{name: ${name}, type: script, command: sh, args: [-c, "echo ${name} >> '{{ workflow.dir }}/ledger'"], effects: idempotent${to}}`;
    const file = (name: string, sub: string) =>
      `workflow: {name: ${name}, entry_point: ${name}1}\nagents:\n  - ${step(`${name}1`, `, routes: [{to: ${name}sub}]`)}\n  - ${sub}\n  - ${step(`${name}3`)}\n`;
    const nested = (name: string, path: string) =>
      `{name: ${name}sub, type: workflow, workflow: ${path}, routes: [{to: ${name}3}]}`;
    place.write("c.yaml", file("c", step("csub", ", routes: [{to: c3}]")));
    place.write("b.yaml", file("b", nested("b", "c.yaml")));
    place.write("a.yaml", file("a", nested("a", "b.yaml")));
    expect((await place.run(["run", "a.yaml", "--task", "whole"])).code).toBe(0);
    const whole = ["a1", "b1", "c1", "csub", "c3", "b3", "a3"];
    expect(place.ledger()).toEqual(whole);
    const point = Math.floor(countRecords(place, "whole") / 2);
    expect((await runKilledAt(place, `record:${point}`, ["run", "a.yaml", "t"])).signal).toBe("SIGKILL");
    const done = place.ledger().slice(whole.length);
    expect((await place.run(["resume", "t"])).code).toBe(0);
    const all = place.ledger().slice(whole.length);
    // Only the step that was under way may stand twice: it is declared idempotent.
    expect([...new Set(all)]).toEqual(whole);
    expect(all.length - whole.length).toBeLessThanOrEqual(1);
    expect(all.slice(0, done.length)).toEqual(done);
  });
});

const FUNCTION_ITEMS = join(PROJECT_FOLDER, "test/support/programs/function-items.mjs");
const FUNCTION_ITEMS_WORKFLOW = join(PROJECT_FOLDER, "proof/measures/function-items.mjs");
const MIB = 2 ** 20;
/** For the whole process of the command. */
const COMMAND_MIB_MAX = 150;
/** For a program that uses the library: how far its heap grows is its own matter. */
const RESIDENT_MIB_MAX = 256;

describe("items that are functions, each of which fires a checkpoint", () => {
  // Whether V8 has collected by then is the machine's matter: of three runs one must stay within.
  it(
    "[reliability 5] 10,000 of ten bytes stay within 150 MiB in the process of the command",
    { retry: 2 },
    async () => {
      const place = openPlace();
      place.write("in.json", listOf(10_000));
      const args = ["run", FUNCTION_ITEMS_WORKFLOW, "--inputs", "in.json", "--task", "t", "--quiet", "--json"];
      const { code, stderr, json } = await place.run(args);
      expect({ code, output: json<RunView>().output }).toEqual({ code: 0, output: { count: 10_000 } });
      const { peakBytes } = JSON.parse(stderr.trim().split("\n").at(-1) ?? "") as { peakBytes: number };
      expect(peakBytes / MIB).toBeLessThan(COMMAND_MIB_MAX);
    },
  );

  it.each([
    {
      title: "[reliability 5 kin] 10,000 of ten bytes stay resident within a number",
      items: 10_000,
      bytes: 10,
      heapMb: 192,
    },
    {
      title: "[reliability 5 kin] 2,000 of 8 KB come to their end in a heap of 96 MB",
      items: 2_000,
      bytes: 8_000,
      heapMb: 96,
    },
  ])("$title", async ({ items, bytes, heapMb }) => {
    const place = openPlace();
    const args = [`--max-old-space-size=${heapMb}`, FUNCTION_ITEMS, LIBRARY, String(items), String(bytes)];
    const { code, stderr, json } = await place.run(args, { program: process.execPath });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const { status, output, residentMiB } = json<{ status: string; output: JsonObject; residentMiB: number }>();
    expect({ status, output }).toEqual({ status: "done", output: { count: items } });
    expect(residentMiB).toBeLessThan(RESIDENT_MIB_MAX);
  });
});

const MANY_ITEMS = join(PROJECT_FOLDER, "test/support/programs/many-items.mjs");
const ITEMS = 10_000;
const KIB = 1024;

interface Measured {
  readonly status: string;
  readonly output: JsonObject;
  /** After each tenth of the steps, garbage collected. Units: bytes. */
  readonly heap: readonly number[];
}

describe("the memory of a for_each of 10,000 items with a window of 64", () => {
  const inner = `workflow: {name: inner, entry_point: a, input: {it: {type: number}}}
agents:
  - {name: a, type: set, value: "{{ workflow.input.it }}", routes: [{to: b}]}
  - {name: b, type: set, value: "{{ a.output + 1 }}"}
output: {n: "{{ b.output }}", seen: "{{ context.history | length }}"}
`;
  const sub = '{name: sub, type: workflow, workflow: inner.yaml, input_mapping: {it: "{{ it }}"}}';

  it.each([
    {
      what: "a step",
      agent: '{name: w, type: set, value: "{{ it }}"}',
      steps: 1,
      kib: 4,
      heapMb: 128,
      last: ITEMS - 1,
    },
    { what: "a nested workflow of two", agent: sub, steps: 2, kib: 9, heapMb: 192, last: { n: ITEMS, seen: 2 } },
  ])(
    "$what each: grows by at most $kib KiB for each that is done, the last as little as the first, in a heap of $heapMb MB",
    async ({ agent, steps, kib, heapMb, last }) => {
      const place = openPlace();
      place.write("inner.yaml", inner);
      const workflow = place.write(
        "wf.yaml",
        each(agent)
          .replace("input:", "limits: {max_iterations: 100000}, input:")
          .replace(/output:.*/, 'output: {count: "{{ each.count }}", last: "{{ each.outputs[-1] }}"}'),
      );
      const args = [
        "--expose-gc",
        `--max-old-space-size=${heapMb}`,
        MANY_ITEMS,
        LIBRARY,
        workflow,
        String(ITEMS),
        String(steps),
      ];
      const { code, stderr, json } = await place.run(args, { program: process.execPath });
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      const { status, output, heap } = json<Measured>();
      expect({ status, output }).toEqual({ status: "done", output: { count: ITEMS, last } });
      const [first = 0, early = 0, middle = 0, late = 0] = [heap[0], heap[1], heap[5], heap[9]];
      expect((late - first) / (ITEMS * 0.9)).toBeLessThan(kib * KIB);
      expect((late - middle) / (middle - early)).toBeLessThan(1.3);
    },
  );
});
