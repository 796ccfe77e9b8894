import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/base/json.js";
import { evolve } from "../../../src/engine/fold/evolve.js";
import { encodeForReturn, encodeWhole } from "../../../src/engine/fold/restore-state.js";
import { createState } from "../../../src/engine/model/state.js";
import { decodeSections } from "../../../src/engine/model/state-sections.js";
import { done, EngineHarness, TASK_ID } from "../../support/engine-harness.js";
import {
  command,
  forEach,
  machine,
  model,
  phase,
  phases,
  scorer,
  set,
  workflow,
} from "../../support/workflow-builder.js";
import { listGuidance, findListeners } from "../../../src/engine/model/told-guidance.js";

const AT = "2026-01-01T00:00:00.000Z";

function tell(harness: EngineHarness, text: string, more: { readonly path?: string; readonly id?: string } = {}): void {
  harness.submit({ kind: "message", message: { kind: "guidance", text, by: "ann", at: AT, ...more } });
}

/** a → b → c, of which `a` runs; `works` is what each step was to do. */
function midway() {
  const works = new Map<string, JsonObject>();
  const harness = new EngineHarness(
    workflow(
      machine("main", [
        model("a", { routes: [{ to: "b" }] }),
        command("b", { effects: "none", routes: [{ to: "c" }] }),
        set("c", { value: 1 }),
      ]),
    ),
    { perform: () => undefined },
  );
  harness.start();
  const goOn = (): void => {
    harness.perform = (step, work) => {
      works.set(step.name, work);
      return done({ did: step.name });
    };
    harness.finish();
  };
  return { harness, works, goOn };
}

