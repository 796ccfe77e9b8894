/** What stores are built from: the ports and the facts about this machine. Made in runtime/, faked in tests. */
import type { Clock } from "../../base/clock.js";
import type { FileSystem } from "../../base/file-system.js";
import type { Place } from "../../base/place.js";
import type { RandomSource } from "../../base/random.js";
import type { OwnerFacts } from "./contract.js";
import type { PresencePort } from "./presence-port.js";

export interface Watched {
  /** A task's checkpoints folder. */
  readonly folder: string;
  /** Beginning of the object keys that are waited for. */
  readonly prefix: string;
}

/** Calls back when something under the prefix may have changed; the answer stops it. A hint, never relied upon. */
export type FolderWatcher = (watched: Watched, onChange: () => void) => () => void;

export interface Machine extends Place {
  /** Whether the process that the facts name has provably ended; false also where that cannot be told. */
  readonly hasEnded?: (owner: OwnerFacts) => Promise<boolean>;
}

export interface StoreParts {
  readonly fileSystem: FileSystem;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly platform: NodeJS.Platform;
  /** Whom all files must belong to; undefined where the platform has no user ids. */
  readonly userId?: number | undefined;
  /** This machine, as owners name theirs; without it only an owner's own answer counts. */
  readonly machine?: Machine | undefined;
  /** Without it no socket is made or asked, and a recorded owner is `unclear`. */
  readonly presence?: PresencePort | undefined;
  readonly watchFolder?: FolderWatcher | undefined;
  /** Size of the reserve; `LIMITS.ballastBytes` unless told. */
  readonly reserveBytes?: number | undefined;
}

/** Parts of a store whose address names a path. */
export interface PlacedStoreParts extends StoreParts {
  /** What relative paths in an address start from; absolute. */
  readonly workingFolder: string;
}
