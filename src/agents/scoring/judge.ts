/**
 * Apollo as a model: what a judge is told, and what a judge says.
 *
 * A judge sees the results of the phase and scores them by the rubric, with quotes as evidence. Each quote is looked for
 * in the results: one that is not there is kept and marked, so that a reader knows what the score stands on.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.js";
import { BRIEFING_TOKENS } from "../../definition/model/defaults.js";
import type { StepWork } from "../../engine/model/ports.js";
import { writeBriefing } from "../models/briefing.js";

const TEXTS: JsonObject = { type: "array", items: { type: "string" } };

export const JUDGEMENT_SCHEMA: JsonObject = {
  type: "object",
  required: ["score", "evidence", "issues", "feedback"],
  properties: {
    score: { type: "number", minimum: 0, maximum: 100 },
    evidence: { ...TEXTS, description: "quotes from the results, word for word" },
    issues: { ...TEXTS, description: "what is wrong, each for itself; empty when nothing" },
    feedback: { type: "string", description: "what would raise the score; empty when nothing" },
  },
  additionalProperties: false,
};

const FORM = `Score the results above from 0 to 100 by this alone. Answer with one JSON object and nothing else:
{"score": 0..100, "evidence": ["quotes from the results, word for word"], "issues": ["what is wrong"], "feedback": "what would raise the score"}`;

/** The whole prompt of a judge. */
export function writeJudgement(work: StepWork, dimension: string, rubric: string): string {
  const { name, number, iteration, description } = work.phase;
  const phase = { name, number, iteration, ...(description === undefined ? {} : { description }) };
  const told = { ...work, phase, feedback: [], input: {} };
  return writeBriefing(told, `Judge the dimension ${dimension}.\n\n${rubric}\n\n${FORM}`, BRIEFING_TOKENS);
}

/** A score as it was said, its quotes as one text that names where each stands. Shape: other values as they are. */
export function checkQuotes(said: JsonValue, outputs: JsonObject): JsonValue {
  if (!isJsonObject(said) || !Array.isArray(said["evidence"])) return said;
  const results = Object.entries(outputs).map(([name, value]) => [name, plain(collectTexts(value ?? null))] as const);
  const lines = (said["evidence"] as readonly JsonValue[]).map((quote) => {
    const text = typeof quote === "string" ? quote : JSON.stringify(quote);
    const where = results.find(([, result]) => result.includes(plain(text)))?.[0];
    return `“${text}” (${where ?? "not found in the results"})`;
  });
  const { evidence: _quotes, ...rest } = said;
  return lines.length === 0 ? rest : { ...rest, evidence: lines.join("\n") };
}

function collectTexts(value: JsonValue): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map((item: JsonValue) => collectTexts(item)).join(" ");
  if (!isJsonObject(value)) return JSON.stringify(value);
  return Object.entries(value)
    .map(([key, item]) => `${key} ${collectTexts(item ?? null)}`)
    .join(" ");
}

/** Spaces and capitals are no difference. */
function plain(text: string): string {
  return text.replace(/\s+/g, " ").trim().toLowerCase();
}
