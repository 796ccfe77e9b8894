import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../../src/base/json.js";
import { evolve } from "../../../src/engine/fold/evolve.js";
import { encodeForReturn } from "../../../src/engine/fold/restore-state.js";
import { captureState, decodeState, encodeCaptured } from "../../../src/engine/model/state-codec.js";
import { createCountingState, type Counter } from "../../support/counting-state.js";
import { done, EngineHarness, failed } from "../../support/engine-harness.js";
import {
  forEach,
  machine,
  model,
  nested,
  parallel,
  phase,
  phases,
  set,
  workflow,
} from "../../support/workflow-builder.js";

const SEEN = "{{ context.iteration }}: {{ context.history | join(' ') }}";

/** Every step tells what it sees of the history. */
function tell(name: string, rest: Parameters<typeof model>[1] = {}) {
  return model(name, { prompt: SEEN, ...rest });
}

function follow(root: Parameters<typeof workflow>[0], items: JsonValue = ["x", "y"]) {
  const told: string[] = [];
  const harness = new EngineHarness(workflow(root), {
    inputs: { items },
    perform: (step, work) => {
      told.push(`${step.path} ${work["prompt"] as string}`);
      return step.name === "bad" ? failed() : done({ name: step.name });
    },
  });
  return { harness, told };
}

describe("what a workflow has stored, as templates see it", () => {
  it("counts a step one, a group one whatever is in it, and a nested workflow one that counts its own", () => {
    const inner = nested("sub", machine("in", [tell("first", { routes: [{ to: "second" }] }), tell("second")]), {
      routes: [{ to: "last" }],
    });
    const { harness, told } = follow(
      machine("main", [
        tell("start", { routes: [{ to: "pair" }] }),
        parallel("pair", [tell("l"), tell("r")], { routes: [{ to: "each" }] }),
        forEach("each", tell("w"), { maxConcurrent: 1, routes: [{ to: "sub" }] }),
        inner,
        tell("last"),
      ]),
    );
    expect(harness.run().end).toBe("done");
    expect(told).toEqual([
      "main/start 0: ",
      "main/pair/l 1: start",
      "main/pair/r 1: start",
      "main/each/w[0] 2: start pair",
      "main/each/w[1] 2: start pair",
      "main/sub/in/first 0: ",
      "main/sub/in/second 1: first",
      "main/last 4: start pair each sub",
    ]);
  });

  it("begins anew with each visit of a nested workflow, and in each item of its own", () => {
    const sub = nested("sub", machine("in", [tell("one", { routes: [{ to: "two" }] }), tell("two")]));
    const { harness, told } = follow(machine("main", [forEach("each", sub, { maxConcurrent: 2 })]));
    expect(harness.run().end).toBe("done");
    expect(told.toSorted((a, b) => (a < b ? -1 : 1))).toEqual([
      "main/each/sub[0]/in/one 0: ",
      "main/each/sub[0]/in/two 1: one",
      "main/each/sub[1]/in/one 0: ",
      "main/each/sub[1]/in/two 1: one",
    ]);
    expect([...harness.state.stored]).toEqual([["main", ["main/each"]]]);
    const loop = nested("sub", machine("in", [tell("one")]), { routes: [{ to: "again" }] });
    const again = set("again", { routes: [{ to: "sub", when: "{{ context.iteration < 4 }}" }, { to: "$end" }] });
    const looped = follow(machine("main", [loop, again]));
    expect(looped.harness.run().end).toBe("done");
    expect(looped.told.filter((line) => line.includes("/one"))).toEqual(["main/sub/in/one 0: ", "main/sub/in/one 0: "]);
  });

  it("does not count what failed, nor hooks and scorers", () => {
    const { harness, told } = follow(
      machine("main", [
        model("bad", { onError: "mend" }),
        tell("mend", { routes: [{ to: "group" }] }),
        parallel("group", [model("bad"), model("l")], { onError: "last" }),
        tell("last"),
      ]),
    );
    expect(harness.run().end).toBe("done");
    expect(told.filter((line) => /mend|last/.test(line))).toEqual(["main/mend 0: ", "main/last 1: mend"]);
  });

  it("is part of a snapshot, and goes back with a return to an earlier state and to the start of a phase", () => {
    const { harness } = follow(
      machine("main", [model("a", { routes: [{ to: "b" }] }), model("b", { routes: [{ to: "c" }] }), model("c")]),
    );
    harness.start();
    harness.performOne();
    const early = encodeForReturn(harness.state);
    harness.performOne();
    expect(harness.state.stored.get("main")).toEqual(["main/a", "main/b"]);
    const restored = decodeState([...encodeCaptured(captureState(harness.state))].join(""));
    expect([...restored.stored]).toEqual([...harness.state.stored]);
    const to = "00000000-0000-4000-8000-000000000009" as never;
    const back = { type: "rolled_back", atMs: harness.nowMs, to, seq: 1, round: 2, reason: "ann" } as const;
    evolve(harness.state, { ...back, state: { inline: early } });
    expect(harness.state.stored.get("main")).toEqual(["main/a"]);
    const phased = follow(phases("main", [phase(1, "p", [model("s")]), phase(2, "q", [model("t")])]));
    phased.harness.run();
    expect(phased.harness.state.stored.get("main")).toEqual(["main/p/s", "main/q/t"]);
    evolve(phased.harness.state, { ...back, phase: 2 });
    expect(phased.harness.state.stored.get("main")).toEqual(["main/p/s"]);
  });

  it("E5: costs nested workflows in items as much at the end as at the beginning", () => {
    const sub = nested("sub", machine("in", [tell("one", { routes: [{ to: "two" }] }), tell("two")]));
    const counter: Counter = { looks: 0 };
    const items = Array.from({ length: 1_000 }, (_none, at) => at);
    const { harness } = follow(machine("main", [forEach("each", sub, { maxConcurrent: 8 })]), items);
    harness.state = createCountingState(counter);
    harness.start();
    const looks = Array.from({ length: 9 }, () => {
      const before = counter.looks;
      for (let step = 0; step < 200; step += 1) harness.performOne();
      return counter.looks - before;
    });
    expect(looks[0]).toBeGreaterThan(200);
    expect(looks.at(-1)).toBeLessThanOrEqual((looks[1] ?? 0) * 1.05 + 10);
  });
});
