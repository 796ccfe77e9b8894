/** One life of a scenario's verb on a disk that remembers every operation, and what an undisturbed one leaves behind. */
import { canonicalJson } from "../../../src/base/json-encoding.js";
import type { DiskModel } from "../../support/disk-model.js";
import { MODEL_ROOT } from "../../support/store-places.js";
import type { FaultPlan } from "../fault-plan.js";
import { FaultyFileSystem } from "../faulty-file-system.js";
import type { Act, Told } from "./explored-place.js";
import { contentsOf, eventsOf } from "./picture.js";
import { openPlaceOn, startScenario, type Scenario, type Wrap } from "./scenario.js";

export interface VerbLife {
  readonly disk: FaultyFileSystem;
  readonly told: readonly Told[];
  readonly acts: readonly Act[];
  readonly failure: unknown;
}

/** Texts of events by task and number. */
type RecordedEvents = ReadonlyMap<string, ReadonlyMap<number, string>>;

export interface Truth {
  readonly scenario: Scenario;
  readonly start: DiskModel;
  readonly picture: string;
  /** By task; what stood before, and all that an undisturbed life recorded. */
  readonly before: RecordedEvents;
  readonly recorded: RecordedEvents;
  readonly contents: ReadonlyMap<string, ReadonlyMap<string, string>>;
}

export async function prepareTruth(scenario: Scenario, wrap?: Wrap): Promise<{ truth: Truth; life: VerbLife }> {
  const start = await startScenario(scenario);
  const before = await readEvents(scenario, start);
  const contents = new Map(
    (scenario.untouched ?? []).map((task) => [task, contentsOf(start, `${MODEL_ROOT}/${task}`)] as const),
  );
  const life = await live(scenario, { start, ...(wrap === undefined ? {} : { wrap }) });
  if (life.failure !== undefined) throw life.failure;
  const end = life.disk.imageAt(life.disk.operationCount, { kind: "kill" });
  const recorded = mergeEvents(before, await readEvents(scenario, end));
  const disk = new FaultyFileSystem({ disk: end });
  const place = await openPlaceOn(scenario, { disk, seed: "on to the end" });
  await scenario.finish?.(place);
  const picture = canonicalJson(await scenario.picture(place));
  return { truth: { scenario, start, picture, before, recorded, contents }, life };
}

export async function live(
  scenario: Scenario,
  { start, wrap, faults }: { start: DiskModel; wrap?: Wrap; faults?: readonly FaultPlan[] },
): Promise<VerbLife> {
  const disk = new FaultyFileSystem({ disk: start, ...(faults === undefined ? {} : { faults }) });
  const place = await openPlaceOn(scenario, { disk, seed: "acting", wrap });
  let failure: unknown;
  try {
    await scenario.act(place, (what) => place.tell(what));
  } catch (error) {
    failure = error;
  }
  await place.verbs.close();
  return { disk, told: place.told, acts: place.acts, failure };
}

export async function readEvents(scenario: Scenario, image: DiskModel): Promise<RecordedEvents> {
  const place = await openPlaceOn(scenario, { disk: new FaultyFileSystem({ disk: image }), seed: "reading" });
  const found = new Map<string, Map<number, string>>();
  for (const { task, problem } of await place.verbs.list())
    if (problem === undefined) {
      const events = await place.repeat(() => eventsOf(place, task), "TASK_NOT_STARTED");
      if (events !== undefined) found.set(task, events);
    }
  return found;
}

/** What was removed on purpose was recorded all the same. */
export function mergeEvents(before: RecordedEvents, after: RecordedEvents): RecordedEvents {
  const merged = new Map<string, Map<number, string>>();
  for (const events of [before, after])
    for (const [task, texts] of events) merged.set(task, new Map([...(merged.get(task) ?? []), ...texts]));
  return merged;
}
