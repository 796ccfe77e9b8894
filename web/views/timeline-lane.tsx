import type { TimelineLane, TimelineView } from "../../src/runtime/contract.js";
import { now } from "../live/state.js";
import { formatClock, formatDuration } from "../model/figures.js";
import { listTicks, type Axis } from "../model/folded-time.js";
import { lookOf } from "../model/status.js";
import { stretchOf } from "../model/timeline-lanes.js";
import { showText } from "../model/visible.js";

/** What is seen of the axis, 0..1. */
export interface AxisWindow {
  readonly start: number;
  readonly end: number;
}

interface LaneProps {
  readonly lane: TimelineLane | undefined;
  readonly axis: Axis;
  readonly window: AxisWindow;
}

export function LaneRow({ lane, axis, window }: LaneProps) {
  if (lane === undefined) return null;
  const bars = lane.spans.map((span) => {
    const { from, to } = stretchOf(span);
    const start = percentOf(axis.place(from), window);
    return { span, from, to, start, width: percentOf(axis.place(to), window) - start };
  });
  return (
    <div class="lane cells">
      <span role="gridcell" class="cut" title={lane.path}>
        {showText(lane.path)}
      </span>
      <span role="gridcell" class="track">
        {bars
          .filter(({ start, width }) => start < 100 && start + width >= 0)
          .map(({ span, from, to, start, width }) => {
            const { tone, shape, word } = lookOf(span.status);
            const told = `attempt ${span.attempt}, ${word}, ${formatDuration((to - from) / 1000)}`;
            return (
              <span
                key={span.attempt + span.from}
                class={`span tone-${tone} is-${span.status}`}
                style={{ left: `${start}%`, width: `max(3px, ${width}%)` }}
                title={`${told}, began ${formatClock(span.from, now.value)}`}
              >
                {width > 3 && <span class="shape">{shape}</span>}
                {width > 9 && formatDuration((to - from) / 1000)}
              </span>
            );
          })}
      </span>
    </div>
  );
}

interface ScaleProps {
  readonly value: TimelineView;
  readonly axis: Axis;
  readonly window: AxisWindow;
}

/** Times, phases, marks and folds above the lanes; and the strip that shows how busy the whole was, and which part is seen. */
export function Scale({ value, axis, window }: ScaleProps) {
  const at = (time: string | number): number =>
    percentOf(axis.place(typeof time === "string" ? Date.parse(time) : time), window);
  const isSeen = (place: number): boolean => place >= 0 && place <= 100;
  return (
    <div class="pool-head scale">
      <span class="muted">step</span>
      <span class="track">
        {value.phases.map((phase) => (
          <span
            key={phase.number}
            class={`phase phase-${phase.number % 2}`}
            style={{ left: `${at(phase.from)}%`, width: `${at(phase.to) - at(phase.from)}%` }}
            title={`phase ${phase.number}: ${phase.name}`}
          >
            {at(phase.to) - at(phase.from) > 6 && showText(phase.name)}
          </span>
        ))}
        {axis.pieces
          .filter(({ isFolded, start, end }) => isFolded && isSeen(percentOf((start + end) / 2, window)))
          .map((piece) => (
            <span
              key={piece.from}
              class="fold"
              style={{
                left: `${percentOf(piece.start, window)}%`,
                width: `${percentOf(piece.end, window) - percentOf(piece.start, window)}%`,
              }}
              title={`nothing happened for ${formatDuration((piece.to - piece.from) / 1000)}`}
            >
              {formatDuration((piece.to - piece.from) / 1000)}
            </span>
          ))}
        {listTicks(axis, window, 8).map((time) => (
          <span key={time} class="tick" style={{ left: `${at(time)}%` }}>
            {tellTime(time)}
          </span>
        ))}
        {value.marks
          .filter((mark) => isSeen(at(mark.at)))
          .slice(0, MARKS_MAX)
          .map((mark, index) => (
            <span
              key={index}
              class={`mark mark-${mark.kind}`}
              style={{ left: `${at(mark.at)}%` }}
              title={`${mark.text}, ${formatClock(mark.at, now.value)}`}
            >
              {MARKS[mark.kind]}
            </span>
          ))}
        <span
          class="seen"
          style={{ left: `${window.start * 100}%`, width: `${(window.end - window.start) * 100}%` }}
          title="the part that is seen"
        />
      </span>
    </div>
  );
}

const MARKS_MAX = 400;
const MARKS = { checkpoint: "▾", decision: "◆", question: "?", resumed: "↻", rolled_back: "↶" } as const;

function percentOf(place: number, { start, end }: AxisWindow): number {
  return (100 * (place - start)) / Math.max(1e-9, end - start);
}

function tellTime(ms: number): string {
  const time = new Date(ms);
  const two = (value: number): string => String(value).padStart(2, "0");
  const clock = `${two(time.getHours())}:${two(time.getMinutes())}`;
  if (ms % 60_000 === 0) return clock;
  const seconds = `${clock}:${two(time.getSeconds())}`;
  return ms % 1000 === 0 ? seconds : `${two(time.getSeconds())}.${String(ms % 1000).padStart(3, "0")}`;
}
