/** A story that is told on every store; no runner in here. */
import type { StoreKind, StorePlace } from "./store-places.js";

export interface Story {
  /** A sentence about behaviour. */
  readonly title: string;
  /** Told on every store in each run of the tests; the others are told on SQLite then, and everywhere in the long form. */
  readonly isShort?: boolean;
  /** Left out where one process at a time may open the store. */
  readonly needsSharing?: boolean;
  /**
   * Its store lies on a disk whose size the story sets, or the database's log alone does, where it has one that can lie apart;
   * left out where nothing can be mounted.
   */
  readonly needsDisk?: "store" | "log";
  readonly tell: (place: StorePlace, store: StoreKind) => Promise<void>;
}
