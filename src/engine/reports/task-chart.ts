/**
 * The picture of a task that has ended, `final/task.svg`: phases, specialists, confidence, verdicts and decisions, in the
 * order of the definition. Pure, and alone: no script, no font, no link.
 *
 * It holds no clock value, no duration, no attempt and no process: a task that crashed and went on gives the same bytes as
 * one that nobody disturbed. The timeline with times is `show --svg`.
 */
import { LIMITS } from "../../base/limits.js";
import { escapeXml } from "../../base/xml-text.js";
import type { NodeDefinition, ScopeDefinition } from "../../definition/model/workflow.js";
import type { StepDefinition } from "../../definition/model/step.js";
import { describeFile } from "../render/deliverables.js";
import type { SavedFile } from "../model/value-ref.js";
import { parentPathOf } from "../model/identity.js";
import { currentStepId } from "../model/lookup.js";
import type { StepEntry, TaskState } from "../model/state.js";

export const TASK_CHART_FILE = "final/task.svg";

const WIDTH = 960;
const ROW = 22;
const TOP = 52;
const INDENT = 20;
const BAR_X = 620;
const BAR_WIDTH = 160;
const STATUS_X = 800;

const FILLS: Readonly<Record<string, string>> = {
  done: "#2e9e5b",
  completed: "#2e9e5b",
  partial: "#e0a526",
  skipped: "#9aa0a6",
  failed: "#c9382a",
  "not run": "#c4c8cc",
};

interface Row {
  readonly depth: number;
  readonly text: string;
  readonly kind: "scope" | "step" | "fact";
  readonly status?: string;
  readonly confidence?: number;
}

/** The file with its content; nothing for a task without a definition. */
export function drawTaskChart(state: TaskState): SavedFile | undefined {
  const { task } = state;
  if (task === undefined) return undefined;
  return describeFile(TASK_CHART_FILE, drawTask(state, task.definition.root));
}

/** True for a file that a step of the workflow writes itself. */
export function isWrittenBySteps(node: NodeDefinition, file: string): boolean {
  if (node.node === "step") return Object.hasOwn(node.saveAs, file);
  return node.children.some((child: NodeDefinition) => isWrittenBySteps(child, file));
}

