/**
 * What Mercury tells a model: the task, the phase, what was found before, what the evaluator said, then the step's part
 * and what people said of it.
 *
 * Owns: the order and the size of it. The prompt of the file stands in it word for word, rendered before.
 *
 * Trimming: a briefing keeps to a budget of tokens. What the step is to do, what a person said, task, phase and inputs of
 * the step are never cut. Of the feedback the first points stay, a quarter of the budget at most. Results share what is left: the step's own
 * last answer first, then the newest, each whole as long as it fits; the first that does not is cut to its head, and older
 * ones are left out. The briefing says what was cut and what was left out; what is stored is never touched by it.
 * Units: tokens, estimated as four characters each. Source: DESIGN section 5, seed 003 (context of a specialist).
 */
import type { JsonValue } from "../../base/json.js";
import { formatCount } from "../../base/plain-text.js";
import { CHARACTERS_PER_TOKEN } from "../../engine/render/context-view.js";
import { nameOfPath, parentPathOf } from "../../engine/model/identity.js";
import type { StepWork } from "../../engine/model/ports.js";

/** A result is not cut to less. */
const TOKENS_WORTH_SHOWING = 50;
const FEEDBACK_SHARE = 0.25;

/**
 * Writes the whole prompt of a specialist.
 *
 * Units: `tokensMax` in tokens.
 */
export function writeBriefing(work: StepWork, prompt: string, tokensMax: number): string {
  return write(work, [describeTask(work), describePhase(work), describeInput(work)], { prompt, tokensMax });
}

interface OwnPart {
  readonly prompt: string;
  readonly tokensMax: number;
}

function write(work: StepWork, fixed: readonly string[], { prompt, tokensMax }: OwnPart): string {
  const own = `# Your part: ${work.step.name}\n\n${prompt}${describeUncertainties(work)}`;
  const part = addGuidance(own, work.guidance);
  const budget = Math.max(0, tokensMax * CHARACTERS_PER_TOKEN - lengthOf([...fixed, part]));
  const feedback = describeFeedback(work, Math.floor(budget * FEEDBACK_SHARE));
  const results = describeResults(work, budget - lengthOf([feedback]));
  return [...fixed, results, feedback, part].filter((text) => text !== "").join("\n\n");
}

const GOES_ON =
  "Your last answer was judged. Continue in this conversation: what you were told before still counts, and this is what is new.";

/**
 * Writes what is new for a specialist that goes on in the conversation of its last iteration: what the others of the phase
 * found since, the feedback, its part and what people said.
 *
 * Units: `tokensMax` in tokens.
 */
export function writeFollowUp(work: StepWork, prompt: string, tokensMax: number): string {
  const { phase, rendered, step, outputs } = work;
  const uses = Array.isArray(rendered["uses"]) ? rendered["uses"].map(String) : [];
  const others = uses.filter((path) => path !== step.path && parentPathOf(path) === parentPathOf(step.path));
  const since = others.map((path) => [nameOfPath(path), outputs[nameOfPath(path)] ?? null] as const);
  const head = `# Phase ${phase.number}: ${phase.name}, iteration ${phase.iteration}\n\n${GOES_ON}`;
  return write({ ...work, outputs: Object.fromEntries(since) }, [head], { prompt, tokensMax });
}

const GUIDANCE_HEAD =
  "A person said this while the work was under way. Follow it; where it contradicts what stands above, it counts:";

/** A prompt with what people said after it; as it is where nobody said anything. */
export function addGuidance(prompt: string, guidance: readonly string[]): string {
  return guidance.length === 0 ? prompt : `${prompt}\n\n${formatGuidance(guidance)}`;
}

/** What people said, as a model is told it. Shape: at least one. */
export function formatGuidance(guidance: readonly string[]): string {
  return `# Guidance\n\n${GUIDANCE_HEAD}\n${listOf(guidance.map((text) => text.replaceAll("\n", "\n  ")))}`;
}

function lengthOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + text.length, 0);
}

function describeTask({ task, inputs }: StepWork): string {
  const about = task.description === undefined ? [] : [task.description];
  const given = Object.keys(inputs).length === 0 ? [] : [`Given: ${JSON.stringify(inputs)}`];
  return [`# Task: ${task.workflow ?? task.name}`, ...about, ...given].join("\n\n");
}

