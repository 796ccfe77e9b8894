import { describe, expect, it } from "vitest";
import type { JsonObject, JsonValue } from "../../../src/base/json.js";
import { LIMITS } from "../../../src/base/limits.js";
import type { ForEachScope, NodeDefinition } from "../../../src/definition/model/workflow.js";
import { done, EngineHarness, failed, type HarnessOptions } from "../../support/engine-harness.js";
import { checkState } from "../../support/state-check.js";
import {
  command,
  dag,
  forEach,
  machine,
  model,
  nested,
  set,
  undeclared,
  workflow,
} from "../../support/workflow-builder.js";

const MODES = ["fail_fast", "continue_on_error", "all_or_nothing"] as const;
const letters = ["a", "b", "c", "d", "e"];

interface Given extends HarnessOptions {
  readonly items?: JsonValue;
  readonly each?: Partial<Omit<ForEachScope, "node" | "scope" | "name" | "children">>;
  readonly body?: NodeDefinition;
}

function harnessOf({ items = letters, each = {}, body = model("w"), ...options }: Given = {}): EngineHarness {
  const definition = workflow(machine("root", [forEach("each", body, each)]));
  return new EngineHarness(definition, { inputs: { items }, ...options });
}

/** Gives every step the key of its item. */
const byItem = (step: { readonly path: string }) => done(step.path.slice(step.path.indexOf("[") + 1, -1));

