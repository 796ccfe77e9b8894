/** A task as somebody without keys attacks it: the attacks on its kind of store, each of which makes a machine. */
import type { FileSystem } from "../../../src/base/file-system.js";
import type { DiskModel } from "../../support/disk-model.js";
import { ModelFileSystem } from "../../support/model-file-system.js";
import { ExploredPlace } from "../verbs/explored-place.js";
import type { StoreOf } from "../verbs/verb-room.js";
import { PAYMENTS } from "./attack-scene.js";

/** Shape: the attacks in an order that does not change. */
export interface AttackTarget {
  attacks(): Iterable<TargetAttack>;
  close(): Promise<void>;
}

export interface TargetAttack {
  readonly name: string;
  /** The whole task is gone under its name, or is another one: who starts it then starts a new one. */
  readonly takesTaskAway?: boolean;
  /** The machine after it; `undefined`: the store takes no such thing. */
  make(): Promise<AttackedMachine | undefined>;
}

/** Processes start there, one after another; each sees what those before it left. */
export interface AttackedMachine {
  /** The newest keyring that was in force is not there any more. Damaged, the one before stands for it (V11). */
  readonly lacksKeyring: boolean;
  open(): Promise<ExploredPlace>;
}

export function createMachine(disk: DiskModel, lacksKeyring: boolean, store?: StoreOf): AttackedMachine {
  const fileSystem: FileSystem = new ModelFileSystem(disk);
  let opened = 0;
  return {
    lacksKeyring,
    open: () => {
      const seed = `victim ${(opened += 1)}`;
      return ExploredPlace.open({ fileSystem, now: () => 0, seed, store }, { workflow: PAYMENTS });
    },
  };
}

/** Name of the newest keyring. */
export function newestKeyring(names: Iterable<string>): string {
  const keyrings = [...names].filter((name) => name.startsWith("keyring-"));
  return keyrings.sort().at(-1) ?? "";
}