function describePhase({ phase }: StepWork): string {
  if (phase.name === "") return "";
  const round = phase.iteration > 1 ? `, iteration ${phase.iteration}` : "";
  const judged = phase.criteria === undefined ? [] : [`The results will be judged by: ${phase.criteria}`];
  const about = phase.description === undefined ? [] : [phase.description];
  return [`# Phase ${phase.number}: ${phase.name}${round}`, ...about, ...judged].join("\n\n");
}

function describeInput({ input }: StepWork): string {
  return Object.keys(input).length === 0 ? "" : `# Input\n\n${formatValue(input)}`;
}

function describeUncertainties({ uncertainties }: StepWork): string {
  if (uncertainties.length === 0) return "";
  return `\n\nClear up in particular:\n${listOf(uncertainties.map(formatValue))}`;
}

function describeFeedback({ feedback, phase }: StepWork, charactersMax: number): string {
  if (feedback.length === 0) return "";
  const shown: string[] = [];
  let left = charactersMax;
  for (const point of feedback) {
    left -= point.length;
    if (left < 0 && shown.length > 0) break;
    shown.push(cutHead(point, Math.max(charactersMax, TOKENS_WORTH_SHOWING * CHARACTERS_PER_TOKEN)));
  }
  const more = feedback.length - shown.length;
  const points = `${formatCount(more, "more point")} ${more === 1 ? "was" : "were"} left out`;
  const rest = more === 0 ? "" : `\n\n(${points} here to keep to the budget.)`;
  return `# Feedback on iteration ${phase.iteration - 1}\n\n${listOf(shown)}${rest}`;
}

interface Result {
  readonly title: string;
  readonly text: string;
}

/** Oldest first as they are read; the newest are the first to get room. */
function describeResults(work: StepWork, charactersMax: number): string {
  const results = listResults(work);
  const shown = new Map<Result, string>();
  const notes: string[] = [];
  let left = charactersMax;
  for (const result of [...results].reverse()) {
    if (result.text.length <= left) shown.set(result, result.text);
    else if (left >= TOKENS_WORTH_SHOWING * CHARACTERS_PER_TOKEN) {
      shown.set(result, cutHead(result.text, left));
      notes.push(`${result.title}: the first ${tokensOf(left)} of ${formatTokens(result.text.length)} are shown`);
    } else notes.push(`${result.title}: left out, ${formatTokens(result.text.length)}`);
    left = Math.max(0, left - result.text.length);
  }
  const parts = results.flatMap((result) => {
    const text = shown.get(result);
    return text === undefined ? [] : [`## ${result.title}\n\n${text}`];
  });
  if (notes.length > 0) parts.push(`To keep to the budget, parts are missing here:\n${listOf(notes.reverse())}`);
  return parts.length === 0 ? "" : ["# Results so far", ...parts].join("\n\n");
}

/** Of several results the step's own last answer comes last, as the newest. */
function listResults({ outputs, phase, step }: StepWork): readonly Result[] {
  const own = phase.iteration > 1 ? outputs[step.name] : undefined;
  const others = Object.entries(outputs).filter(([name]) => own === undefined || name !== step.name);
  return [
    ...others.map(([name, value]) => ({ title: name, text: formatValue(value ?? null) })),
    ...(own === undefined ? [] : [{ title: "Your last answer", text: formatValue(own) }]),
  ];
}

/** A text as it is, also where it is all that an output has; other values as JSON. */
function formatValue(value: JsonValue): string {
  if (typeof value === "string") return value;
  const only = plainResultOf(value);
  return only ?? JSON.stringify(value, undefined, 1);
}

function plainResultOf(value: JsonValue): string | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const entries = Object.entries(value);
  const [first] = entries;
  return entries.length === 1 && first?.[0] === "result" && typeof first[1] === "string" ? first[1] : undefined;
}

function cutHead(text: string, charactersMax: number): string {
  return text.length <= charactersMax ? text : `${text.slice(0, charactersMax)}… (cut)`;
}

function tokensOf(characters: number): number {
  return Math.ceil(characters / CHARACTERS_PER_TOKEN);
}

function formatTokens(characters: number): string {
  return formatCount(tokensOf(characters), "token");
}

function listOf(items: readonly string[]): string {
  return items.map((item) => `- ${item}`).join("\n");
}
