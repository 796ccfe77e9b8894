/**
 * FAULTS 2 as a table: the owner is killed before the intent, at it, at the effect, and when it is done; the policy asks,
 * reruns, skips or fails; a probe says yes, no, or does not know. The ledger holds what really acted.
 */
import { describe, expect, it } from "vitest";
import type { OnUnknown } from "../../../../src/definition/model/values.js";
import type { HandAttempt } from "../../../support/hand-performer.js";
import { RunnerRoom } from "../../../support/runner-room.js";
import { command, machine, model, parallel, workflow } from "../../../support/workflow-builder.js";
import { processOf } from "../../../support/places.js";

const KILLS = ["before intent", "intent", "effect", "done"] as const;
const POLICIES = ["ask", "rerun", "skip", "fail"] as const;
const PROBES = ["none", "yes", "no", "silent"] as const;
type Kill = (typeof KILLS)[number];
type Probe = (typeof PROBES)[number];

interface Case {
  readonly kill: Kill;
  readonly policy: OnUnknown;
  readonly probe: Probe;
}

const CASES: readonly Case[] = KILLS.flatMap((kill) =>
  POLICIES.flatMap((policy) => PROBES.map((probe) => ({ kill, policy, probe }))),
);

interface Seen {
  readonly effects: number;
  readonly exitStatus: number;
}

/** What must come of it: an outcome is in doubt only when the effect was possible and its end was not recorded. */
function expected({ kill, policy, probe }: Case): Seen {
  if (kill !== "effect") return { effects: 1, exitStatus: 0 };
  if (probe === "yes") return { effects: 1, exitStatus: 0 };
  if (probe === "no") return { effects: 2, exitStatus: 0 };
  return {
    ask: { effects: 1, exitStatus: 22 },
    rerun: { effects: 2, exitStatus: 0 },
    skip: { effects: 1, exitStatus: 3 },
    fail: { effects: 1, exitStatus: 4 },
  }[policy];
}

async function play({ kill, policy, probe }: Case): Promise<Seen & { readonly keys: number }> {
  const ledger: string[] = [];
  const isDying = (attempt: HandAttempt, stage: Kill): boolean =>
    kill === stage && attempt.work.step.attempt === 1 && owner === 1;
  let owner = 1;
  const pay = command("pay", {
    onUnknown: policy,
    routes: [{ to: "after" }],
    ...(probe === "none" ? {} : { probe: ["ask"] }),
  });
  const perform = async (attempt: HandAttempt) => {
    if (attempt.name === "after") return { status: "completed", output: 1 } as const;
    if (isDying(attempt, "intent")) return new Promise<never>(() => undefined);
    await attempt.sink.spawned(processOf(1, 1, "b"));
    ledger.push(attempt.work.step.idempotencyKey);
    if (isDying(attempt, "effect")) return new Promise<never>(() => undefined);
    return { status: "completed", output: { paid: true } } as const;
  };
  const room = new RunnerRoom(workflow(machine("main", [pay, model("after")])), { perform });
  if (kill === "before intent") room.log.crashAt = 2;
  if (kill === "done") room.onObserved = (event) => void (event.type === "step_completed" && (room.log.crashAt = 0));
  await room.start();
  await room.drive();
  owner = 2;
  const next = room.crash({ perform });
  next.performer.probeRule = () =>
    Promise.resolve(probe === "silent" ? undefined : { done: probe === "yes", output: { paid: true } });
  await next.resume();
  await next.drive();
  return { effects: ledger.length, exitStatus: next.closed.exitStatus, keys: new Set(ledger).size };
}

describe("an external step whose owner is killed", () => {
  it("is a table of 64 cases", () => {
    expect(CASES).toHaveLength(64);
  });

  it.each(CASES)("at $kill, with on_unknown $policy and a probe that says $probe", async (one) => {
    const { keys, ...seen } = await play(one);
    expect(seen).toEqual(expected(one));
    expect(keys).toBe(1);
  });
});

