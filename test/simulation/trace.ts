/** What really happened in a run, by operations of the disk: the truth that a crash is held against. */
import { canonicalJson, encodeValue } from "../../src/base/json-encoding.js";
import { evolve } from "../../src/engine/fold/evolve.js";
import type { EngineEvent } from "../../src/engine/model/events.js";
import { createState, type TaskState } from "../../src/engine/model/state.js";
import type { AnchorPosition } from "../../src/vault/anchor.js";
import type { OwnerWitness } from "./scripted-owner.js";
import type { StepIntended } from "./scripted-task.js";

interface Truth {
  readonly events: EngineEvent[];
  readonly texts: string[];
  /** Text of the state after so many events. */
  readonly states: string[];
}

export interface Acknowledgement {
  readonly at: number;
  readonly epoch: number;
  readonly n: number;
}

export class Trace implements OwnerWitness {
  readonly acknowledgements: Acknowledgement[] = [];
  readonly acts: { readonly at: number; readonly intent: StepIntended }[] = [];
  readonly anchors: { readonly at: number; readonly anchor: AnchorPosition }[] = [];
  readonly claims = new Map<number, number>();
  readonly #truths = new Map<number, Truth>();
  readonly #now: () => number;

  /** `now` counts the disk's operations. What was before on the disk is known from the trace before. */
  constructor(now: () => number, before?: Trace) {
    this.#now = now;
    if (before === undefined) return;
    for (const [epoch, truth] of before.#truths) this.#truths.set(epoch, truth);
    for (const [epoch] of before.claims) this.claims.set(epoch, 0);
    this.acknowledgements.push(...before.acknowledgements.filter(({ at }) => at === 0));
    this.acts.push(...before.acts.filter(({ at }) => at === 0));
    this.anchors.push(...before.anchors.filter(({ at }) => at === 0));
  }

  /** What was true after operation k, for a life that goes on from there. */
  upTo(k: number): Trace {
    const cut = new Trace(() => 0, this);
    for (const acknowledgement of this.acknowledgements) {
      if (acknowledgement.at <= k) cut.acknowledgements.push({ ...acknowledgement, at: 0 });
    }
    for (const act of this.acts) if (act.at <= k) cut.acts.push({ ...act, at: 0 });
    for (const anchor of this.anchors) if (anchor.at <= k) cut.anchors.push({ ...anchor, at: 0 });
    return cut;
  }

  claimed(epoch: number): void {
    this.claims.set(epoch, this.#now());
  }

  opened(epoch: number, after: number, from: number): void {
    const before = this.#truths.get(after);
    const events = before?.events.slice(0, from) ?? [];
    const states = before?.states.slice(0, from + 1) ?? [textOfState(createState())];
    this.#truths.set(epoch, { events, texts: before?.texts.slice(0, from) ?? [], states });
  }

  recorded(epoch: number, n: number, event: EngineEvent): void {
    const truth = this.#truths.get(epoch);
    if (truth === undefined || truth.events.length !== n - 1)
      throw new Error(`record ${n} of epoch ${epoch} comes out of order`);
    truth.events.push(event);
    truth.texts.push(canonicalJson(encodeValue(event)));
  }

  acknowledged(epoch: number, n: number): void {
    this.acknowledgements.push({ at: this.#now(), epoch, n });
  }

  acted(intent: StepIntended): void {
    this.acts.push({ at: this.#now(), intent });
  }

  anchored(anchor: AnchorPosition): void {
    this.anchors.push({ at: this.#now(), anchor });
  }

  /** How much had been acknowledged, done and anchored by operation k: more of it with k, never other things. */
  countUpTo(k: number): string {
    const count = (all: readonly { readonly at: number }[]) => all.filter(({ at }) => at <= k).length;
    return [this.acknowledgements, this.acts, this.anchors].map(count).join("/");
  }

  /** The anchor as it lay outside the folder after operation k. */
  anchorAt(k: number): AnchorPosition | undefined {
    return this.anchors.findLast(({ at }) => at <= k)?.anchor;
  }

  /** The event of that number as an owner of that epoch knew it. */
  textOf(epoch: number, n: number): string | undefined {
    return this.#truths.get(epoch)?.texts[n - 1];
  }

  /** The state after n events of that epoch's history, as text. */
  stateTextOf(epoch: number, n: number): string | undefined {
    const truth = this.#truths.get(epoch);
    if (truth === undefined) return undefined;
    if (truth.states[n] === undefined) {
      const state = createState();
      for (const event of truth.events.slice(0, n)) evolve(state, event);
      truth.states[n] = textOfState(state);
    }
    return truth.states[n];
  }
}

export function textOfState(state: TaskState): string {
  return canonicalJson(encodeValue(state));
}
