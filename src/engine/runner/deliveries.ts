/**
 * Writes deliverables: files of the task that stand beside its history.
 *
 * A file is written after the record that holds its content is durable, one at a time; of several contents of one file
 * only the newest is. The task does not close before they are written, and after a crash they are written again.
 */
import type { SavedFile } from "../model/value-ref.js";
import type { DeliverableWriter } from "../model/ports.js";
import type { TaskState } from "../model/state.js";
import type { Activity } from "./activity.js";
import { Mailbox } from "./mailbox.js";
import type { LargeValues } from "./values.js";

export interface DeliveriesDeps {
  readonly state: TaskState;
  readonly values: LargeValues;
  readonly writer: DeliverableWriter;
  readonly activity: Activity;
  /** Throws when the run is over: nothing is written any more. */
  readonly requireGoing: () => void;
  readonly abandon: (error: unknown) => void;
}

export class Deliveries {
  readonly #deps: DeliveriesDeps;
  readonly #mailbox = new Mailbox();

  constructor(deps: DeliveriesDeps) {
    this.#deps = deps;
  }

  write(files: Iterable<SavedFile>): void {
    for (const file of files) {
      const end = this.#deps.activity.begin();
      void this.#mailbox
        .run(() => this.#write(file))
        .catch(this.#deps.abandon)
        .finally(end);
    }
  }

  /** Resolves when nothing is being written. */
  settled(): Promise<void> {
    return this.#mailbox.run(() => Promise.resolve());
  }

  async #write(file: SavedFile): Promise<void> {
    const { state, values, writer, requireGoing } = this.#deps;
    if (state.deliverables.get(file.file)?.sha256 !== file.sha256) return;
    const content = await values.resolve(file.content);
    requireGoing();
    await writer.write(file.file, typeof content === "string" ? content : JSON.stringify(content, undefined, 2));
  }
}
