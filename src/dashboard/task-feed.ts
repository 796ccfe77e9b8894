/**
 * Follows one task for as long as somebody looks at it: one reader for all its viewers. A picture of the task is sent when
 * events came, no more often than reading it allows.
 */
import { messageOf, SplashdownError } from "../base/errors.js";
import type { FeedParts } from "./list-feed.js";
import type { Viewer } from "./viewer.js";

const PICTURE_INTERVAL_MS = 250;
/** How often a task that nobody runs is looked at. */
const IDLE_INTERVAL_MS = 1000;
/** Reading takes at most this share of the time. */
const BUSY_SHARE = 0.25;

export class TaskFeed {
  readonly #parts: FeedParts;
  readonly #task: string;
  readonly #ended: () => void;
  readonly #viewers = new Set<Viewer>();
  readonly #over = new AbortController();
  /** What was sent last: a picture, or why there is none. */
  #last: { readonly text: string; readonly picture: unknown; readonly isRunning: boolean } | undefined;

  /** `ended` is called when the last viewer has left. */
  constructor(parts: FeedParts, task: string, ended: () => void) {
    this.#parts = parts;
    this.#task = task;
    this.#ended = ended;
    void this.#follow();
  }

  join(viewer: Viewer): () => void {
    this.#viewers.add(viewer);
    if (this.#last?.picture !== undefined) viewer.send("task", this.#last.picture);
    return () => {
      this.#viewers.delete(viewer);
      if (this.#viewers.size > 0 || this.#over.signal.aborted) return;
      this.#over.abort();
      this.#ended();
    };
  }

  async #follow(): Promise<void> {
    const { clock } = this.#parts;
    const { signal } = this.#over;
    while (!signal.aborted) {
      const startedMs = clock.monotonicMs();
      try {
        await this.#look();
      } catch (error) {
        this.#tellTrouble(error);
      }
      const tookMs = clock.monotonicMs() - startedMs;
      const intervalMs = this.#last?.isRunning === true ? PICTURE_INTERVAL_MS : IDLE_INTERVAL_MS;
      await clock.sleep(Math.max(intervalMs, tookMs / BUSY_SHARE), signal).catch(() => undefined);
    }
  }

  async #look(): Promise<void> {
    const view = await this.#parts.splashdown.show(this.#task);
    const text = JSON.stringify(view);
    if (text === this.#last?.text || this.#over.signal.aborted) return;
    const picture = { task: view.task, view };
    this.#last = { text, picture, isRunning: view.status === "running" };
    for (const viewer of this.#viewers) viewer.send("task", picture);
  }

  #tellTrouble(error: unknown): void {
    const code = error instanceof SplashdownError ? error.code : "INTERNAL";
    const message = { task: this.#task, error: { code, message: messageOf(error) } };
    const text = JSON.stringify(message);
    if (text === this.#last?.text) return;
    this.#last = { text, picture: undefined, isRunning: false };
    for (const viewer of this.#viewers) viewer.send("trouble", message);
  }
}
