/** Adds up what calls of models used. What nobody told is counted as calls whose tokens or price are unknown. */
import type { Usage } from "../../engine/model/events.js";
import type { SpentView } from "./task-views.js";

export class SpentTally {
  #calls = 0;
  #tokens = 0;
  #costMicroUsd = 0;
  #unpriced = 0;
  #uncounted = 0;

  add({ calls, tokensIn, tokensOut, costMicroUsd }: Usage): void {
    this.#calls += calls;
    this.#tokens += tokensIn + tokensOut;
    this.#costMicroUsd += costMicroUsd ?? 0;
    this.#unpriced += costMicroUsd === undefined ? calls : 0;
    this.#uncounted += tokensIn + tokensOut === 0 ? calls : 0;
  }

  addAll(other: SpentTally): void {
    this.#calls += other.#calls;
    this.#tokens += other.#tokens;
    this.#costMicroUsd += other.#costMicroUsd;
    this.#unpriced += other.#unpriced;
    this.#uncounted += other.#uncounted;
  }

  view(): SpentView {
    return {
      calls: this.#calls,
      tokens: this.#tokens,
      cost_usd: this.#costMicroUsd / 1_000_000,
      unpriced_calls: this.#unpriced,
      uncounted_calls: this.#uncounted,
    };
  }
}