describe("a for_each", () => {
  it("does its body once per item and gives the outputs in the order of the items, whoever ends first", () => {
    const harness = harnessOf({ perform: byItem, pick: (running) => running.length - 1, each: { maxConcurrent: 3 } });
    expect(harness.run().end).toBe("done");
    expect(harness.output).toEqual({
      type: "for_each",
      outputs: ["0", "1", "2", "3", "4"],
      errors: {},
      count: 5,
      states: ["done", "done", "done", "done", "done"],
    });
    expect(harness.step("root/each/w[3]").name).toBe("w");
  });

  it("keeps a window: as soon as one ends the next begins, and no more run than were allowed", () => {
    const harness = harnessOf({ each: { maxConcurrent: 2 } });
    harness.start();
    expect(harness.running.map((step) => step.path)).toEqual(["root/each/w[0]", "root/each/w[1]"]);
    harness.performOne();
    expect(harness.running.map((step) => step.path)).toEqual(["root/each/w[1]", "root/each/w[2]"]);
    checkState(harness.state);
  });

  it("shows the item by its name, its index and its key to the body", () => {
    const works: JsonValue[] = [];
    const body = model("w", { input: { n: "{{ item.n }}", at: "{{ _index }}", key: "{{ _key }}", all: "{{ item }}" } });
    const harness = harnessOf({
      items: [
        { n: 1, id: "x/1" },
        { n: 2, id: "y[2]" },
      ],
      each: { keyBy: "id" },
      body,
      perform: (_step, work) => (works.push(work["input"] ?? null), done(null)),
    });
    expect(harness.run().end).toBe("done");
    expect(works).toEqual([
      { n: 1, at: 0, key: "x/1", all: { n: 1, id: "x/1" } },
      { n: 2, at: 1, key: "y[2]", all: { n: 2, id: "y[2]" } },
    ]);
    expect(harness.step("root/each/w[x%2f1]").status).toBe("completed");
  });

  it("shows the item also to a body that is called as the item is", () => {
    const works: JsonValue[] = [];
    const body = model("item", { input: { n: "{{ item.n }}" } });
    const perform: HarnessOptions["perform"] = (_step, work) => (works.push(work["input"] ?? null), done(null));
    expect(harnessOf({ items: [{ n: 1 }, { n: 2 }], body, perform }).run().end).toBe("done");
    expect(works).toEqual([{ n: 1 }, { n: 2 }]);
  });

  it("has no key where items are known by their index", () => {
    const harness = harnessOf({ body: model("w", { input: { key: "{{ _key }}" } }) });
    expect(harness.run().reason).toContain("TEMPLATE_FAILED");
  });

  it("with key_by gives a map; an item without that key is known by its index, and a key that came before loses nothing", () => {
    const items = [{ id: "a" }, { id: "a" }, { other: 1 }, { id: null }, { id: "a#2" }, { id: 7 }, "text"];
    const harness = harnessOf({ items, each: { keyBy: "id" }, perform: byItem });
    harness.run();
    const { outputs, count } = harness.output as JsonObject;
    expect(Object.keys(outputs as JsonObject).sort()).toEqual(["2", "3", "6", "7", "a", "a#2", "a#3"]);
    expect(count).toBe(7);
  });

  it("takes the key from deeper down", () => {
    const harness = harnessOf({ items: [{ a: { id: "x" } }], each: { keyBy: "a.id" }, perform: byItem });
    harness.run();
    expect(harness.output).toMatchObject({ outputs: { x: "x" }, states: { x: "done" } });
  });

  it("of no items is done at once, in every failure mode", () => {
    for (const failureMode of MODES) {
      const harness = harnessOf({ items: [], each: { failureMode } });
      expect(harness.run().end).toBe("done");
      expect(harness.output).toEqual({ type: "for_each", outputs: [], errors: {}, count: 0, states: [] });
      expect(harness.performed).toEqual([]);
    }
  });

  it("takes JSON text for the list in it", () => {
    const harness = harnessOf({ items: '["x", "y"]', body: model("w", { input: { it: "{{ item }}" } }) });
    harness.run();
    expect(harness.output).toMatchObject({ count: 2, states: ["done", "done"] });
  });

  it("reads the outputs of a group before it", () => {
    const first = dag("first", [model("x"), model("y")], { routes: [{ to: "each" }] });
    const second = forEach("each", model("w"), { source: "{{ first.outputs.x.list }}" });
    const harness = new EngineHarness(workflow(machine("root", [first, second])), {
      perform: (step) => done({ list: [step.path] }),
    });
    harness.run();
    expect(harness.output).toMatchObject({ count: 1, outputs: [{ list: ["root/each/w[0]"] }] });
  });

  it.each([
    ["a text", "no list", 'a text: "no list"'],
    ["a map", { a: 1 }, 'a map: {"a":1}'],
    ["a number", 3, "a number: 3"],
    ["nothing", null, "null"],
  ] as const)("refuses a source that is %s, by name, and goes on when a resume finds a list", (_what, items, said) => {
    const harness = harnessOf({ items });
    const closed = harness.run();
    expect([closed.end, closed.exitStatus]).toEqual(["failed", 4]);
    expect(closed.reason).toContain("ITEMS_INVALID");
    expect(closed.reason).toContain(`the source of each ({{ workflow.input.items }}) is no list but ${said}`);
    checkState(harness.state);
    const mended = workflow(machine("root", [forEach("each", model("w"), { source: ["x"] })]), { fingerprint: "w1" });
    harness.resume({ definition: mended });
    expect(harness.finish().end).toBe("done");
    expect(harness.output).toMatchObject({ count: 1 });
    checkState(harness.state);
  });

  it("refuses more items than its limit", () => {
    const many = harnessOf({ items: Array.from({ length: LIMITS.forEachItemsMax + 1 }, () => 0) });
    expect(many.run().reason).toContain(`has ${LIMITS.forEachItemsMax + 1} items; at most ${LIMITS.forEachItemsMax}`);
  });

  it("[kinds F19 kin] knows an item of a key that is too long by its beginning and a digest", () => {
    const key = "k".repeat(LIMITS.itemKeyCharsMax);
    const ids = [`${key}a`, `${key}b`, `${key}a`, key];
    const long = harnessOf({ items: ids.map((id) => ({ id })), each: { keyBy: "id" } });
    expect(long.run().end).toBe("done");
    const keys = Object.keys((long.output as { outputs: object }).outputs);
    expect(keys).toHaveLength(4);
    expect(keys[0]).toMatch(/^k{160}…[0-9a-f]{16}$/);
    expect(keys[2]).toBe(`${keys[0] ?? ""}#2`);
    expect(keys[3]).toBe(key);
    checkState(long.state);
  });

  it("fails into its on_error route when its source is no list", () => {
    const each = forEach("each", model("w"), { onError: "mend" });
    const harness = new EngineHarness(workflow(machine("root", [each, model("mend")])), { inputs: { items: 1 } });
    expect(harness.run().end).toBe("done");
    expect(harness.performed).toEqual(["mend#1"]);
  });

  it("is visited anew in a loop: items of the second visit are second visits, and see nothing of the first", () => {
    const each = forEach(
      "each",
      dag("w", [set("x", { value: "{{ y.output | default('none') }}" }), model("y", { dependsOn: ["x"] })]),
      {
        routes: [{ to: "judge" }],
      },
    );
    const judge = model("judge", { routes: [{ to: "each", when: "{{ judge.output < 2 }}" }, { to: "$end" }] });
    let judged = 0;
    const values: JsonValue[] = [];
    const harness = new EngineHarness(workflow(machine("root", [each, judge])), {
      inputs: { items: ["p", "q"] },
      perform: (step, work) => {
        if (step.name === "x") values.push(work["value"] ?? null);
        return done(step.name === "judge" ? ++judged : step.name);
      },
    });
    expect(harness.run().end).toBe("done");
    expect(harness.step("root/each/w[1]/y", 2).status).toBe("completed");
    expect(values).toEqual(["none", "none", "none", "none"]);
    checkState(harness.state);
  });

  it("counts its items against the iterations, and is not stopped by them in its midst", () => {
    const definition = workflow(
      machine("root", [forEach("each", model("w"), { routes: [{ to: "after" }] }), model("after")]),
      {
        limits: { maxIterations: 3 },
      },
    );
    const harness = new EngineHarness(definition, { inputs: { items: letters } });
    const closed = harness.run();
    expect(closed.exitStatus).toBe(21);
    expect(harness.performed).toHaveLength(5);
    const [question] = harness.openQuestions;
    harness.resume();
    harness.answer(question!, "extend", { iterations: 3 });
    expect(harness.finish().end).toBe("done");
  });
});

