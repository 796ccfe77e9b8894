import type { StepView } from "../../src/runtime/contract.js";
import { route, setQuery } from "../live/navigation.js";
import { curveThrough, MEMBERS_MAX, type DrawnArrow, type DrawnBox, type DrawnFrame } from "../model/graph-picture.js";
import { statusOfSteps, stepsOfFrame, stripOf, type StepsByBox } from "../model/graph-steps.js";
import { lookOf } from "../model/status.js";
import { showText } from "../model/visible.js";

const CELLS = 24;

interface FrameProps {
  readonly of: DrawnFrame;
  readonly groups: StepsByBox;
  readonly onToggle: (id: string) => void;
}

export function FrameShape({ of, groups, onToggle }: FrameProps) {
  const { frame, x, y, width, height, depth, isClosed } = of;
  const isLarge = frame.boxes.length > MEMBERS_MAX;
  const steps = isClosed ? stepsOfFrame(frame, groups) : [];
  const label = showText(frame.label).split("\n").join(", ");
  const counts = `${steps.length} of ${frame.boxes.length} begun`;
  return (
    <g transform={`translate(${x},${y})`} class={`frame depth-${depth % 2}`}>
      <title>{label}</title>
      <rect width={width} height={height} rx={8} />
      <text x={12} y={20} class="frame-title">
        {shorten(label, Math.floor((width - (isLarge ? 80 : 24)) / 6.6))}
      </text>
      {isClosed && (
        <>
          <text x={12} y={40} class="kind">
            {counts}
          </text>
          <Strip of={steps} x={12} y={width > 0 ? 54 : 0} width={width - 24} />
        </>
      )}
      {isLarge && (
        <g
          class="toggle"
          role="button"
          tabIndex={0}
          aria-expanded={!isClosed}
          aria-label={isClosed ? "show all members" : "show as one"}
          onClick={() => onToggle(frame.id)}
          onKeyDown={(event) => event.key === "Enter" && onToggle(frame.id)}
        >
          <rect x={width - 66} y={6} width={58} height={20} rx={4} />
          <text x={width - 37} y={20} text-anchor="middle">
            {isClosed ? "open" : "close"}
          </text>
        </g>
      )}
    </g>
  );
}

export function ArrowLine({ of: { arrow, points, isBack, way, label: at } }: { readonly of: DrawnArrow }) {
  const { label } = arrow;
  return (
    <g class={`arrow${arrow.dashed === true ? " dashed" : ""}${isBack ? " back" : ""}`}>
      <path d={curveThrough(points, way)} marker-end="url(#tip)" />
      {label !== undefined && (
        <text x={at.x} y={at.y + 3} text-anchor="middle">
          <title>{showText(label)}</title>
          {shorten(showText(label), 26)}
        </text>
      )}
    </g>
  );
}

export function BoxShape({ of, groups }: { readonly of: DrawnBox; readonly groups: StepsByBox }) {
  const { box, x, y, width, height } = of;
  const steps = box.path === undefined ? [] : (groups.get(box.path) ?? []);
  const status = statusOfSteps(steps);
  const worst = steps.find((step) => step.status === status);
  const isSelected = steps.some(({ step }) => step === route.value.query["step"]);
  const select = (): void => {
    if (worst !== undefined) setQuery({ step: worst.step });
  };
  const { tone, word } = lookOf(status);
  const name = showText(box.label).split("\n", 1)[0] ?? "";
  const told = `${name}, ${word}${steps.length > 1 ? `, ${steps.length} visits` : ""}`;
  return (
    <g
      transform={`translate(${x},${y})`}
      class={`box tone-${box.path === undefined ? "none" : tone} is-${status}${isSelected ? " selected" : ""}`}
      role={worst === undefined ? "img" : "button"}
      tabIndex={worst === undefined ? undefined : 0}
      aria-label={box.path === undefined ? name : told}
      onClick={select}
      onKeyDown={(event) => event.key === "Enter" && select()}
    >
      <title>{showText(box.label)}</title>
      <rect width={width} height={height} rx={CORNERS[box.shape]} />
      {box.path === undefined ? <Lines of={box.label} /> : <StepText box={box} steps={steps} width={width} />}
    </g>
  );
}

const CORNERS = { step: 6, model: 6, choice: 18, start: 23, end: 23 } as const;
const LINE_MAX = 27;

/** What is no step: its words, on two lines where they are long. */
function Lines({ of }: { readonly of: string }) {
  const words = showText(of).replaceAll("\n", " ");
  const cut = words.length <= LINE_MAX ? words.length : words.lastIndexOf(" ", LINE_MAX);
  const [first, rest] = [words.slice(0, cut), words.slice(cut).trim()];
  return (
    <>
      <text x={14} y={rest === "" ? 27 : 20} class="name">
        {first}
      </text>
      <text x={14} y={35} class="name">
        {shorten(rest, LINE_MAX)}
      </text>
    </>
  );
}

interface StepTextProps {
  readonly box: DrawnBox["box"];
  readonly steps: readonly StepView[];
  readonly width: number;
}

/** The status as a mark, the name, and below it the kind and the word, or a cell for each visit. */
function StepText({ box, steps, width }: StepTextProps) {
  const { shape, word } = lookOf(statusOfSteps(steps));
  const [name = "", kind = ""] = showText(box.label).split("\n", 2);
  return (
    <>
      <text x={14} y={27} class="mark" text-anchor="middle">
        {shape}
      </text>
      <text x={27} y={19} class="name">
        {shorten(name, 21)}
      </text>
      {steps.length > 1 ? (
        <>
          <text x={width - 10} y={19} class="kind" text-anchor="end">
            {steps.length}
          </text>
          <Strip of={steps} x={27} y={28} width={width - 40} />
        </>
      ) : (
        <text x={27} y={35} class="kind">
          {kind === "" ? word : `${shorten(kind, 16)}, ${word}`}
        </text>
      )}
    </>
  );
}

interface StripProps {
  readonly of: readonly StepView[];
  readonly x: number;
  readonly y: number;
  readonly width: number;
}

/** Visits and items as cells: one each, or one for several of them where they are many. */
function Strip({ of, x, y, width }: StripProps) {
  const cells = stripOf(of, CELLS);
  const each = Math.min(10, width / Math.max(1, cells.length));
  return (
    <g transform={`translate(${x},${y})`}>
      {cells.map(({ status, count }, at) => (
        <rect
          key={at}
          class={`cell tone-${lookOf(status).tone} is-${status}`}
          x={at * each}
          width={Math.max(1.5, each - 1.5)}
          height={10}
          rx={1.5}
        >
          <title>
            {lookOf(status).word}
            {count > 1 && `, ${count} steps`}
          </title>
        </rect>
      ))}
    </g>
  );
}

function shorten(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, Math.max(1, length - 1))}…`;
}
