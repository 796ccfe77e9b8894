/** What is explored over the whole program: a verb, what stood before it, and what must hold whenever it is cut off. */
import type { RunView } from "../../../src/index.js";
import type { JsonValue } from "../../../src/base/json.js";
import type { FileSystem } from "../../../src/base/file-system.js";
import type { DiskModel } from "../../support/disk-model.js";
import { FaultyFileSystem } from "../faulty-file-system.js";
import { ExploredPlace, type Bodies, type WorkflowOf } from "./explored-place.js";

/** The task ended in order, but not where the undisturbed one does. */
export class EndedOtherwise extends Error {
  override readonly name = "EndedOtherwise";

  constructor(
    readonly view: RunView,
    expected: string,
  ) {
    super(`it is ${view.status} (${view.reason}), not ${expected}`);
  }
}

export interface Looking {
  readonly told: ReadonlySet<string>;
  /** Paths of all files of tasks, but audit trails and marks of owners. */
  readonly files: readonly string[];
  /** No operation had failed. */
  readonly isWell: boolean;
}

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
  readonly missing?: (place: ExploredPlace, looking: Looking) => Promise<string | undefined>;
  /** What must be the same at the end, crash or none. */
  picture(place: ExploredPlace): Promise<JsonValue>;
  /** Tasks that the verb only reads: no byte of them changes but their audit trail. */
  readonly untouched?: readonly string[];
  /** Bytes rotted: damage may be named before the verb has mended it. */
  readonly hasRot?: boolean;
  /** Everything is sealed again: files have other names and digests, and the records that name them say so. */
  readonly reseals?: boolean;
  /** How much rarer the places to crash are in the short form, for a life that is long. */
  readonly strideFactor?: number;
  /** Codes that say in a list why a task cannot be read any more; none unless told. */
  readonly unreadableAs?: readonly string[];
  /** Tasks that the verb may remove. */
  readonly mayVanish?: readonly string[];
}

export async function startScenario(scenario: Scenario): Promise<DiskModel> {
  const disk = new FaultyFileSystem();
  const place = await openPlaceOn(scenario, { disk, seed: "before" });
  await scenario.prepare(place);
  await place.verbs.close();
  return scenario.spoil?.(disk) ?? disk.imageAt(disk.operationCount, { kind: "power", seed: 3 });
}

/** What stands between the program and the disk; nothing unless told. */
export type Wrap = (fileSystem: FileSystem) => FileSystem;

export interface PlaceParts {
  readonly disk: FaultyFileSystem;
  readonly seed: string;
  readonly wrap?: Wrap | undefined;
}

export function openPlaceOn(scenario: Scenario, { disk, seed, wrap }: PlaceParts): Promise<ExploredPlace> {
  const options = {
    fileSystem: wrap?.(disk) ?? disk,
    now: () => disk.operationCount,
    seed,
    ...(scenario.variables === undefined ? {} : { variables: scenario.variables }),
  };
  const startMs = seed === "before" ? 0 : (scenario.actsAtMs ?? 60_000);
  return ExploredPlace.open(options, scenario, startMs);
}
