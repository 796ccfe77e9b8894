import { useSignal } from "@preact/signals";
import { refresh } from "../live/stream.js";
import { session } from "../live/state.js";
import { Command } from "./command.js";
import { Failure } from "./notice.js";

interface ActProps {
  readonly label: string;
  /** What does the same in a terminal. */
  readonly command: string;
  /** Shape: a sentence about what came of it. */
  readonly run: () => Promise<string | undefined>;
  readonly isMain?: boolean;
  readonly isDisabled?: boolean;
}

/** A button that acts, the command that does the same, and what came of it. Where the server only reads, the command alone. */
export function Act({ label, command, run, isMain, isDisabled }: ActProps) {
  const isBusy = useSignal(false);
  const outcome = useSignal<Error | string | undefined>(undefined);
  const press = async (): Promise<void> => {
    isBusy.value = true;
    outcome.value = undefined;
    try {
      outcome.value = (await run()) ?? "done";
      void refresh();
    } catch (error) {
      outcome.value = error instanceof Error ? error : new Error(String(error));
    }
    isBusy.value = false;
  };
  const { value } = outcome;
  return (
    <div class="act">
      {session.value?.read_only !== true && (
        <button
          type="button"
          class={isMain === true ? "main" : ""}
          disabled={isDisabled === true || isBusy.value}
          onClick={() => void press()}
        >
          {isBusy.value ? `${label}…` : label}
        </button>
      )}
      <Command of={command} />
      {value instanceof Error && <Failure of={value} />}
      {typeof value === "string" && (
        <p class="said" role="status">
          {value}
        </p>
      )}
    </div>
  );
}
