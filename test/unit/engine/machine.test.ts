import { describe, expect, it } from "vitest";
import { done, EngineHarness, failed } from "../../support/engine-harness.js";
import { command, dag, machine, model, parallel, set, wait, workflow } from "../../support/workflow-builder.js";

describe("a machine", () => {
  it("runs its steps along the routes and gives the last output", () => {
    const flow = workflow(
      machine("main", [model("a", { routes: [{ to: "b" }] }), model("b", { routes: [{ to: "$end" }] })]),
    );
    const harness = new EngineHarness(flow);
    const closed = harness.run();
    expect(closed.end).toBe("done");
    expect(closed.exitStatus).toBe(0);
    expect(harness.performed).toEqual(["a#1", "b#1"]);
    expect(harness.output).toEqual({ name: "b" });
  });

  it("types the fields of the final output, as Conductor does, and a dag leaves them text", () => {
    const output = {
      list: "{{ a.output.items | json }}",
      flag: "{{ a.output.flag }}!",
      yes: "{{ 'True' }}",
      none: "{{ 'None' }}",
      number: "{{ '4' }}2",
      big: "{{ '12345678901234567890' }}",
      text: "[{{ 'x' }}",
    };
    const perform = () => done({ items: [1, "b"], flag: true });
    const typed = new EngineHarness(workflow(machine("main", [model("a")]), { output }), { perform });
    typed.run();
    expect(typed.output).toEqual({
      list: [1, "b"],
      flag: "True!",
      yes: true,
      none: null,
      number: 42,
      big: "12345678901234567890",
      text: "[x",
    });
    const plain = new EngineHarness(workflow(dag("main", [model("a")]), { output: { number: "{{ '4' }}2" } }), {
      perform,
    });
    plain.run();
    expect(plain.output).toEqual({ number: "42" });
  });

  it("takes the first route that matches, in both dialects", () => {
    const routes = [{ to: "low", when: "score < 5" }, { to: "mid", when: "{{ output.score < 8 }}" }, { to: "high" }];
    for (const [score, target] of [
      [3, "low"],
      [7, "mid"],
      [9, "high"],
    ] as const) {
      const flow = workflow(machine("main", [model("a", { routes }), model("low"), model("mid"), model("high")]));
      const harness = new EngineHarness(flow, { perform: (step) => done(step.name === "a" ? { score } : step.name) });
      harness.run();
      expect(harness.performed).toEqual(["a#1", `${target}#1`]);
    }
  });

  it("completes a step and intends the next without another input", () => {
    const flow = workflow(machine("main", [model("a", { routes: [{ to: "b" }] }), model("b")]));
    const harness = new EngineHarness(flow);
    harness.start();
    const step = harness.step("main/a");
    const events = harness.submit({
      kind: "outcome",
      step: step.id,
      attempt: 1,
      outcome: done(1),
      durationMs: 1,
    });
    expect(events.map((event) => event.type)).toEqual(["step_completed", "checkpoint_recorded", "step_intended"]);
  });

  it("merges the output of the route into $end over the output templates", () => {
    const flow = workflow(
      machine("main", [model("a", { routes: [{ to: "$end", output: { verdict: "{{ output.v }}", b: "x" } }] })]),
      {
        output: { a: "{{ a.output.v }}", b: "y" },
      },
    );
    const harness = new EngineHarness(flow, { perform: () => done({ v: 7 }) });
    harness.run();
    expect(harness.output).toEqual({ a: 7, b: "x", verdict: 7 });
  });

  it("stops as failed when no route matches, keeps the finished step, and tries the routes again on resume", () => {
    let threshold = 5;
    const flow = workflow(
      machine("main", [
        model("a", { routes: [{ to: "b", when: "{{ output.score > channel.threshold }}" }] }),
        model("b"),
      ]),
    );
    const harness = new EngineHarness(flow, { perform: (step) => done(step.name === "a" ? { score: 4 } : "ok") });
    harness.start();
    harness.changeChannel({ op: "set", key: "threshold", value: threshold });
    const closed = harness.finish();
    expect([closed.end, closed.exitStatus, closed.resumable]).toEqual(["failed", 4, true]);
    expect(closed.reason).toContain("no route of a matches");
    threshold = 3;
    const next = harness.crash();
    next.changeChannel({ op: "set", key: "threshold", value: threshold });
    next.resume();
    expect(next.finish().end).toBe("done");
    expect(next.performed).toEqual(["b#1"]);
  });

  it("goes to on_error after a failure, and the task is done", () => {
    const flow = workflow(
      machine("main", [model("a", { onError: "rescue", routes: [{ to: "b" }] }), model("b"), model("rescue")]),
    );
    const harness = new EngineHarness(flow, { perform: (step) => (step.name === "a" ? failed() : done("ok")) });
    expect(harness.run().exitStatus).toBe(0);
    expect(harness.performed).toEqual(["a#1", "rescue#1"]);
  });

  it("keeps a failed step to be the first on resume, finished steps stay finished", () => {
    let isBroken = true;
    const flow = workflow(
      machine("main", [model("a", { routes: [{ to: "b" }] }), model("b", { routes: [{ to: "c" }] }), model("c")]),
    );
    const harness = new EngineHarness(flow, {
      perform: (step) => (step.name === "b" && isBroken ? failed() : done(step.name)),
    });
    const closed = harness.run();
    expect([closed.end, closed.exitStatus, closed.resumable]).toEqual(["failed", 4, true]);
    isBroken = false;
    const next = harness.crash();
    next.resume();
    expect(next.finish().exitStatus).toBe(0);
    expect(next.performed).toEqual(["b#2", "c#1"]);
    expect(next.step("main/b").idempotencyKey).toBe(harness.step("main/b").idempotencyKey);
  });

  it("follows the next valid route with on_failure: continue and ends partial", () => {
    const flow = workflow(
      machine("main", [
        model("a", { routes: [{ to: "x", when: "{{ output.ok }}" }, { to: "b" }] }),
        model("x"),
        model("b"),
      ]),
      {
        onFailure: "continue",
      },
    );
    const harness = new EngineHarness(flow, { perform: (step) => (step.name === "a" ? failed() : done("ok")) });
    const closed = harness.run();
    expect(harness.performed).toEqual(["a#1", "b#1"]);
    expect([closed.end, closed.exitStatus]).toEqual(["partial", 3]);
  });

  it("counts visits and iterations over every resume", () => {
    const review = { routes: [{ to: "write", when: "{{ not output.good }}" }, { to: "$end" }] };
    const flow = workflow(machine("main", [model("write", { routes: [{ to: "review" }] }), model("review", review)]), {
      limits: { maxIterations: 10 },
    });
    let harness = new EngineHarness(flow, { perform: () => done({ good: false }) });
    harness.start();
    const executed: string[] = [];
    for (let kill = 0; kill < 30 && harness.closed === undefined; kill += 1) {
      harness.performOne();
      executed.push(...harness.performed);
      harness = harness.crash();
      harness.resume();
    }
    expect(executed).toHaveLength(10);
    const closed = harness.finish();
    expect([closed.end, closed.exitStatus]).toEqual(["waiting", 21]);
    expect(harness.state.totals.iterations).toBe(10);
    expect(harness.step("main/write", 5).status).toBe("completed");
  });

  it("extends a limit by an answer and stops at it by another", () => {
    const review = { routes: [{ to: "write", when: "{{ not output.good }}" }, { to: "$end" }] };
    const flow = workflow(machine("main", [model("write", { routes: [{ to: "review" }] }), model("review", review)]), {
      limits: { maxIterations: 2 },
    });
    const harness = new EngineHarness(flow, { perform: (step) => done({ good: step.visit > 1 }) });
    expect(harness.run().exitStatus).toBe(21);
    const extended = harness.crash();
    extended.resume();
    extended.answer(extended.openQuestions[0]!, "extend", { iterations: 2 });
    expect(extended.finish().end).toBe("done");
    expect(extended.performed).toEqual(["write#1", "review#1"]);
    const stopped = harness.crash();
    stopped.resume();
    stopped.answer(stopped.openQuestions[0]!, "stop");
    const closed = stopped.finish();
    expect([closed.end, closed.exitStatus]).toEqual(["stopped", 21]);
  });

  it("nests scopes: a loop over a parallel group, each pass with visits of its own", () => {
    const group = parallel("both", [model("l"), model("r")], { routes: [{ to: "judge" }] });
    const judge = model("judge", { routes: [{ to: "both", when: "{{ both.outputs.l.visit < 2 }}" }, { to: "$end" }] });
    const harness = new EngineHarness(workflow(machine("main", [group, judge])), {
      perform: (step) => done({ visit: step.visit }),
    });
    expect(harness.run().end).toBe("done");
    expect(harness.performed).toEqual(["l#1", "r#1", "judge#1", "l#1", "r#1", "judge#1"]);
    expect(harness.step("main/both/r", 2).output).toEqual({ inline: { visit: 2 } });
  });

  it("runs set and wait: a wait ends when its time has come, also in another process", () => {
    const flow = workflow(
      machine("main", [
        set("s", { value: "{{ workflow.input.n }}", routes: [{ to: "w" }] }),
        wait("w", "2h", { routes: [{ to: "c" }] }),
        command("c"),
      ]),
    );
    const harness = new EngineHarness(flow, {
      inputs: { n: 5 },
      sleepMsMax: 60_000,
      perform: (_step, work) => done(work["value"] ?? null),
    });
    const startedAtMs = harness.nowMs;
    const closed = harness.run();
    expect([closed.end, closed.exitStatus]).toEqual(["paused", 75]);
    expect(closed.resumeAtMs).toBe(startedAtMs + 1 + 7_200_000);
    const next = harness.crash();
    next.nowMs = startedAtMs + 8_000_000;
    next.resume();
    expect(next.finish().end).toBe("done");
    expect(next.step("main/w").output).toEqual({ inline: { waited_seconds: 7_200 } });
    expect(next.performed).toEqual(["c#1"]);
    expect(next.step("main/s").output).toEqual({ inline: 5 });
  });

  it("runs a step again with the next visit when it asks for the next iteration", () => {
    const flow = workflow(machine("main", [model("a")]));
    const harness = new EngineHarness(flow);
    harness.start();
    harness.submit({
      kind: "outcome",
      step: harness.step("main/a").id,
      attempt: 1,
      outcome: done(1),
      durationMs: 1,
      wishes: { again: true },
    });
    harness.submit({
      kind: "outcome",
      step: harness.step("main/a", 2).id,
      attempt: 1,
      outcome: done(2),
      durationMs: 1,
    });
    expect(harness.finish().end).toBe("done");
    expect(harness.output).toBe(2);
  });

  it("fails a step whose template names what is not there, without running it", () => {
    const flow = workflow(machine("main", [model("a", { prompt: "{{ nobody.output.x }}" })]));
    const harness = new EngineHarness(flow);
    const closed = harness.run();
    expect(closed.exitStatus).toBe(4);
    expect(closed.reason).toContain("TEMPLATE_FAILED");
    expect(harness.performed).toEqual([]);
  });
});
