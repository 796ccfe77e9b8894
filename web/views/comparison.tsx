import { useResource } from "../live/resource.js";
import { formatCommand } from "../model/commands.js";
import { Command } from "../parts/command.js";
import { Failure, Loading } from "../parts/notice.js";
import { Text } from "../parts/text.js";

/** The answer of `debug diff-checkpoints`. */
interface DiffView {
  readonly equal: boolean;
  readonly text: string;
}

/** Two checkpoints of a task, the first difference on top. */
export function Comparison({ task, from, to }: { readonly task: string; readonly from: string; readonly to: string }) {
  const [left, right] = [`${task}:${from}`, `${task}:${to}`];
  const { value, error, isLoading } = useResource<DiffView>(
    `diff?from=${encodeURIComponent(left)}&to=${encodeURIComponent(right)}`,
  );
  return (
    <section>
      <h3>
        From checkpoint {from} to {to}
      </h3>
      {isLoading && <Loading />}
      {error !== undefined && <Failure of={error} />}
      {value?.equal === true && <p class="muted">nothing differs</p>}
      {value?.equal === false && (
        <pre class="block diff">
          {value.text.split("\n").map((line, at) => (
            <span
              key={at}
              class={line.trimStart().startsWith("+") ? "plus" : line.trimStart().startsWith("-") ? "minus" : ""}
            >
              <Text of={`${line}\n`} />
            </span>
          ))}
        </pre>
      )}
      <Command of={formatCommand("debug", "diff-checkpoints", "--from", left, "--to", right)} />
    </section>
  );
}
