/** An entry of the reference: a key of a file, a verb, an error code, an exit status, or a variable. */

interface EntryBase {
  /** The word as people write it: `step.effects`, `debug replay`, `STEP_FAILED`, `22`, `SPLASHDOWN_STORE`. */
  readonly name: string;
  readonly text: string;
}

export interface KeyEntry extends EntryBase {
  readonly kind: "key" | "setting";
  /** The object that holds the key: `step`, `checkpoint_config`, or a file's name for a key at the top. */
  readonly owner: string;
  readonly key: string;
  /** The type in words, such as `text`, `list of step`, `none | idempotent | external`. */
  readonly type: string;
  readonly default?: string;
  readonly required: boolean;
  /** The owner's nearest places, such as `phases[].specialists[]`. */
  readonly places: readonly string[];
  /** One line of YAML. */
  readonly example: string;
}

export interface VerbEntry extends EntryBase {
  readonly kind: "verb";
  /** The text that `--help` prints. */
  readonly help: string;
}

export interface CodeEntry extends EntryBase {
  readonly kind: "error";
  readonly exit_status: number;
  /** The remedy; a word in capitals stands for a detail that the error tells. */
  readonly remedy: string;
  /** True where a later try may go well. */
  readonly retryable: boolean;
}

export interface StatusEntry extends EntryBase {
  readonly kind: "status";
  /** The codes that end with it. */
  readonly codes: readonly string[];
}

export interface VariableEntry extends EntryBase {
  readonly kind: "variable";
}

export type Entry = KeyEntry | VerbEntry | CodeEntry | StatusEntry | VariableEntry;