describe("on_unknown", () => {
  const settings = { recovery_config: { on_unknown: "rerun" } };

  async function chosen(step?: OnUnknown, whole?: OnUnknown, flags: Parameters<RunnerRoom["resume"]>[0] = {}) {
    const flow = workflow(
      machine("main", [command("pay", step === undefined ? {} : { onUnknown: step })]),
      whole === undefined ? {} : { onUnknown: whole },
    );
    const room = new RunnerRoom(flow, { settings });
    await room.start();
    await room.performer.of("pay").sink.spawned(processOf(1, 1, "b"));
    const next = room.crash({
      perform: async ({ sink }) => {
        await sink.spawned(processOf(2, 2, "b"));
        return { status: "completed", output: 1 };
      },
    });
    await next.resume(flags);
    await next.drive();
    return next.closed.exitStatus;
  }

  it("goes by the flag of the step, then the flag for all, the step, the workflow, the settings", async () => {
    expect(await chosen()).toBe(0);
    expect(await chosen(undefined, "skip")).toBe(3);
    expect(await chosen("fail", "skip")).toBe(4);
    expect(await chosen("fail", "skip", { onUnknown: "ask" })).toBe(22);
    expect(await chosen("fail", "skip", { onUnknown: "ask", onUnknownOf: { pay: "rerun" } })).toBe(0);
    expect(await chosen("fail", "skip", { onUnknown: "ask", onUnknownOf: { "main/pay": "skip" } })).toBe(3);
  });
});

describe("a run that is killed again and again", () => {
  it("counts its iterations on over all owners and stops at max_iterations with the limit's status", async () => {
    const loop = machine("main", [model("a", { routes: [{ to: "b" }] }), model("b", { routes: [{ to: "a" }] })]);
    let room = new RunnerRoom(workflow(loop, { limits: { maxIterations: 7 } }));
    const names: string[] = [];
    await room.start();
    for (let owner = 0; owner < 20 && room.end === undefined; owner += 1) {
      const [attempt] = room.performer.attempts;
      names.push(attempt?.name ?? "none");
      await room.finish(attempt?.name ?? "none");
      if (room.end !== undefined) break;
      room = room.crash();
      await room.resume({ byPerson: false });
    }
    expect(names).toEqual(["a", "b", "a", "b", "a", "b", "a"]);
    expect(room.closed).toMatchObject({ end: "waiting", exitStatus: 21 });
  });

  it("X3: has the checkpoint before a risky step durable before the step acts, whenever it is killed", async () => {
    const flow = workflow(machine("main", [command("drop", { risky: true })]));
    const room = new RunnerRoom(flow);
    room.log.isByHand = true;
    await room.start();
    expect(room.performer.names).toEqual([]);
    const killed = room.crash();
    await killed.start();
    const risky = killed.trace.indexOf("append checkpoint_recorded");
    expect(killed.trace.slice(risky)).toEqual([
      "append checkpoint_recorded",
      "append step_intended",
      "durable",
      "look",
      "perform drop",
    ]);
    expect(killed.of("checkpoint_recorded")).toMatchObject([{ trigger: "before_risky_operation" }]);
    await killed.performer.of("drop").sink.spawned(processOf(1, 1, "b"));
    const again = killed.crash();
    await again.resume({ onUnknown: "rerun" });
    expect(again.of("checkpoint_recorded").map(({ trigger }) => trigger)).toEqual([
      "before_risky_operation",
      "before_risky_operation",
    ]);
  });
});

describe("--on-unknown of a resume", () => {
  /** `pay` is under way when its sibling fails the group, which a route takes up: what it has done is unknown then. */
  async function failAround(flags: Parameters<RunnerRoom["resume"]>[0]) {
    const members = [command("pay"), model("check"), model("first")];
    const group = parallel("both", members, { onError: "after", maxConcurrent: 3 });
    const room = new RunnerRoom(workflow(machine("main", [group, model("after")])));
    await room.start();
    const next = room.crash({
      perform: (attempt) =>
        attempt.name === "after" ? Promise.resolve({ status: "completed", output: 1 } as const) : undefined,
    });
    await next.resume(flags);
    await next.performer.of("pay").sink.spawned(processOf(1, 1, "b"));
    const error = { code: "STEP_FAILED", message: "broke", retryable: false };
    next.performer.of("check").end({ status: "failed", error });
    await next.flush();
    next.performer.of("pay").end({ status: "cancelled" });
    next.performer.of("first").end({ status: "cancelled" });
    await next.drive();
    return next;
  }

  it("also covers what becomes unknown later in that run, by a decision; without it a person is asked", async () => {
    const asked = await failAround({});
    expect(asked.closed.exitStatus).toBe(22);
    const skipped = await failAround({ onUnknown: "skip" });
    expect(skipped.closed).toMatchObject({ end: "done", exitStatus: 0 });
    expect(skipped.of("question_opened")).toEqual([]);
    expect(skipped.of("decision_made").map(({ decision }) => decision.rationale)).toContain(
      "it is unknown whether attempt 2 has acted; on_unknown says skip",
    );
  });

  it("does not outlive that run", async () => {
    const next = (await failAround({ onUnknown: "ask" })).crash();
    expect(next.state.task?.onUnknown).toBe("ask");
    await next.resume();
    expect(next.state.task?.onUnknown).toBeUndefined();
  });
});
