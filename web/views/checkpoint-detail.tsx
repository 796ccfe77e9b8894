import { useSignal } from "@preact/signals";
import type { CheckpointView, ForkView, PinView, PlanView } from "../../src/runtime/contract.js";
import { act, goOn, taskPath } from "../live/api.js";
import { goTo, route, setQuery } from "../live/navigation.js";
import { useResource } from "../live/resource.js";
import { formatCommand } from "../model/commands.js";
import { formatCount } from "../model/figures.js";
import { Act } from "../parts/act.js";
import { Failure, Loading } from "../parts/notice.js";
import { Text } from "../parts/text.js";

interface DetailProps {
  readonly of: CheckpointView;
  readonly others: readonly CheckpointView[];
}

/** One checkpoint: what going on from here would do, before it is done; and how to keep and compare it. */
export function CheckpointDetail({ of, others }: DetailProps) {
  const { task, seq, pinned, checkpoint_id } = of;
  const from = String(seq);
  const reference = `${task}:${seq}`;
  const verb = pinned === true ? "unpin" : "pin";
  return (
    <>
      <h2>Checkpoint {seq}</h2>
      <p class="muted">
        <code>{checkpoint_id}</code>
      </p>
      <label class="field inline">
        <span>compare with</span>
        <select
          value={route.value.query["with"] ?? ""}
          onChange={(event) => setQuery({ with: event.currentTarget.value })}
        >
          <option value="">none</option>
          {others
            .filter((other) => other.seq !== seq)
            .map((other) => (
              <option key={other.seq} value={other.seq}>
                {other.seq}, {other.trigger.replaceAll("_", " ")}
              </option>
            ))}
        </select>
      </label>
      <h3>Go on from here</h3>
      <Plan task={task} from={from} />
      <Act
        label="Go back here, and on"
        command={formatCommand("resume", task, "--from", from)}
        run={() => goOn(task, from)}
      />
      <Fork task={task} from={from} />
      <h3>Keep</h3>
      <Act
        label={pinned === true ? "Unpin" : "Pin"}
        command={formatCommand("checkpoints", verb, reference)}
        run={async () => {
          const { changed } = await act<PinView>(taskPath(task, `/${verb}`), { ref: from });
          return changed ? `${verb}ned` : `it was so before`;
        }}
      />
    </>
  );
}

/** What `resume --from` would do, told before anything is done. */
function Plan({ task, from }: { readonly task: string; readonly from: string }) {
  const { value, error, isLoading } = useResource<PlanView>(taskPath(task, `/plan?from=${encodeURIComponent(from)}`));
  if (isLoading) return <Loading />;
  if (error !== undefined) return <Failure of={error} />;
  if (value === undefined) return null;
  const { done, to_run, to_rerun, unknown, acted_since = [] } = value;
  return (
    <div class="plan">
      {acted_since.length > 0 && (
        <div class="notice wait">
          <b>? {formatCount(acted_since.length, "step")} acted outside since.</b> Before one of them runs again you are
          asked: <Text of={acted_since.join(", ")} />
        </div>
      )}
      <Steps title="stay done" of={done} />
      <Steps title="will run" of={to_run} />
      <Steps title="run again" of={to_rerun.map(({ step, why }) => `${step}: ${why}`)} />
      <Steps title="have an unknown outcome" of={unknown} />
    </div>
  );
}

function Steps({ title, of }: { readonly title: string; readonly of: readonly string[] }) {
  if (of.length === 0) return null;
  return (
    <details>
      <summary>
        {formatCount(of.length, "step")} {title}
      </summary>
      <ul>
        {of.slice(0, 200).map((text) => (
          <li key={text}>
            <Text of={text} />
          </li>
        ))}
        {of.length > 200 && <li class="muted">and {of.length - 200} more</li>}
      </ul>
    </details>
  );
}

/** A new task from this point; the old one stays as it is. */
function Fork({ task, from }: { readonly task: string; readonly from: string }) {
  const name = useSignal(`${task}-fork`);
  const edits = useSignal("");
  const set = readEdits(edits.value);
  const flags = Object.entries(set.values).flatMap(([path, value]) => ["--set", `${path}=${JSON.stringify(value)}`]);
  return (
    <>
      <h3>Or fork: a new task from here, this one stays</h3>
      <label class="field">
        <span>its name</span>
        <input type="text" value={name.value} onInput={(event) => (name.value = event.currentTarget.value)} />
      </label>
      <label class="field">
        <span>
          values to change, one a line <span class="muted">inputs.n=5, channel.key=…, outputs.STEP.field=…</span>
        </span>
        <textarea
          rows={2}
          class="mono"
          value={edits.value}
          onInput={(event) => (edits.value = event.currentTarget.value)}
        />
        {set.fault !== undefined && <span class="fault">{set.fault}</span>}
      </label>
      <Act
        label="Fork"
        isDisabled={set.fault !== undefined}
        command={formatCommand("fork", task, "--from", from, "--task", name.value, ...flags)}
        run={async () => {
          const fork = await act<ForkView>(taskPath(task, "/fork"), { from, task: name.value, set: set.values });
          goTo({ place: "task", task: fork.task });
          return `made; go on with ${fork.next}`;
        }}
      />
    </>
  );
}

/** Lines of `path=value`; a value that is JSON is taken as such, any other as text. */
function readEdits(text: string): { readonly values: Readonly<Record<string, unknown>>; readonly fault?: string } {
  const values: Record<string, unknown> = {};
  for (const line of text.split("\n").filter((one) => one.trim() !== "")) {
    const [, path, value = ""] = /^\s*([^=\s]+)\s*=(.*)$/s.exec(line) ?? [];
    if (path === undefined) return { values, fault: `no path=value: ${line}` };
    values[path] = readJsonOrText(value.trim());
  }
  return { values };
}

function readJsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
