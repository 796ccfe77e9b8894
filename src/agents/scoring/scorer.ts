/**
 * Apollo's scorers.
 *
 * command: gets the specialist's document on stdin with `dimension`. A number or a score object on stdout is the score,
 * whatever the exit code. Any other text is a tool's own (a test runner, a linter): exit code 0 is 100, another is 0, and
 * the text is the evidence.
 * schema: 100 when the subject fits, less 20 for each fault, each fault an issue. `of: author.findings` names the
 * subject; without it the subject is the map of all outputs.
 * expression: rendered by the engine; a number, or true for 100 and false for 0.
 * model: a judge, see judge.ts.
 */
import { unreachable } from "../../base/errors.js";
import { isJsonObject, type JsonValue } from "../../base/json.js";
import type { ScorerStep } from "../../definition/model/step.js";
import type { StepOutcome, StepSink, StepWork } from "../../engine/model/ports.js";
import type { ChildResult } from "../../process/contract.js";
import { findJson } from "../outcome/answer-text.js";
import { exitError, requireCommand, runChild, type CancelledOutcome } from "../commands/child-run.js";
import type { PerformerDeps } from "../outcome/contract.js";
import { cutText, outputInvalid } from "../outcome/failure.js";
import { converse } from "../models/conversation.js";
import { checkQuotes, JUDGEMENT_SCHEMA, writeJudgement } from "./judge.js";
import { formatFault } from "../outcome/output-check.js";
import { formatPlainValue, parsePlainValue } from "../../base/plain-value.js";
import { formatScore, parseScore, type Score } from "./score.js";
import { formatRequest } from "../commands/specialist-protocol.js";

interface Scoring {
  readonly deps: PerformerDeps;
  readonly work: StepWork;
  readonly sink: StepSink;
  readonly signal: AbortSignal;
}

const SCORE_MAX = 100;
const POINTS_PER_FAULT = 20;
const EVIDENCE_BYTES_MAX = 4096;
const EXIT_CANNOT_RUN = 126;

export async function performScorer(
  deps: PerformerDeps,
  work: StepWork,
  attempt: { readonly sink: StepSink; readonly signal: AbortSignal },
): Promise<StepOutcome> {
  const score = await computeScore({ deps, work, ...attempt }, (work.definition as ScorerStep).scorer);
  return "status" in score ? score : { status: "completed", output: formatScore(score) };
}

function computeScore(scoring: Scoring, scorer: ScorerStep["scorer"]): Promise<Score | CancelledOutcome> {
  switch (scorer.by) {
    case "command":
      return scoreByCommand(scoring);
    case "schema":
      return scoreBySchema(scoring, scorer);
    case "expression":
      return Promise.resolve(scoreByExpression(scoring.work));
    case "model":
      return scoreByModel(scoring, scorer);
    default:
      return unreachable(scorer);
  }
}

async function scoreByCommand({ deps, work, sink, signal }: Scoring): Promise<Score | CancelledOutcome> {
  const command = requireCommand(work.rendered["command"]);
  const { dimension } = work.definition as ScorerStep;
  const result = await runChild(deps, {
    work,
    command,
    input: JSON.stringify({ ...formatRequest(work), dimension }),
    onActivity: sink.alive,
    spawned: (process) => sink.spawned(process),
    signal,
  });
  if ("status" in result) return result;
  const said = parseScoreText(result.stdout.toString("utf8"));
  if (said !== undefined) return parseScore(said);
  if (result.exitCode === undefined || result.exitCode >= EXIT_CANNOT_RUN) throw exitError(command, result);
  return scoreByExitCode(command, result, result.exitCode);
}

/** The part of stdout that says a score; `undefined` when a tool says what it likes. */
function parseScoreText(text: string): JsonValue | undefined {
  try {
    const value = parsePlainValue(text);
    const isScore = typeof value === "number" || (isJsonObject(value) && value["score"] !== undefined);
    return isScore ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function scoreByExitCode(command: readonly string[], result: ChildResult, exitCode: number): Score {
  const text = `${result.stdout.toString("utf8").slice(-EVIDENCE_BYTES_MAX)}${result.stderrTail}`.trim();
  const evidence = text === "" ? {} : { evidence: cutText(text.slice(-EVIDENCE_BYTES_MAX)) };
  if (exitCode === 0) return { score: SCORE_MAX, issues: [], ...evidence };
  const issue = `${command.join(" ").slice(0, 200)} exited with ${exitCode}`;
  return { score: 0, issues: [{ text: issue }], feedback: issue, ...evidence };
}

async function scoreBySchema(
  { deps, work }: Scoring,
  scorer: Extract<ScorerStep["scorer"], { by: "schema" }>,
): Promise<Score> {
  const subject = findSubject(work, scorer.of);
  if (subject === undefined) {
    const text = `there is no output ${scorer.of ?? ""}`;
    return { score: 0, issues: [{ text }], feedback: text };
  }
  const faults = await deps.checkSchema(scorer.schema, formatPlainValue(subject));
  if (faults.length === 0) return { score: SCORE_MAX, issues: [] };
  const issues = faults.map((fault) => ({ text: formatFault(fault), where: `${scorer.of ?? ""}${fault.path}` }));
  return {
    score: Math.max(0, SCORE_MAX - POINTS_PER_FAULT * faults.length),
    issues,
    feedback: issues.map((issue) => issue.text).join("; "),
  };
}

function findSubject(work: StepWork, of: string | undefined): JsonValue | undefined {
  let subject: JsonValue | undefined = work.outputs;
  for (const key of of === undefined || of === "" ? [] : of.split(".")) {
    subject = isJsonObject(subject) && Object.hasOwn(subject, key) ? subject[key] : undefined;
  }
  return subject;
}

function scoreByExpression(work: StepWork): Score {
  const value = work.rendered["score"] ?? null;
  if (typeof value === "boolean") return { score: value ? SCORE_MAX : 0, issues: [] };
  const isNumberText = typeof value === "string" && /^\s*-?\d+(\.\d+)?\s*$/.test(value);
  return parseScore(isNumberText ? Number(value) : value);
}

async function scoreByModel(
  { deps, work, sink, signal }: Scoring,
  scorer: Extract<ScorerStep["scorer"], { by: "model" }>,
): Promise<Score> {
  const rubric = work.rendered["rubric"];
  return converse(deps, work, {
    choices: [{ provider: scorer.provider, model: scorer.model, endpoint: scorer.endpoint }],
    prompt: writeJudgement(
      work,
      (work.definition as ScorerStep).dimension,
      typeof rubric === "string" ? rubric : scorer.rubric,
    ),
    outputSchema: JUDGEMENT_SCHEMA,
    options: {},
    judge: async ({ say }) => {
      const said = typeof say === "string" ? findJson(say) : say;
      if (said === undefined)
        throw outputInvalid("the model's answer is no score", typeof say === "string" ? say : undefined);
      return { taken: parseScore(checkQuotes(said, work.outputs)) };
    },
    sink,
    signal,
  });
}
