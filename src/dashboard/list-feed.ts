/** Follows the list of all tasks and the open questions for as long as somebody looks: one reader for all viewers. */
import type { Clock } from "../base/clock.js";
import { messageOf } from "../base/errors.js";
import type { Log } from "../base/log.js";
import type { Splashdown, TaskSummaryView } from "../runtime/contract.js";
import type { Viewer } from "./viewer.js";

export interface FeedParts {
  readonly splashdown: Splashdown;
  readonly clock: Clock;
  readonly log: Log;
}

const LIST_INTERVAL_MS = 1000;
/** Reading takes at most this share of the time. */
const BUSY_SHARE = 0.25;

export class ListFeed {
  readonly #parts: FeedParts;
  readonly #viewers = new Set<Viewer>();
  #rows: ReadonlyMap<string, TaskSummaryView> = new Map();
  /** Rows as text: what did not change is not sent again. */
  #texts: ReadonlyMap<string, string> = new Map();
  #questions: { readonly text: string; readonly view: unknown } | undefined;
  #following: AbortController | undefined;

  constructor(parts: FeedParts) {
    this.#parts = parts;
  }

  /** Sends what is known now, then what changes. The answer ends it. */
  join(viewer: Viewer): () => void {
    this.#viewers.add(viewer);
    if (this.#following === undefined) this.#begin();
    else {
      viewer.send("tasks", { changed: [...this.#rows.values()], removed: [] });
      if (this.#questions !== undefined) viewer.send("questions", this.#questions.view);
    }
    return () => {
      this.#viewers.delete(viewer);
      if (this.#viewers.size > 0) return;
      this.#following?.abort();
      this.#following = undefined;
    };
  }

  #begin(): void {
    const following = new AbortController();
    this.#following = following;
    [this.#rows, this.#texts, this.#questions] = [new Map(), new Map(), undefined];
    void this.#follow(following.signal);
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#parts;
    while (!signal.aborted) {
      const startedMs = clock.monotonicMs();
      await this.#look(signal).catch((error: unknown) => log.warn(`the list could not be read: ${messageOf(error)}`));
      const tookMs = clock.monotonicMs() - startedMs;
      await clock.sleep(Math.max(LIST_INTERVAL_MS, tookMs / BUSY_SHARE), signal).catch(() => undefined);
    }
  }

  async #look(signal: AbortSignal): Promise<void> {
    const list = await this.#parts.splashdown.list();
    if (signal.aborted) return;
    const texts = new Map(list.map((row) => [row.task, JSON.stringify(row)]));
    const changed = list.filter(({ task }) => texts.get(task) !== this.#texts.get(task));
    const removed = [...this.#texts.keys()].filter((task) => !texts.has(task));
    const isFirst = this.#texts.size === 0 && this.#questions === undefined;
    [this.#rows, this.#texts] = [new Map(list.map((row) => [row.task, row])), texts];
    if (isFirst || changed.length + removed.length > 0)
      this.#tell((viewer) => viewer.send("tasks", { changed, removed }));
    if (isFirst || changed.length + removed.length > 0) await this.#lookAtQuestions(signal);
  }

  async #lookAtQuestions(signal: AbortSignal): Promise<void> {
    const view = await this.#parts.splashdown.questions();
    const text = JSON.stringify(view);
    if (signal.aborted || text === this.#questions?.text) return;
    this.#questions = { text, view };
    this.#tell((viewer) => viewer.send("questions", view));
  }

  #tell(send: (viewer: Viewer) => void): void {
    for (const viewer of this.#viewers) send(viewer);
  }
}
