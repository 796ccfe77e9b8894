/**
 * Holds what recovery finds on a disk against what really happened.
 *
 * Invariants (STORAGE section 3.2): (1) no acknowledged record is lost; (2) the recovered history is a prefix of the true
 * one; (3) a step that acted is known by its intent; (4) recovery is idempotent and the work goes on to its end; (5) no
 * error but a typed one, and in a world without rot none at all; (6) no plaintext in any byte.
 */
import { canonicalJson, encodeValue } from "../../src/base/json-encoding.js";
import { messageOf } from "../../src/base/errors.js";
import type { Restored } from "../../src/recovery/restore.js";
import type { Store } from "../../src/store/contract/contract.js";
import { contentOf, type DiskModel, type DiskNode } from "../support/disk-model.js";
import { FakeClock } from "../support/fake-clock.js";
import { createTestVault } from "../support/journal-room.js";
import { createSeededRandom } from "../support/seeded-random.js";
import { createModelStore } from "../support/store-places.js";
import { FaultyFileSystem } from "./faulty-file-system.js";
import { restoreHere, ScriptedOwner, TASK_NAME } from "./scripted-owner.js";
import { CANARY } from "./scripted-task.js";
import { textOfState, type Trace } from "./trace.js";

export interface Violation {
  readonly invariant: 1 | 2 | 3 | 4 | 5 | 6;
  readonly text: string;
}

export interface Judged {
  readonly trace: Trace;
  /** Operations that had completed. */
  readonly k: number;
  readonly stepCount: number;
  /** Also go on to the end, and recover twice. */
  readonly goesOn: boolean;
}

/** Everything that is wrong with what the disk holds; empty when nothing is. */
export async function judgeDisk(disk: DiskModel, judged: Judged): Promise<Violation[]> {
  const store = openStoreOn(disk, "judge");
  const violations: Violation[] = [];
  const blame = (invariant: Violation["invariant"], text: string) => violations.push({ invariant, text });
  try {
    const task = await store.task(TASK_NAME);
    if (task === undefined) {
      if (judged.trace.acknowledgements.some(({ at }) => at <= judged.k)) blame(1, "the task is not there");
      if (judged.goesOn) await goOn(store, judged, blame);
      return violations;
    }
    const restored = await restoreHere(
      task,
      createTestVault("judge"),
      new FakeClock(),
      judged.trace.anchorAt(judged.k),
    );
    judgeHistory(restored, judged, blame);
    if (judged.goesOn) {
      await judgeAgain(restored, await restoreHere(task, createTestVault("judge again")), blame);
      await goOn(store, judged, blame);
    }
  } catch (error) {
    blame(5, `${error instanceof Error ? error.name : typeof error}: ${messageOf(error)}`);
  }
  return violations;
}

type Blame = (invariant: Violation["invariant"], text: string) => void;

export function openStoreOn(disk: DiskModel, seed: string): Store {
  return createModelStore(new FaultyFileSystem({ disk }), { parts: { random: createSeededRandom(seed) } });
}

function judgeHistory(restored: Restored, { trace, k }: Judged, blame: Blame): void {
  const { history, report } = restored;
  const count = restored.state.position;
  if (history.records.length !== count) blame(2, `${history.records.length} records make a state of ${count}`);
  for (const { at, epoch, n } of trace.acknowledgements) {
    if (at <= k && n > count && !isSuperseded(trace, epoch, at))
      blame(1, `record ${n} was acknowledged, the history ends at ${count}`);
  }
  for (const record of history.records) {
    const { n } = record.position;
    const text = canonicalJson(encodeValue(record.decode()));
    if (trace.textOf(history.epoch, n) !== text)
      blame(2, `record ${n} of epoch ${history.epoch} is not what was recorded`);
  }
  const truth = trace.stateTextOf(history.epoch, count);
  if (count > 0 && truth !== textOfState(restored.state)) blame(2, `the state after ${count} records is another one`);
  judgeActs(restored, { trace, k }, blame);
  for (const name of ["damage", "lost", "quarantined"]) {
    const found = report[name];
    if (Array.isArray(found) && found.length > 0) blame(5, `${name}: ${JSON.stringify(found)}`);
  }
}

/** True for what an owner was told after a later one had claimed: it may be off the chain. */
function isSuperseded(trace: Trace, epoch: number, at: number): boolean {
  return [...trace.claims].some(([later, claimedAt]) => later > epoch && claimedAt < at);
}

function judgeActs(
  { history, state, uncertain }: Restored,
  { trace, k }: Pick<Judged, "trace" | "k">,
  blame: Blame,
): void {
  const due = trace.acts.filter(({ at }) => at <= k);
  if (due.length === 0 || uncertain) return;
  const intents = new Set([...state.steps.values()].map((step) => `${step.id}/${step.attempt}`));
  for (const record of history.records) {
    const event = record.decode();
    if (event.type === "step_intended") intents.add(`${event.step}/${event.attempt}`);
  }
  for (const { intent } of due) {
    if (!intents.has(`${intent.step}/${intent.attempt}`))
      blame(3, `${intent.step} attempt ${intent.attempt} acted and nothing is known of it`);
  }
}

async function judgeAgain(first: Restored, second: Restored, blame: Blame): Promise<void> {
  if (textOfState(first.state) !== textOfState(second.state)) blame(4, "a second recovery gives another state");
  if (first.prev?.h !== second.prev?.h) blame(4, "a second recovery continues another record");
  if (second.epoch <= first.epoch) blame(4, "a second recovery got no higher epoch");
}

async function goOn(store: Store, { stepCount }: Judged, blame: Blame): Promise<void> {
  const owner = new ScriptedOwner({ store, seed: "heir", stepCount });
  await owner.live();
  const { state } = owner;
  const done = [...state.steps.values()].filter((step) => step.status === "completed").length;
  if (state.task?.status !== "done" || done !== stepCount)
    blame(4, `the work ends ${state.task?.status ?? "before it began"} with ${done} steps`);
  const task = await store.task(TASK_NAME);
  if (task === undefined) return blame(4, "the task is gone at the end");
  const restored = await restoreHere(task, createTestVault("at the end"));
  if (textOfState(restored.state) !== textOfState(state)) blame(4, "what was done is not what is found at the end");
}

/** Invariant 6 on everything a disk holds below the store's root. */
export function judgeSecrecy(disk: DiskModel): Violation[] {
  const violations: Violation[] = [];
  const walk = (node: DiskNode, path: string) => {
    if (node.kind === "folder") for (const [name, child] of node.entries) walk(child, `${path}/${name}`);
    if (node.kind === "file" && Buffer.from(contentOf(node)).includes(CANARY))
      violations.push({ invariant: 6, text: `${path} holds plaintext` });
  };
  walk(disk.root, "");
  return violations;
}