describe("guidance", () => {
  it("E10: is in the work, and so in the key, of what begins after it, and in nothing that was begun", () => {
    const plain = midway();
    plain.goOn();
    const { harness, works, goOn } = midway();
    const begun = harness.step("main/a");
    tell(harness, "in euros", { id: "g1" });
    expect(harness.step("main/a")).toBe(begun);
    goOn();
    expect(works.get("a")).not.toHaveProperty("guidance");
    expect(works.get("b")).toMatchObject({ guidance: ["in euros"] });
    expect(works.get("c")).not.toHaveProperty("guidance");
    const keyOf = (one: EngineHarness, path: string) => one.step(path).idempotencyKey;
    expect(keyOf(harness, "main/b")).not.toBe(keyOf(plain.harness, "main/b"));
    expect(keyOf(harness, "main/c")).toBe(keyOf(plain.harness, "main/c"));
  });

  it("tells which steps were told of it: those that began with it, and those that heard it on their way", () => {
    const { harness, goOn } = midway();
    tell(harness, "one");
    tell(harness, "only b", { path: "main/b" });
    expect(findListeners(harness.state)).toEqual([[], []]);
    const { id: step } = harness.step("main/a");
    harness.report({ type: "turn_recorded", step, attempt: 1, value: { inline: "t" }, guided: 1 });
    goOn();
    expect(findListeners(harness.state)).toEqual([["main/a@1.1", "main/b@1.1"], ["main/b@1.1"]]);
  });

  it("is a decision of the person who gave it, and counts once however often it is read", () => {
    const { harness } = midway();
    tell(harness, "in euros", { id: "g1" });
    tell(harness, "in euros", { id: "g1" });
    expect(harness.of("decision_made").map(({ decision }) => decision)).toMatchObject([
      {
        agent: "person:ann",
        type: "guidance_given",
        description: "guidance: in euros",
        effect: { kind: "guide", text: "in euros", saidAt: AT, request: "g1" },
      },
    ]);
    expect(harness.state.guidance).toMatchObject([{ text: "in euros", by: "ann", id: "g1" }]);
  });

  it("may be for one step or scope, an item of it or all of them", () => {
    const item = machine("item", [model("ask")]);
    const flow = workflow(machine("main", [forEach("each", item, { maxConcurrent: 1 })]));
    const heard: unknown[] = [];
    const harness = new EngineHarness(flow, { inputs: { items: [1, 2] }, perform: () => undefined });
    harness.start();
    tell(harness, "all", { path: "main/each" });
    tell(harness, "second", { path: "main/each/item[1]" });
    tell(harness, "every ask", { path: "main/each/item/ask" });
    tell(harness, "another", { path: "main/eac" });
    harness.perform = (_step, work) => {
      heard.push(work["guidance"]);
      return done("x");
    };
    harness.finish();
    expect(heard).toEqual([undefined, ["all", "second", "every ask"]]);
    expect(listGuidance(harness.state, "main/each/item[0]/ask")).toEqual(["all", "every ask"]);
    expect(listGuidance(harness.state, "main/other")).toEqual([]);
  });

  it("is told to nobody who judges", () => {
    const evaluate = {
      approve: 90,
      reject: 10,
      maxIterations: 1,
      weights: { quality: 1 },
      scorers: [scorer("quality", { scorer: { by: "model", provider: "scripted", rubric: "good?" } })],
    };
    const flow = workflow(
      phases("main", [phase(1, "p", [model("a"), model("b", { dependsOn: ["a"] })], { evaluate })]),
    );
    const heard = new Map<string, unknown>();
    const harness = new EngineHarness(flow, { perform: () => undefined });
    harness.start();
    tell(harness, "short");
    harness.perform = (step, work) => {
      heard.set(step.name, work["guidance"]);
      return done(step.kind === "scorer" ? { score: 95 } : "x");
    };
    harness.finish();
    expect([...heard]).toEqual([
      ["a", undefined],
      ["b", ["short"]],
      ["quality", undefined],
    ]);
  });

  it("takes its part of the context's budget, and is never cut itself", () => {
    const promptAfter = (texts: readonly string[]): unknown => {
      const flow = workflow(
        machine("main", [
          model("a", { routes: [{ to: "b" }] }),
          model("b", { routes: [{ to: "c" }] }),
          model("c", { prompt: "{{ a is defined }} {{ b is defined }}" }),
        ]),
        { context: { mode: "accumulate", trim: "drop_oldest", tokensMax: 40 } },
      );
      const works = new Map<string, JsonObject>();
      const harness = new EngineHarness(flow, { perform: () => undefined });
      harness.start();
      for (const text of texts) tell(harness, text);
      harness.perform = (step, work) => {
        works.set(step.name, work);
        return done("x".repeat(70));
      };
      harness.finish();
      expect(works.get("c")?.["guidance"] ?? []).toEqual(texts);
      return works.get("c")?.["prompt"];
    };
    expect(promptAfter([])).toBe("True True");
    expect(promptAfter(["y".repeat(60)])).toBe("False True");
    expect(promptAfter(["y".repeat(300)])).toBe("False True");
  });

  it("E10: stays when the task goes back to before it, and a fork begins with what was said up to its point", () => {
    const { harness } = midway();
    tell(harness, "one");
    const early = encodeForReturn(harness.state);
    const earlyWhole = encodeWhole(harness.state);
    tell(harness, "two");
    const to = "00000000-0000-4000-8000-000000000009" as never;
    const back = { atMs: harness.nowMs, to, seq: 1, round: 2, reason: "ann", state: { inline: early } };
    evolve(harness.state, { type: "rolled_back", ...back });
    expect(harness.state.guidance.map(({ text }) => text)).toEqual(["one", "two"]);
    const fork = createState();
    const origin = { taskId: TASK_ID, name: "task", checkpointId: to, seq: 1, position: 2 };
    const begun = { atMs: 1, taskId: TASK_ID, name: "fork", origin, by: "ann", state: { inline: earlyWhole } };
    evolve(fork, { type: "task_forked", ...begun });
    expect(fork.guidance.map(({ text }) => text)).toEqual(["one"]);
  });

  it("is in the encoded state as it was", () => {
    const { harness } = midway();
    tell(harness, "one", { path: "main/b", id: "g1" });
    const decoded = decodeSections(encodeWhole(harness.state) as JsonObject);
    expect(decoded.guidance).toEqual(harness.state.guidance);
  });
});