function drawTask(state: TaskState, root: ScopeDefinition): string {
  const { task } = state;
  const all = listRows(new Story(state), root, 0);
  const rows = all.slice(0, LIMITS.pictureRowsMax);
  const cut = all.length - rows.length;
  if (cut > 0) rows.push({ depth: 0, kind: "fact", text: `… and ${cut} more` });
  const height = TOP + rows.length * ROW + 12;
  const outcome = task?.root?.outcome ?? "done";
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="12">`,
    `<title>${escapeXml(cutText(task?.definition.name ?? ""))}</title>`,
    `<rect width="${WIDTH}" height="${height}" fill="#ffffff"/>`,
    drawText([12, 24], task?.definition.name ?? "", 'font-size="15" font-weight="bold"'),
    drawStatus(outcome, 24),
    ...rows.flatMap((row, at) => drawRow(row, TOP + at * ROW)),
    "</svg>",
    "",
  ].join("\n");
}

/** What the state says of nodes, looked up by path. */
class Story {
  readonly state: TaskState;
  readonly #facts = new Map<string, string[]>();
  readonly #spawned = new Map<string, Set<string>>();

  constructor(state: TaskState) {
    this.state = state;
    for (const { path, iteration, score, verdict, best } of state.evaluations) {
      if (score === undefined || verdict === undefined) continue;
      this.#tell(path, `iteration ${iteration} scored ${score}: ${verdict}${best === true ? ", the best so far" : ""}`);
    }
    for (const { agent, subject, description } of state.decisions)
      if (subject !== undefined && (agent === "atlas" || agent === "apollo"))
        this.#tell(subject, `${agent}: ${description}`);
    for (const { path, spawnedDefinition } of state.steps.values())
      if (spawnedDefinition !== undefined) this.#spawn(path);
  }

  step(path: string): StepEntry | undefined {
    return this.state.steps.get(currentStepId(this.state, path));
  }

  factsOf(path: string): readonly string[] {
    return this.#facts.get(path) ?? [];
  }

  /** Paths of the specialists that the orchestrator added. */
  spawnedIn(path: string): readonly string[] {
    return [...(this.#spawned.get(path) ?? [])].sort();
  }

  #tell(path: string, text: string): void {
    const facts = this.#facts.get(path) ?? [];
    facts.push(text);
    this.#facts.set(path, facts);
  }

  #spawn(path: string): void {
    const parent = parentPathOf(path) ?? "";
    this.#spawned.set(parent, (this.#spawned.get(parent) ?? new Set()).add(path));
  }
}

function listRows(story: Story, node: NodeDefinition, depth: number): Row[] {
  if (node.node === "step") return [describeStep(story, node, depth)];
  const isRoot = parentPathOf(node.path) === undefined;
  const below = isRoot ? depth : depth + 1;
  const children: readonly NodeDefinition[] = node.children;
  return [
    ...(isRoot ? [] : [describeScope(story, node, depth)]),
    ...children.flatMap((child) => listRows(story, child, below)),
    ...story
      .spawnedIn(node.path)
      .map((path) => describeEntry(path.slice(node.path.length + 1), story.step(path), below)),
    ...story.factsOf(node.path).map((text): Row => ({ depth: below, kind: "fact", text })),
  ];
}

function describeScope({ state }: Story, node: ScopeDefinition, depth: number): Row {
  const phase = node.scope === "phase" ? state.phases.get(node.path) : undefined;
  const text = node.scope === "phase" ? `${node.number} ${node.name}` : node.name;
  return {
    depth,
    kind: "scope",
    text,
    ...(phase === undefined ? {} : { status: phase.status }),
    ...(phase?.confidence === undefined ? {} : { confidence: phase.confidence }),
  };
}

function describeStep(story: Story, { path, name }: StepDefinition, depth: number): Row {
  return describeEntry(name, story.step(path), depth);
}

function describeEntry(name: string, entry: StepEntry | undefined, depth: number): Row {
  return {
    depth,
    kind: "step",
    text: entry !== undefined && entry.visit > 1 ? `${name}, visit ${entry.visit}` : name,
    status: entry?.status ?? "not run",
    ...(entry?.confidence === undefined ? {} : { confidence: entry.confidence.value }),
  };
}

function drawRow({ depth, text, kind, status, confidence }: Row, y: number): string[] {
  const x = 12 + depth * INDENT;
  const style = { scope: 'font-weight="bold"', step: "", fact: 'fill="#555555" font-style="italic"' }[kind];
  return [
    drawText([x, y + 15], text, style),
    ...(confidence === undefined ? [] : drawConfidence(confidence, y)),
    ...(status === undefined ? [] : [drawStatus(status, y + 15)]),
  ];
}

function drawConfidence(confidence: number, y: number): string[] {
  const width = Math.round(Math.min(1, Math.max(0, confidence)) * BAR_WIDTH);
  const percent = `${Math.round(confidence * 100)} %`;
  return [
    `<rect x="${BAR_X}" y="${y + 5}" width="${BAR_WIDTH}" height="12" rx="3" fill="#eceff3"/>`,
    `<rect x="${BAR_X}" y="${y + 5}" width="${width}" height="12" rx="3" fill="#3b6fd4"><title>confidence ${percent}</title></rect>`,
    drawText([BAR_X + 6, y + 15], percent, 'font-size="10"'),
  ];
}

function drawStatus(status: string, y: number): string {
  return [
    `<circle cx="${STATUS_X}" cy="${y - 4}" r="5" fill="${FILLS[status] ?? "#e0a526"}"/>`,
    drawText([STATUS_X + 12, y], status),
  ].join("\n");
}

function drawText([x, y]: readonly [number, number], content: string, attributes = ""): string {
  const more = attributes === "" ? "" : ` ${attributes}`;
  return `<text x="${x}" y="${y}"${more}>${escapeXml(cutText(content))}</text>`;
}

/** By whole characters, so that none is broken. */
function cutText(text: string): string {
  const characters = Array.from(text);
  const max = LIMITS.pictureTextCharsMax;
  return characters.length <= max ? text : `${characters.slice(0, max - 1).join("")}…`;
}
