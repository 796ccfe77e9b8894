/**
 * Random workflows, random outcomes, random orders, crashes at random points: what was not durable is gone, a new owner
 * goes on from what was, and comes to the end of the undisturbed run. The ledger holds what really acted.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ControlMessage, StepOutcome } from "../../../../src/engine/model/ports.js";
import { createSeededNumbers } from "../../../support/seeded-random.js";
import { drawWorkflow, performRandomly } from "../../../support/random-workflow.js";
import { RunnerRoom } from "../../../support/runner-room.js";
import { checkState } from "../../../support/state-check.js";
import type { HandAttempt } from "../../../support/hand-performer.js";
import { processOf } from "../../../support/places.js";

const OWNERS_MAX = 40;

/** What acted, by step and failures before it: a retry may act again, a restart may not. */
class Ledger {
  readonly acts = new Map<string, number>();

  add(key: string): void {
    this.acts.set(key, (this.acts.get(key) ?? 0) + 1);
  }
}

interface World {
  readonly seed: number;
  readonly failsFast?: boolean;
  readonly ledger: Ledger;
  readonly order: { next(bound: number): number };
}

/** Acts once it may, then takes a random time. */
async function act({ seed, ledger, order }: World, room: () => RunnerRoom, attempt: HandAttempt): Promise<StepOutcome> {
  const { step } = attempt.work;
  const outcome = performRandomly(seed)(step);
  if (step.kind === "command") await attempt.sink.spawned(processOf(1, 1, "b"));
  if (step.effects === "external") ledger.add(`${step.id} after ${step.restarts}.${step.failures}`);
  await room().clock.sleep(1 + order.next(50));
  return outcome;
}

function createRoom(world: World, before?: RunnerRoom): RunnerRoom {
  const perform = (attempt: HandAttempt): Promise<StepOutcome> => act(world, () => room, attempt);
  const room =
    before === undefined
      ? new RunnerRoom(drawWorkflow(world.seed, { failsFast: world.failsFast }), { perform })
      : before.crash({ perform });
  room.onObserved = (event) => {
    if (event.type === "question_opened" || event.type === "task_resumed") queueMicrotask(() => answerAll(room));
  };
  return room;
}

/** Unknown outcomes are run again, which is what asking is for; low confidence goes on. */
function answerAll(room: RunnerRoom): void {
  for (const question of room.state.questions.values()) {
    if (question.status !== "open") continue;
    const answer = question.kind === "low_confidence" ? "proceed" : "rerun";
    const message: ControlMessage = { kind: "answer", question: question.id, answer, by: "ann" };
    room.send(message);
  }
}

interface Ending {
  readonly end: unknown;
  readonly exitStatus: unknown;
  readonly output: unknown;
}

function endingOf(room: RunnerRoom): Ending {
  const { end, exitStatus } = room.closed;
  return { end, exitStatus, output: room.output };
}

async function runUndisturbed(seed: number): Promise<RunnerRoom> {
  const room = createRoom({ seed, ledger: new Ledger(), order: createSeededNumbers(seed) });
  await room.start();
  await room.drive();
  return room;
}

/** Runs with a crash after each of the given numbers of records. */
async function runCrashing(world: World, crashes: readonly number[]): Promise<{ room: RunnerRoom; owners: number }> {
  let room = createRoom(world);
  for (let owner = 1; owner <= OWNERS_MAX; owner += 1) {
    const after = crashes[owner - 1];
    if (after !== undefined) {
      room.log.crashAt = room.log.durableEvents.length + after;
      room.log.isCrashSilent = world.order.next(2) === 0;
    }
    await (room.log.durableEvents.length === 0 ? room.start() : room.resume({ byPerson: false, by: "recover" }));
    await room.drive();
    if (room.end !== undefined) {
      if (room.closed.end !== "waiting") return { room, owners: owner };
    } else if (!room.log.isCrashed) throw new Error("the run neither ended nor crashed");
    checkState(room.state);
    room = createRoom(world, room);
  }
  throw new Error("the run does not end");
}

/** How often each act was allowed: once, and once more for each answer that asked for it. */
function countExcess(ledger: Ledger, room: RunnerRoom): readonly string[] {
  const asked = new Map<string, number>();
  for (const event of room.of("step_intended")) {
    if (event.permittedBy !== undefined) asked.set(event.step, (asked.get(event.step) ?? 0) + 1);
  }
  return [...ledger.acts].flatMap(([key, count]) => {
    const step = key.slice(0, key.indexOf(" after "));
    return count > 1 + (asked.get(step) ?? 0) ? [`${key}: ${count} times`] : [];
  });
}

describe("a run that crashes", () => {
  it("X3, X4: comes to the end of the undisturbed run, and nothing external acts twice unasked", async () => {
    let crashed = 0;
    let acts = 0;
    const ends = new Set<unknown>();
    const property = fc.asyncProperty(
      fc.integer({ min: 1, max: 400 }),
      fc.integer(),
      fc.array(fc.integer({ min: 0, max: 40 }), { minLength: 1, maxLength: 4 }),
      async (seed, orderSeed, crashes) => {
        const wanted = endingOf(await runUndisturbed(seed));
        fc.pre(wanted.end !== "failed");
        const world = { seed, ledger: new Ledger(), order: createSeededNumbers(orderSeed) };
        const { room, owners } = await runCrashing(world, crashes);
        expect(endingOf(room)).toEqual(wanted);
        expect(countExcess(world.ledger, room)).toEqual([]);
        crashed += owners - 1;
        acts += world.ledger.acts.size;
        ends.add(wanted.end);
      },
    );
    await fc.assert(property, { numRuns: 150, seed: 20_240_102 });
    expect(crashed).toBeGreaterThan(100);
    expect(acts).toBeGreaterThan(100);
    expect(ends).toEqual(new Set(["done", "partial"]));
  });

  it("E3: has a legal state after every crash where a group fails fast around a member that may have acted", async () => {
    const world = { seed: 12_896, failsFast: true, ledger: new Ledger(), order: createSeededNumbers(-603_865_807) };
    const { room, owners } = await runCrashing(world, [0, 6, 0]);
    expect(owners).toBeGreaterThan(3);
    checkState(room.state);
    expect(countExcess(world.ledger, room)).toEqual([]);
  });

  it("X3: the same ledger catches a runner that acts before its intent is durable", async () => {
    const world = { seed: 3, ledger: new Ledger(), order: createSeededNumbers(1) };
    world.ledger.add("main/a@1.1 after 0.0");
    world.ledger.add("main/a@1.1 after 0.0");
    expect(countExcess(world.ledger, await runUndisturbed(3))).toEqual(["main/a@1.1 after 0.0: 2 times"]);
  });
});