describe("a for_each in which an item fails", () => {
  const second = (step: { path: string }) => (step.path.includes("[1]") ? failed("no") : done("ok"));
  const error = { item_key: "1", exception_type: "STEP_FAILED", message: "no", suggestion: null };

  it("fail_fast begins nothing more, ends what runs, and a resume does only the rest", () => {
    let isBroken = true;
    const harness = harnessOf({
      each: { maxConcurrent: 3 },
      perform: (step) =>
        isBroken && step.path.includes("[1]")
          ? failed("no")
          : step.path.includes("[2]") && isBroken
            ? undefined
            : done("ok"),
    });
    expect(harness.run().end).toBe("failed");
    expect(harness.state.steps.get("root/each/w[2]@1.1" as never)?.status).toBe("cancelled");
    expect(harness.of("step_intended").map((event) => event.path)).not.toContain("root/each/w[4]");
    checkState(harness.state);
    isBroken = false;
    harness.resume();
    expect(harness.finish().end).toBe("done");
    expect(harness.output).toMatchObject({ outputs: ["ok", "ok", "ok", "ok", "ok"] });
    expect([...harness.performed].sort()).toEqual(["w#1", "w#1", "w#1", "w#2", "w#2", "w#2"]);
  });

  it("continue_on_error does all others, leaves a hole that is named, and ends partial", () => {
    const harness = harnessOf({ each: { failureMode: "continue_on_error", maxConcurrent: 2 }, perform: second });
    const closed = harness.run();
    expect([closed.end, closed.exitStatus]).toEqual(["partial", 3]);
    expect(harness.output).toEqual({
      type: "for_each",
      outputs: ["ok", null, "ok", "ok", "ok"],
      errors: { "1": error },
      count: 5,
      states: ["done", "failed", "done", "done", "done"],
    });
  });

  it("continue_on_error fails only when every item has failed", () => {
    const harness = harnessOf({ each: { failureMode: "continue_on_error" }, perform: () => failed("no") });
    expect(harness.run().end).toBe("failed");
  });

  it("all_or_nothing does all, then fails; a resume repeats only what failed", () => {
    let isBroken = true;
    const harness = harnessOf({
      each: { failureMode: "all_or_nothing" },
      perform: (step) => (isBroken ? second(step) : done("mended")),
    });
    expect(harness.run().end).toBe("failed");
    expect(harness.performed).toHaveLength(5);
    isBroken = false;
    harness.resume();
    expect(harness.finish().end).toBe("done");
    expect(harness.output).toMatchObject({ outputs: ["ok", "mended", "ok", "ok", "ok"] });
    checkState(harness.state);
  });

  it("names the step below that failed, where the body is a scope", () => {
    const body = dag("w", [model("x"), command("y", { dependsOn: ["x"], effects: "none" })]);
    const harness = harnessOf({
      items: ["p", "q"],
      body,
      each: { failureMode: "continue_on_error" },
      perform: (step) => (step.path === "root/each/w[1]/y" ? failed("y broke", { code: "STEP_TIMEOUT" }) : done("ok")),
    });
    expect(harness.run().end).toBe("partial");
    expect(harness.output).toMatchObject({
      errors: { "1": { item_key: "1", exception_type: "STEP_TIMEOUT", message: "y broke" } },
      states: ["done", "failed"],
    });
  });

  it("goes into its on_error route with what there is, all items accounted for", () => {
    const each = forEach("each", model("w"), { onError: "mend", maxConcurrent: 2 });
    const harness = new EngineHarness(workflow(machine("root", [each, set("mend", { value: "{{ each.states }}" })])), {
      inputs: { items: letters },
      perform: (step, work) => (step.name === "mend" ? done(work["value"] ?? null) : second(step)),
    });
    expect(harness.run().end).toBe("done");
    expect(harness.output).toEqual(["done", "failed", "unreached", "unreached", "unreached"]);
  });
});

