/**
 * One stream to one page. A page that reads slowly is sent the newest of each thing when it reads again, never all that
 * came between: what waits for it is bounded by what there is to show.
 */
import type { TaskSummaryView } from "../runtime/contract.js";

/** What a stream carries, by the name of its event. */
export interface StreamMessages {
  /** Rows that are new or have changed, and names of tasks that are gone. */
  readonly tasks: { readonly changed: readonly TaskSummaryView[]; readonly removed: readonly string[] };
  readonly questions: unknown;
  readonly task: unknown;
  /** The task that is watched cannot be read. */
  readonly trouble: unknown;
  readonly beat: { readonly at: string };
}

/** Where the bytes go. */
export interface StreamOut {
  /** False: no more may be written until `onDrain` calls. */
  readonly write: (text: string) => boolean;
  readonly onDrain: (resume: () => void) => void;
}

export class Viewer {
  readonly #out: StreamOut;
  readonly #waiting = new Map<keyof StreamMessages, unknown>();
  #isFull = false;

  constructor(out: StreamOut) {
    this.#out = out;
    out.onDrain(() => this.#flush());
  }

  send<K extends keyof StreamMessages>(kind: K, message: StreamMessages[K]): void {
    if (!this.#isFull) this.#write(kind, message);
    else if (kind !== "beat") this.#waiting.set(kind, this.#merge(kind, message));
  }

  /** Rows of tasks add up by name; of all else the newest counts. */
  #merge(kind: keyof StreamMessages, message: unknown): unknown {
    const before = this.#waiting.get(kind);
    if (kind !== "tasks" || before === undefined) return message;
    return mergeTasks(before as StreamMessages["tasks"], message as StreamMessages["tasks"]);
  }

  #flush(): void {
    this.#isFull = false;
    for (const [kind, message] of this.#waiting) {
      if (this.#isFull) return;
      this.#waiting.delete(kind);
      this.#write(kind, message);
    }
  }

  #write(kind: keyof StreamMessages, message: unknown): void {
    this.#isFull = !this.#out.write(`event: ${kind}\ndata: ${JSON.stringify(message)}\n\n`);
  }
}

function mergeTasks(before: StreamMessages["tasks"], after: StreamMessages["tasks"]): StreamMessages["tasks"] {
  const changed = new Map(before.changed.map((row) => [row.task, row]));
  const removed = new Set(before.removed);
  for (const row of after.changed) {
    changed.set(row.task, row);
    removed.delete(row.task);
  }
  for (const name of after.removed) {
    changed.delete(name);
    removed.add(name);
  }
  return { changed: [...changed.values()], removed: [...removed] };
}
