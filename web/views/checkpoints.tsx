import type { CheckpointView } from "../../src/runtime/contract.js";
import { taskPath } from "../live/api.js";
import { route, setQuery } from "../live/navigation.js";
import { useResource } from "../live/resource.js";
import { now } from "../live/state.js";
import { formatClock, formatSize } from "../model/figures.js";
import { showText } from "../model/visible.js";
import { Empty, Failure, Loading } from "../parts/notice.js";
import { Pool } from "../parts/pool.js";
import { CheckpointDetail } from "./checkpoint-detail.js";
import { Comparison } from "./comparison.js";
import type { TaskPart } from "./task-page.js";

/** The points one can go back to, fork from, keep and compare. */
export function CheckpointsView({ view, version }: TaskPart) {
  const { task } = view;
  const { value, error, isLoading } = useResource<readonly CheckpointView[]>(taskPath(task, "/checkpoints"), version);
  const { checkpoint = "", with: other = "" } = route.value.query;
  if (error !== undefined) return <Failure of={error} />;
  if (isLoading || value === undefined) return <Loading />;
  if (value.length === 0) {
    return (
      <Empty title="No checkpoint yet">
        <p>One is taken at every phase, at every end of a specialist, and whenever somebody asks.</p>
      </Empty>
    );
  }
  const rows = [...value].sort((a, b) => b.seq - a.seq);
  const chosen = rows.find(({ seq }) => String(seq) === checkpoint);
  return (
    <div class="split">
      <Pool
        label="checkpoints"
        count={rows.length}
        rowHeight={36}
        selected={rows.findIndex(({ seq }) => String(seq) === checkpoint)}
        onSelect={(index) => setQuery({ checkpoint: String(rows[index]?.seq ?? "") })}
        row={(index) => <Row of={rows[index]} other={other} />}
      />
      {chosen !== undefined && (
        <aside class="step-panel" aria-label={`checkpoint ${chosen.seq}`}>
          <CheckpointDetail key={chosen.seq} of={chosen} others={rows} />
          {other !== "" && other !== checkpoint && <Comparison task={task} from={other} to={checkpoint} />}
        </aside>
      )}
    </div>
  );
}

function Row({ of, other }: { readonly of: CheckpointView | undefined; readonly other: string }) {
  if (of === undefined) return null;
  const { seq, trigger, note, timestamp, phase, size, pinned, reachable } = of;
  return (
    <div class="checkpoints-grid cells">
      <span role="gridcell" class="number">
        {seq}
      </span>
      <span role="gridcell" class="cut">
        {trigger.replaceAll("_", " ")}
        {note !== undefined && <span class="muted"> {showText(note)}</span>}
        {pinned === true && <span class="pill">pinned</span>}
        {reachable === false && <span class="pill">history was shortened</span>}
        {String(seq) === other && <span class="pill">compared with</span>}
      </span>
      <span role="gridcell" class="muted">
        {phase > 0 && `phase ${phase}`}
      </span>
      <span role="gridcell" class="number muted">
        {size === undefined ? "no file" : formatSize(size)}
      </span>
      <span role="gridcell" class="number muted">
        {formatClock(timestamp, now.value)}
      </span>
    </div>
  );
}