describe("a for_each after a crash", () => {
  it("goes on with the items that are not done, each in its place", () => {
    const harness = harnessOf({ each: { maxConcurrent: 2 }, perform: byItem });
    harness.start();
    for (let at = 0; at < 3; at += 1) harness.performOne();
    const next = harness.crash();
    checkState(next.state);
    next.resume();
    expect(next.finish().end).toBe("done");
    expect(next.output).toMatchObject({ outputs: ["0", "1", "2", "3", "4"] });
    expect(new Set([...harness.performed, ...next.performed]).size).toBeLessThanOrEqual(2);
    expect(harness.performed.length + next.performed.length).toBe(5);
  });

  it("asks about the items that may have acted, and only they wait", () => {
    const harness = harnessOf({ body: undeclared("w"), each: { maxConcurrent: 2 }, perform: byItem });
    harness.start();
    harness.performOne();
    const next = harness.crash();
    next.resume();
    expect(next.openQuestions.map((question) => question.step)).toEqual(["root/each/w[1]@1.1", "root/each/w[2]@1.1"]);
    expect(next.finish().exitStatus).toBe(22);
    next.resume();
    for (const open of next.openQuestions) next.answer(open, open.step?.includes("[1]") === true ? "skip" : "rerun");
    expect(next.finish().exitStatus).toBe(3);
    expect(next.output).toMatchObject({
      outputs: ["0", null, "2", "3", "4"],
      states: ["done", "skipped", "done", "done", "done"],
    });
  });

  it("keeps its items as they were chosen, and a changed body begins only what is not done", () => {
    const harness = harnessOf({ each: { maxConcurrent: 2 }, perform: byItem });
    harness.start();
    harness.performOne();
    const next = harness.crash();
    const body = dag("w", [model("x")]);
    next.resume({ definition: workflow(machine("root", [forEach("each", body, { maxConcurrent: 2, source: [] })])) });
    checkState(next.state);
    expect(next.finish().end).toBe("done");
    expect(next.output).toMatchObject({ count: 5, states: ["done", "done", "done", "done", "done"] });
  });
});

describe("for_each and large lists", () => {
  it("E5: an item that has not started is nowhere in the state but in the list", () => {
    const harness = harnessOf({
      items: Array.from({ length: 2_000 }, (_unused, at) => at),
      each: { maxConcurrent: 64 },
    });
    harness.start();
    for (let at = 0; at < 500; at += 1) {
      harness.performOne();
      const { state } = harness;
      const frontier = state.frontier.get("root/each");
      expect(state.open.size).toBe(64);
      expect((frontier?.ready.length ?? 0) + (frontier?.waiting.size ?? 0)).toBe(0);
      expect(state.steps.size).toBe(64 + at + 1);
      expect(state.visits.size).toBe(64 + at + 1 + 2);
    }
  });
});

describe("a nested workflow as an item", () => {
  it("runs its own steps with its own inputs, and gives its output", () => {
    const inner = machine("root", [
      model("draft", { input: { topic: "{{ workflow.input.topic }}" }, routes: [{ to: "check" }] }),
      model("check", { input: { seen: "{{ draft.output }}" } }),
    ]);
    const body = nested("w", inner, {
      inputs: { topic: { type: "string", required: true } },
      inputMapping: { topic: "{{ item }}" },
      output: { done: "{{ check.output }}" },
    });
    const harness = harnessOf({
      items: ["p", "q"],
      body,
      perform: (step, work) => done(`${step.name}:${JSON.stringify(work["input"])}`),
    });
    expect(harness.run().end).toBe("done");
    expect(harness.output).toMatchObject({
      outputs: [
        { done: 'check:{"seen":"draft:{\\"topic\\":\\"p\\"}"}' },
        { done: 'check:{"seen":"draft:{\\"topic\\":\\"q\\"}"}' },
      ],
    });
  });
});
