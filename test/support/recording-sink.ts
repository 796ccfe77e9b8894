/** A sink that writes down what it is told, in order, and can be made to refuse. */
import type { JsonValue } from "../../src/base/json.js";
import type { StepSink, EffectsSink } from "../../src/engine/model/ports.js";

export interface RecordingSink extends StepSink {
  /** Every call as `[name, ...arguments]`. */
  readonly calls: readonly (readonly unknown[])[];
  /** Which models were asked, in order; no part of the calls. */
  readonly begun: readonly string[];
  /** How often `alive` was called; it stands in no order to the calls. */
  readonly signsOfLife: number;
  /** The arguments of the calls of one name. */
  of(name: string): readonly (readonly unknown[])[];
}

/** `refuse` is asked before each call; what it returns is thrown. */
export function createRecordingSink(refuse: (name: string) => Error | undefined = () => undefined): RecordingSink {
  const calls: (readonly unknown[])[] = [];
  let signs = 0;
  const begun: string[] = [];
  const values = new Map<string, JsonValue>();
  const take = (name: string, ...rest: readonly unknown[]): void => {
    const refusal = refuse(name);
    if (refusal !== undefined) throw refusal;
    calls.push([name, ...rest]);
  };
  const takeLater = async (name: string, ...rest: readonly unknown[]): Promise<void> => {
    await Promise.resolve();
    take(name, ...rest);
  };
  /** What a sub-step wishes for is told with its name before it. */
  const wishes = (within: string): EffectsSink => ({
    channel: {
      get: (key) => values.get(key),
      set: (key, value) => {
        take(`${within}set`, key, value);
        values.set(key, value);
      },
      append: (key, value) => take(`${within}append`, key, value),
      add: (key, amount) => take(`${within}add`, key, amount),
    },
    requestCheckpoint: (metadata) => take(`${within}requestCheckpoint`, metadata),
    requestNextIteration: () => take(`${within}requestNextIteration`),
    addStep: (step) => take(`${within}addStep`, step),
    openSubstep: async (name) => {
      await takeLater(`${within}openSubstep`, name);
      return {
        ...wishes(`${name}: `),
        complete: (value) => takeLater(`${within}complete`, name, value),
        fail: (failure) => takeLater(`${within}fail`, name, failure),
      };
    },
    recallSubstep: (name) => take(`${within}recallSubstep`, name),
  });
  return {
    calls,
    of: (name) => calls.filter(([called]) => called === name).map(([, ...rest]) => rest),
    spawned: (process) => takeLater("spawned", process),
    alive: () => {
      signs += 1;
    },
    get signsOfLife() {
      return signs;
    },
    progress: (report) => take("progress", report),
    milestone: (name, state) => takeLater("milestone", name, state),
    turn: (value, usage, notes = {}) =>
      Object.keys(notes).length === 0 ? takeLater("turn", value, usage) : takeLater("turn", value, usage, notes),
    callBegun: (asked) => void begun.push(asked),
    begun,
    beforeCall: () => takeLater("beforeCall"),
    wantApproval: (wish, input) => takeLater("wantApproval", wish, input),
    toolIntended: (call, tool) => takeLater("toolIntended", call, tool),
    toolCompleted: (call, value) => takeLater("toolCompleted", call, value),
    ...wishes(""),
  };
}
