/** Attempts that failed after they acted, or may have: nobody repeats them unasked. */
import { describe, expect, it } from "vitest";
import type { OnUnknown } from "../../../src/definition/model/values.js";
import { EngineHarness, done, failed } from "../../support/engine-harness.js";
import { command, machine, parallel, workflow } from "../../support/workflow-builder.js";

const RETRY = { maxAttempts: 5, backoff: "fixed", delayMs: 1, delayMsMax: 1, jitter: 0 } as const;
const broken = (acted: "yes" | "maybe") =>
  failed("stdout is not JSON", { code: "STEP_OUTPUT_INVALID", details: { acted, raw: "charged" } });

function charging(options: object = {}, acted: "yes" | "maybe" = "yes"): EngineHarness {
  const step = command("charge", { effects: "external", retry: RETRY, ...options });
  return new EngineHarness(workflow(machine("main", [step])), { perform: () => broken(acted) });
}

describe("an external step that acted and whose result cannot be used", () => {
  it("[public C kin] is asked about, whatever its retry policy: 22, one attempt, what it said kept", () => {
    const harness = charging();
    expect(harness.run()).toMatchObject({ end: "waiting", exitStatus: 22 });
    expect(harness.performed).toEqual(["charge#1"]);
    expect(harness.openQuestions.map(({ kind, text }) => ({ kind, text }))).toEqual([
      { kind: "unknown_outcome", text: "main/charge has acted: stdout is not JSON" },
    ]);
    expect(harness.step("main/charge")).toMatchObject({ status: "unknown", error: { details: { raw: "charged" } } });
  });

  it("[public C kin] stays asked about when the same command is typed again, and after a crash at each record", () => {
    const harness = charging();
    harness.run();
    for (let kept = harness.events.length; kept > 0; kept -= 1) {
      if (harness.events[kept - 1]?.type === "step_spawned" || harness.events[kept - 1]?.type === "step_intended")
        break;
      const next = harness.crash(kept, { perform: () => done("again") });
      next.resume();
      expect(next.finish()).toMatchObject({ exitStatus: 22 });
      expect(next.performed).toEqual([]);
    }
  });

  it("is completed by what a person says it gave, and goes on", () => {
    const harness = charging();
    harness.start();
    harness.performOne();
    harness.answer(harness.openQuestions[0]!, "done", { n: 7 });
    expect(harness.finish().end).toBe("done");
    expect(harness.performed).toEqual(["charge#1"]);
  });

  it("may not have acted where it was ended in its midst, and says that", () => {
    const harness = charging({}, "maybe");
    harness.run();
    expect(harness.openQuestions[0]?.text).toBe("main/charge may or may not have acted: stdout is not JSON");
  });

  it.each<[OnUnknown, string, number]>([
    ["rerun", "failed", 5],
    ["fail", "failed", 1],
    ["skip", "partial", 1],
  ])("does what on_unknown: %s says", (onUnknown, end, attempts) => {
    const harness = charging({ onUnknown });
    expect(harness.run().end).toBe(end);
    expect(harness.performed).toHaveLength(attempts);
  });

  it.each(["none", "idempotent"] as const)("is tried again where it has effects: %s", (effects) => {
    const harness = charging({ effects });
    expect(harness.run().end).toBe("failed");
    expect(harness.performed).toHaveLength(5);
  });

  it("[public C kin] holds for a timeout, unless the retry policy names it", () => {
    const timeout = failed("too long", { code: "STEP_TIMEOUT", details: { acted: "maybe" } });
    const asked = charging();
    asked.perform = () => timeout;
    expect(asked.run().exitStatus).toBe(22);
    const agreed = charging({ retry: { ...RETRY, on: ["timeout"] } });
    agreed.perform = () => timeout;
    agreed.run();
    expect(agreed.performed).toHaveLength(5);
  });

  it("lets its siblings end, and counts what it used", () => {
    const group = parallel("all", [command("charge", { effects: "external" }), command("other")]);
    const harness = new EngineHarness(workflow(machine("main", [group])));
    const usage = { calls: 1, tokensIn: 10, tokensOut: 5 };
    harness.perform = ({ name }) => (name === "charge" ? ({ ...broken("yes"), usage } as never) : done("fine"));
    expect(harness.run().exitStatus).toBe(22);
    expect(harness.step("main/all/other").status).toBe("completed");
    expect(harness.state.totals).toMatchObject({ calls: 1, tokensIn: 10, tokensOut: 5 });
  });
});
