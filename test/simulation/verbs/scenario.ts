/** What is explored over the whole program: a verb, what stood before it, and what must hold whenever it is cut off. */
import type { JsonValue } from "../../../src/base/json.js";
import type { DiskModel } from "../../support/disk-model.js";
import { FaultyFileSystem } from "../faulty-file-system.js";
import { ExploredPlace, type Bodies, type WorkflowOf } from "./explored-place.js";

export interface Scenario {
  readonly name: string;
  readonly workflow: WorkflowOf;
  readonly bodies?: Bodies;
  /** Of the environment; a key unless told otherwise. */
  readonly variables?: Readonly<Record<string, string>>;
  /** When the verb is given, after the start of everything. */
  readonly actsAtMs?: number;
  /** What stands before; nothing disturbs it. */
  prepare(place: ExploredPlace): Promise<void>;
  /** Damages or cuts what was prepared. */
  readonly spoil?: (disk: FaultyFileSystem) => DiskModel;
  /** The verb; `tell` when its caller was told that something is done. */
  act(place: ExploredPlace, tell: (what: string) => void): Promise<void>;
  /** What a person does after the crash: the same again, and on to the end. */
  redo(place: ExploredPlace): Promise<void>;
  /** On to the end without any crash. */
  readonly finish?: (place: ExploredPlace) => Promise<void>;
  /** What is missing although the caller was told; looked for before anything is done again. */
  readonly missing?: (place: ExploredPlace, told: ReadonlySet<string>) => Promise<string | undefined>;
  /** What must be the same at the end, crash or none. */
  picture(place: ExploredPlace): Promise<JsonValue>;
  /** Tasks that the verb only reads: no byte of them changes but their audit trail. */
  readonly untouched?: readonly string[];
  /** Tasks that the verb may remove. */
  readonly mayVanish?: readonly string[];
}

export async function startScenario(scenario: Scenario): Promise<DiskModel> {
  const disk = new FaultyFileSystem();
  const place = await openPlaceOn(disk, scenario, "before");
  await scenario.prepare(place);
  await place.verbs.close();
  return scenario.spoil?.(disk) ?? disk.imageAt(disk.operationCount, { kind: "power", seed: 3 });
}

export function openPlaceOn(disk: FaultyFileSystem, scenario: Scenario, seed: string): Promise<ExploredPlace> {
  const options = {
    fileSystem: disk,
    now: () => disk.operationCount,
    seed,
    ...(scenario.variables === undefined ? {} : { variables: scenario.variables }),
  };
  const startMs = seed === "before" ? 0 : (scenario.actsAtMs ?? 60_000);
  return ExploredPlace.open(options, scenario, startMs);
}
