import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import type { GraphView } from "../../src/runtime/contract.js";
import { taskPath } from "../live/api.js";
import { useResource } from "../live/resource.js";
import { drawGraph } from "../model/graph-picture.js";
import { groupSteps } from "../model/graph-steps.js";
import { Failure, Loading } from "../parts/notice.js";
import { ArrowLine, BoxShape, FrameShape } from "./graph-shapes.js";
import type { TaskPart } from "./task-page.js";

const ZOOMS = [0.35, 0.5, 0.7, 0.85, 1, 1.25, 1.6];
const ZOOM_ONE = 4;

/** The definition as a drawing, with how each step stands. Its places depend on the definition alone: nothing jumps while it runs. */
export function GraphPane({ view }: TaskPart) {
  const { value, error, isLoading } = useResource<GraphView>(taskPath(view.task, "/graph"));
  const opened = useSignal<ReadonlySet<string>>(new Set());
  const zoom = useSignal(ZOOM_ONE);
  const root = value?.root;
  const picture = useMemo(
    () => (root === undefined ? undefined : drawGraph(root, (id) => opened.value.has(id))),
    [root, opened.value],
  );
  const groups = useMemo(() => groupSteps(view.steps), [view.steps]);
  if (error !== undefined) return <Failure of={error} />;
  if (isLoading || picture === undefined) return <Loading />;
  const toggle = (id: string): void => {
    const next = new Set(opened.value);
    if (!next.delete(id)) next.add(id);
    opened.value = next;
  };
  const scale = ZOOMS[zoom.value] ?? 1;
  const { width, height, frames, boxes, arrows } = picture;
  return (
    <div class="graph-pane">
      <div class="graph-tools">
        <button
          type="button"
          class="quiet"
          aria-label="smaller"
          onClick={() => (zoom.value = Math.max(0, zoom.value - 1))}
        >
          −
        </button>
        <button
          type="button"
          class="quiet"
          aria-label="larger"
          onClick={() => (zoom.value = Math.min(ZOOMS.length - 1, zoom.value + 1))}
        >
          +
        </button>
      </div>
      <div class="graph-scroll" tabIndex={0} role="region" aria-label="graph of the task">
        <svg
          class="graph"
          viewBox={`-2 -2 ${width + 4} ${height + 4}`}
          width={(width + 4) * scale}
          height={(height + 4) * scale}
          role="group"
          aria-label="steps and what leads to what"
        >
          <defs>
            <marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
              <path d="M0,0.5 L7.500,4 L0,7.500z" class="tip" />
            </marker>
          </defs>
          {frames.map((drawn) => (
            <FrameShape key={drawn.frame.id} of={drawn} groups={groups} onToggle={toggle} />
          ))}
          {arrows.map((drawn, at) => (
            <ArrowLine key={at} of={drawn} />
          ))}
          {boxes.map((drawn) => (
            <BoxShape key={drawn.box.id} of={drawn} groups={groups} />
          ))}
        </svg>
      </div>
    </div>
  );
}
