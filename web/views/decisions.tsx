import { now } from "../live/state.js";
import { formatClock } from "../model/figures.js";
import { Meter } from "../parts/meter.js";
import { Empty } from "../parts/notice.js";
import { Text } from "../parts/text.js";
import type { TaskPart } from "./task-page.js";

/** An entry of `TaskView.decisions`. */
interface Decision {
  readonly timestamp: string;
  readonly agent: string;
  readonly type: string;
  readonly description: string;
  readonly rationale: string;
  readonly alternatives_considered: readonly string[];
  readonly confidence: number | null;
  readonly subject: string | null;
}

/** Who chose what, why, and what else there was to choose. */
export function DecisionsView({ view }: TaskPart) {
  const decisions = view.decisions as unknown as readonly Decision[];
  if (decisions.length === 0) {
    return (
      <Empty title="Nothing was decided yet">
        <p>Choices of Atlas and Apollo, of people and of the engine stand here with their reasons.</p>
      </Empty>
    );
  }
  return (
    <ol class="decisions">
      {decisions.map((decision) => (
        <li key={decision.timestamp + decision.description}>
          <header>
            <b class="agent">{decision.agent}</b> <span class="pill">{decision.type.replaceAll("_", " ")}</span>
            <span class="muted right">{formatClock(decision.timestamp, now.value)}</span>
          </header>
          <p>
            <Text of={decision.description} />
          </p>
          <p class="muted">
            <Text of={decision.rationale} length={1200} />
          </p>
          {decision.alternatives_considered.length > 0 && (
            <p class="muted">
              instead of <Text of={decision.alternatives_considered.join(", ")} />
            </p>
          )}
          {decision.confidence !== null && <Meter of={decision.confidence} />}
        </li>
      ))}
    </ol>
  );
}
