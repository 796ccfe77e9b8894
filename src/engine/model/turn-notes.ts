/** What a turn of a model says beside its answer. */
export interface TurnNotes {
  readonly fallback?: Fallback;
  /** How much of the step's guidance had been told by then. */
  readonly guided?: number;
}

/** A model that answered in the place of another one. Names as `provider/model`. */
export interface Fallback {
  readonly asked: string;
  readonly answered: string;
  readonly why: string;
}
