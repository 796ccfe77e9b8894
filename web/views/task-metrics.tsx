import type { ConfidenceView, MetricsReport } from "../../src/runtime/contract.js";
import { taskPath } from "../live/api.js";
import { useResource } from "../live/resource.js";
import { formatShare } from "../model/figures.js";
import { showText } from "../model/visible.js";
import { Meter } from "../parts/meter.js";
import { Failure, Loading } from "../parts/notice.js";
import { Text } from "../parts/text.js";
import { Figures } from "./figures.js";
import type { TaskPart } from "./task-page.js";

/** What the task used, and how sure it is of what it found. */
export function TaskMetricsView({ view, version }: TaskPart) {
  const metrics = useResource<MetricsReport>(taskPath(view.task, "/metrics"), version);
  const confidence = useResource<ConfidenceView>(taskPath(view.task, "/confidence"), version);
  return (
    <div>
      {metrics.isLoading && <Loading />}
      {metrics.error !== undefined && <Failure of={metrics.error} />}
      {metrics.value !== undefined && <Figures of={metrics.value} />}
      {confidence.value?.phases.map((phase) => (
        <section key={phase.number}>
          <h2>
            {showText(phase.name)} <Meter of={phase.confidence} />
          </h2>
          {phase.evaluation !== undefined && (
            <p class="muted">
              scored {phase.evaluation.score} in iteration {phase.evaluation.iteration} of {phase.evaluation.iterations}
            </p>
          )}
          <Specialists of={phase} />
        </section>
      ))}
    </div>
  );
}

function Specialists({ of: { specialists, minimum } }: { readonly of: ConfidenceView["phases"][number] }) {
  return (
    <table>
      <caption>wanted: at least {formatShare(minimum)}</caption>
      <thead>
        <tr>
          <th>specialist</th>
          <th class="number">claimed</th>
          <th class="number">counts</th>
          <th>uncertain of</th>
        </tr>
      </thead>
      <tbody>
        {specialists.map(({ name, claimed, counted, sure, uncertainties, gap }) => (
          <tr key={name}>
            <td>
              <span aria-hidden="true">{sure ? "✓" : "!"}</span> {showText(name)}
            </td>
            <td class="number">{claimed !== undefined && formatShare(claimed)}</td>
            <td class="number" title={gap === undefined ? "" : "claimed and measured differ"}>
              {counted !== undefined && formatShare(counted)}
            </td>
            <td>
              <Text of={uncertainties.map((one) => (typeof one === "string" ? one : JSON.stringify(one))).join("; ")} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
