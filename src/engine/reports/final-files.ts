/**
 * What a task that has ended leaves in `final/` by itself: its picture, its confidence, and, where the workflow wants its
 * results consolidated, the merged result, the confidence report and a summary.
 *
 * All of it follows from the state and holds no time and no count of attempts: a task that crashed and went on leaves the
 * bytes of an undisturbed one. A file that a step of the workflow writes itself is left to it.
 * Source: DESIGN section 5; seed 003, the final consolidation.
 */
import { showMarkup } from "../../base/plain-text.js";
import { isJsonObject, type JsonValue } from "../../base/json.js";
import { CONSOLIDATE_NAME } from "../../definition/model/defaults.js";
import type { ConsolidationRule } from "../../definition/model/goal-rules.js";
import { loadValue, type Choice } from "../model/choice.js";
import { drawConfidence } from "./confidence-chart.js";
import {
  describeTaskConfidence,
  type ConfidenceReportView,
  type PhaseConfidenceReport,
  type SpecialistConfidence,
} from "./confidence-report.js";
import { formatConfidence, percent, textOf } from "./confidence-text.js";
import { describeFile } from "../render/deliverables.js";
import type { SavedFile } from "../model/value-ref.js";
import { childPath, requireTask } from "../model/lookup.js";
import type { TaskState } from "../model/state.js";
import { drawTaskChart, isWrittenBySteps } from "./task-chart.js";

const FOLDER = "final";

/** Those that are not there yet, or differ. */
export function listFinalFiles(choice: Choice): readonly SavedFile[] {
  const { state, context } = choice;
  const { root } = requireTask(state).definition;
  const picture = context.drawsPicture === true ? drawTaskChart(state) : undefined;
  const files = [...(picture === undefined ? [] : [picture]), ...listReports(choice, context.drawsPicture === true)];
  return files.filter(
    ({ file, sha256 }) => state.deliverables.get(file)?.sha256 !== sha256 && !isWrittenBySteps(root, file),
  );
}

function listReports(choice: Choice, draws: boolean): readonly SavedFile[] {
  const { root } = requireTask(choice.state).definition;
  if (root.scope !== "phases") return [];
  const report = describeTaskConfidence(choice.state);
  const picture = draws && report.confidence !== undefined ? [fileOf("confidence.svg", drawConfidence(report))] : [];
  const { consolidation } = root;
  if (consolidation === undefined) return picture;
  return [
    ...picture,
    fileOf("consolidated.md", consolidate(choice, report, consolidation)),
    fileOf("confidence-report.md", `# Confidence\n\n\`\`\`text\n${formatConfidence(report)}\`\`\`\n`),
    fileOf("workflow-summary.md", summarise(choice, report)),
  ];
}

/** What models and tools said is shown as text: their HTML is none in a page that is made of a report. */
function fileOf(name: string, text: string): SavedFile {
  return describeFile(`${FOLDER}/${name}`, name.endsWith(".md") ? showMarkup(text) : text);
}

/** What a model wrote of the results, else the results themselves; then what is not in it. */
function consolidate(choice: Choice, report: ConfidenceReportView, { minimum }: ConsolidationRule): string {
  const path = childPath(requireTask(choice.state).definition.root.path, CONSOLIDATE_NAME);
  const written = choice.state.outputs.get(path);
  const body =
    written === undefined
      ? report.phases.flatMap((phase) => describeResults(choice, phase))
      : [formatResult(loadValue(choice, written.value))];
  return `${[`# ${report.workflow}`, ...body, ...describeLeftOut(report, minimum)].join("\n\n")}\n`;
}

function describeResults(choice: Choice, { name, specialists }: PhaseConfidenceReport): readonly string[] {
  const sure = specialists.filter(({ sure: isSure }) => isSure);
  if (sure.length === 0) return [];
  return [
    `## ${name}`,
    ...sure.flatMap((one) => {
      const output = choice.state.outputs.get(one.path);
      const value = output === undefined ? null : loadValue(choice, output.value);
      return [`### ${one.name} (${percent(one.counted ?? 0)})`, formatResult(value)];
    }),
  ];
}

function formatResult(value: JsonValue): string {
  if (typeof value === "string") return value.trim();
  const [[name, text] = ["", null], ...others] = isJsonObject(value) ? Object.entries(value) : [];
  if (typeof text === "string" && others.length === 0)
    return name === "result" ? text.trim() : `${name}:\n\n${text.trim()}`;
  return `\`\`\`json\n${JSON.stringify(value, undefined, 2)}\n\`\`\``;
}

function describeLeftOut({ phases }: ConfidenceReportView, minimum: number | undefined): readonly string[] {
  const lines = phases.flatMap((phase) =>
    phase.specialists
      .filter(({ sure }) => !sure)
      .map((one) => `- ${one.name} (${phase.name}): ${reasonOf(one, minimum ?? phase.minimum)}`),
  );
  return lines.length === 0 ? [] : ["## Left out", lines.join("\n")];
}

function reasonOf({ status, counted }: SpecialistConfidence, minimum: number): string {
  if (status !== "done") return status;
  return counted === undefined
    ? "it said nothing of its confidence"
    : `its confidence of ${percent(counted)} is under ${percent(minimum)}`;
}

function summarise({ state }: Choice, report: ConfidenceReportView): string {
  const { definition, root } = requireTask(state);
  const phases = report.phases.map(
    ({ number, name, status, confidence, evaluation, specialists }) =>
      `| ${number} | ${name} | ${status} | ${confidence === undefined ? "–" : percent(confidence)} | ${evaluation?.score ?? "–"} | ${specialists.length} |`,
  );
  const decisions = state.decisions
    .filter(({ agent }) => agent === "atlas" || agent === "apollo")
    .map(
      ({ agent, description, rationale }) => `- **${agent}**: ${textOf(description)}\n  because ${textOf(rationale)}`,
    );
  return `${[
    `# ${definition.name}`,
    ...(definition.description === undefined ? [] : [definition.description]),
    `Outcome: ${root?.outcome ?? "done"}`,
    ["| | phase | outcome | confidence | score | specialists |", "|---|---|---|---|---|---|", ...phases].join("\n"),
    ...describeFallbacks(state),
    ...describeGuidance(state),
    "## Decisions",
    decisions.join("\n"),
  ].join("\n\n")}\n`;
}

/** Who answered in another's place; why is in the history. */
function describeFallbacks({ steps }: TaskState): readonly string[] {
  const lines = [...steps.values()].flatMap(({ path, fallback }) =>
    fallback === undefined ? [] : [`- ${path}: ${textOf(fallback.answered)} instead of ${textOf(fallback.asked)}`],
  );
  return lines.length === 0 ? [] : ["## Answered by a fallback", lines.join("\n")];
}

function describeGuidance({ guidance }: TaskState): readonly string[] {
  if (guidance.length === 0) return [];
  const lines = guidance.map(({ by, path, text }) => {
    const about = path === undefined ? "" : ` for ${path}`;
    return `- **${textOf(by)}**${about}: ${textOf(text)}`;
  });
  return ["## Guidance", lines.join("\n")];
}
