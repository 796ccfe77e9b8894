import type { CheckView, MetricsReport } from "../../src/runtime/contract.js";
import { useResource } from "../live/resource.js";
import { formatRoute } from "../model/route.js";
import { showText } from "../model/visible.js";
import { Command } from "../parts/command.js";
import { Failure, Loading } from "../parts/notice.js";
import { Text } from "../parts/text.js";
import { Figures } from "./figures.js";

/** How the store and this machine are: the checks of `doctor`, and the figures over all tasks. */
export function HealthView() {
  const doctor = useResource<{ readonly checks: readonly CheckView[] }>("doctor");
  const metrics = useResource<MetricsReport>("metrics");
  return (
    <section class="view">
      <div class="head">
        <h1>Health</h1>
        <Command of="splashdown doctor" />
      </div>
      {doctor.isLoading && <Loading />}
      {doctor.error !== undefined && <Failure of={doctor.error} />}
      {doctor.value !== undefined && <Checks of={doctor.value.checks} />}
      <h2>Figures over all tasks</h2>
      {metrics.isLoading && <Loading />}
      {metrics.error !== undefined && <Failure of={metrics.error} />}
      {metrics.value !== undefined && (
        <>
          <Figures of={metrics.value} />
          <h2>Not read</h2>
          {metrics.value.passed_over.length === 0 ? (
            <p class="muted">every task was read</p>
          ) : (
            <ul>
              {metrics.value.passed_over.map(({ task, why }) => (
                <li key={task}>
                  <a href={formatRoute({ place: "task", task })}>{showText(task)}</a> <Text of={why} />
                </li>
              ))}
            </ul>
          )}
        </>
      )}
    </section>
  );
}

function Checks({ of }: { readonly of: readonly CheckView[] }) {
  return (
    <ul class="checks">
      {of.map(({ name, ok, skipped, text, hint }) => (
        <li key={name}>
          <span class={`status tone-${ok ? "good" : skipped === true ? "calm" : "bad"}`}>
            <span class="shape" aria-hidden="true">
              {ok ? "✓" : skipped === true ? "–" : "✕"}
            </span>
            {showText(name)}
          </span>
          <span>
            <Text of={text} /> {hint !== undefined && <Command of={hint} />}
          </span>
        </li>
      ))}
    </ul>
  );
}
