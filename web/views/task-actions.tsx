import { useSignal } from "@preact/signals";
import type { GuideView, RequestView, TaskView } from "../../src/runtime/contract.js";
import { act, goOn, taskPath } from "../live/api.js";
import { formatCommand } from "../model/commands.js";
import { Act } from "../parts/act.js";

/** What a person can do to a task as it stands. */
export function Actions({ view }: { readonly view: TaskView }) {
  const { task, status } = view;
  if (view.as_of !== undefined || status === "done") return null;
  const ask = (request: "pause" | "stop" | "checkpoint") => async () => {
    const { checkpoint_id } = await act<RequestView>(taskPath(task, "/request"), { request });
    return `taken by the task${checkpoint_id === undefined ? "" : `: checkpoint ${checkpoint_id}`}`;
  };
  return (
    <section>
      <h2>Act</h2>
      {status === "running" ? (
        <div class="acts">
          <Act label="Pause" command={formatCommand("pause", task)} run={ask("pause")} />
          <Act label="Stop" command={formatCommand("stop", task)} run={ask("stop")} />
          <Act label="Save a checkpoint" command={formatCommand("checkpoint", task)} run={ask("checkpoint")} />
        </div>
      ) : (
        view.next !== undefined && <Act label="Go on" isMain command={view.next} run={() => goOn(task)} />
      )}
      <Guide task={task} />
    </section>
  );
}

/** A word to the task, for the steps that begin after it. */
function Guide({ task }: { readonly task: string }) {
  const text = useSignal("");
  return (
    <div class="guide">
      <label class="field">
        <span>Say something to the steps that are still to begin</span>
        <textarea
          rows={2}
          maxLength={8000}
          value={text.value}
          onInput={(event) => (text.value = event.currentTarget.value)}
        />
      </label>
      {text.value.trim() !== "" && (
        <Act
          label="Say it"
          command={formatCommand("guide", task, text.value)}
          run={async () => {
            const { taken } = await act<GuideView>(taskPath(task, "/guide"), { text: text.value });
            return taken ? "taken" : "kept until the task goes on";
          }}
        />
      )}
    </div>
  );
}
