import type { TimelineLane } from "../../src/runtime/contract.js";
import { now } from "../live/state.js";
import { withQuery } from "../live/navigation.js";
import { formatClock, formatDuration } from "../model/figures.js";
import { stretchOf } from "../model/timeline-lanes.js";
import { showText } from "../model/visible.js";
import { Pool } from "../parts/pool.js";
import { Status } from "../parts/status.js";

/** The timeline as rows of text: one for each attempt. */
export function LaneTable({ lanes }: { readonly lanes: readonly TimelineLane[] }) {
  const rows = lanes.flatMap((lane) => lane.spans.map((span) => ({ lane, span })));
  return (
    <Pool
      label="attempts"
      count={rows.length}
      rowHeight={32}
      row={(index) => {
        const found = rows[index];
        if (found === undefined) return null;
        const { lane, span } = found;
        const { from, to } = stretchOf(span);
        return (
          <div class="attempts-grid cells">
            <span role="gridcell">
              <Status of={span.status} small />
            </span>
            <span role="gridcell" class="cut">
              <a href={withQuery({ step: lane.step })}>{showText(lane.path)}</a>
            </span>
            <span role="gridcell">attempt {span.attempt}</span>
            <span role="gridcell" class="number">
              {formatClock(span.from, now.value)}
            </span>
            <span role="gridcell" class="number">
              {formatDuration((to - from) / 1000)}
            </span>
          </div>
        );
      }}
    />
  );
}
