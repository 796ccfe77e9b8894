/** What is crashed: small lives of a task, each run once on a disk that remembers every operation. */
import type { FileSystem } from "../../src/base/file-system.js";
import { errorCodeOf } from "../../src/base/errors.js";
import type { DiskModel } from "../support/disk-model.js";
import { RushingClock } from "../support/rushing-clock.js";
import { createSeededRandom } from "../support/seeded-random.js";
import { createModelStore } from "../support/store-places.js";
import type { FaultPlan } from "./fault-plan.js";
import { FaultyFileSystem } from "./faulty-file-system.js";
import { ScriptedOwner, type Deviations, type OwnerPlace } from "./scripted-owner.js";
import { Trace } from "./trace.js";

/** A protocol with something left out; the unchanged one is `{}`. */
export interface Protocol {
  readonly wrapFileSystem?: (fileSystem: FileSystem) => FileSystem;
  readonly deviations?: Deviations;
}

/** A life that was lived: what the disk did, and what was true meanwhile. */
export interface Life {
  readonly disk: FaultyFileSystem;
  readonly trace: Trace;
  readonly stepCount: number;
}

export interface LifeOptions {
  readonly stepCount: number;
  readonly protocol: Protocol;
  readonly start?: DiskModel;
  readonly before?: Trace;
  readonly faults?: readonly FaultPlan[];
}

/** One owner lives from the start, or from what an earlier life left. */
export async function liveAlone(options: LifeOptions): Promise<Life> {
  const { stepCount, protocol, start, before, faults } = options;
  const disk = new FaultyFileSystem({
    ...(start === undefined ? {} : { disk: start }),
    ...(faults === undefined ? {} : { faults }),
  });
  const trace = new Trace(() => disk.operationCount, before);
  await liveUntilFailure(
    createOwner({ disk, trace, protocol, stepCount, seed: before === undefined ? "first" : "second" }),
  );
  return { disk, trace, stepCount };
}

export interface SupersededOptions {
  readonly stepCount: number;
  readonly protocol: Protocol;
  /** Where the first owner is held up, and at which of its steps. */
  readonly place: "recorded" | "intended";
  readonly at: number;
}

/**
 * Two owners: the heir takes over at the given moment of the first one's life, and the first one goes on as if nothing
 * had happened, as a process does that was only slow.
 */
export async function liveSuperseded(options: SupersededOptions): Promise<Life> {
  const { stepCount, protocol, at, place: heldAt } = options;
  const disk = new FaultyFileSystem();
  const trace = new Trace(() => disk.operationCount);
  const shared = { disk, trace, protocol, stepCount };
  let moments = 0;
  let resumeFirst: () => void = () => undefined;
  let heirLife: Promise<void> | undefined;
  const heirPause = async (place: string) => {
    // Between the heir's claim and its header the first owner does all it still can.
    if (place !== "restored" && place !== "deviating") return;
    resumeFirst();
    await firstEnded;
  };
  const firstPause = async (place: string) => {
    if (place !== heldAt || (moments += 1) !== at) return;
    await new Promise<void>((resolve) => {
      resumeFirst = resolve;
      heirLife = liveUntilFailure(createOwner({ ...shared, seed: "heir", pause: heirPause })).finally(resolve);
    });
  };
  const firstEnded = liveUntilFailure(createOwner({ ...shared, seed: "first", pause: firstPause }));
  await firstEnded;
  await heirLife;
  return { disk, trace, stepCount };
}

interface OwnerParts {
  readonly disk: FaultyFileSystem;
  readonly trace: Trace;
  readonly protocol: Protocol;
  readonly stepCount: number;
  readonly seed: string;
  readonly pause?: (place: OwnerPlace) => Promise<void>;
}

function createOwner({ disk, trace, protocol, stepCount, seed, pause }: OwnerParts): ScriptedOwner {
  const fileSystem = protocol.wrapFileSystem?.(disk) ?? disk;
  const store = createModelStore(fileSystem, {
    // Nobody moves time here: what waits for a free descriptor must not wait for ever.
    parts: { clock: new RushingClock(), random: createSeededRandom(`names of ${seed}`) },
  });
  return new ScriptedOwner({
    store,
    seed,
    stepCount,
    witness: trace,
    ...(protocol.deviations === undefined ? {} : { deviations: protocol.deviations }),
    ...(pause === undefined ? {} : { pause }),
  });
}

/** A typed failure ends a life, as it ends a process; anything else is ours. */
async function liveUntilFailure(owner: ScriptedOwner): Promise<void> {
  try {
    await owner.live();
  } catch (error) {
    const code = errorCodeOf(error);
    if (code === undefined || code === "INTERNAL") throw error;
  }
}
