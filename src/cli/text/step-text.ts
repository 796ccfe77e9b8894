/** One step as a person reads it: what it was given, each attempt, turns, calls, what came of it. `--json` has everything. Pure. */
import type { CommandWriter } from "../../base/command-text.js";
import { isJsonObject, type JsonValue } from "../../base/json.js";
import { formatCount, formatDuration } from "../../base/plain-text.js";
import { quoteArgument } from "../../base/shell-text.js";
import type {
  AttemptView,
  CallView,
  StepDetailView,
  SubstepView,
  TurnView,
  UsageView,
} from "../../runtime/contract.js";
import { cleanForTerminal, colourStatus, formatPercent, formatSize, type Colours } from "../terminal/output.js";

/** Lines of one value; the whole is one command away. */
const VALUE_LINES = 40;
const STDERR_LINES = 20;
const LINE_CHARS = 2_000;

export function formatStep(view: StepDetailView, colours: Colours, write: CommandWriter): string {
  const whole = write("show", [view.task, view.step], { "--json": true });
  const section = (title: string, lines: readonly string[]): string[] =>
    lines.length === 0 ? [] : ["", colours.bold(title), ...lines.map((line) => (line === "" ? "" : `  ${line}`))];
  return [
    `${colours.bold(cleanForTerminal(view.step))}  ${colourStatus(colours, view.status)}${describeWhy(view)}`,
    `  ${describeFacts(view)}`,
    ...(view.usage === undefined ? [] : [`  ${formatUsage(view.usage)}`]),
    ...(view.visits.length === 0 ? [] : [`  other visits: ${view.visits.join(", ")}`]),
    ...formatWork(view.work).flatMap(([title, lines]) => section(title, lines)),
    ...section("attempts", view.attempts.length > 1 || hasFailed(view) ? view.attempts.flatMap(formatAttempt) : []),
    ...section("turns", view.turns.flatMap(formatTurn)),
    ...section("tool calls", view.calls.flatMap(formatCall)),
    ...section("sub-steps", view.substeps.flatMap(formatSubstep)),
    ...section(
      "on its way",
      view.said.map(({ text }) => oneLine(text)),
    ),
    ...section("stderr", lastLines(view.attempts.at(-1)?.stderr)),
    ...section("output", view.output === undefined ? [] : formatValue(view.output)),
    ...section(
      "files",
      view.files.map(({ file, size }) => `${oneLine(file)}  ${formatSize(size)}`),
    ),
    "",
    ...(view.history_from === undefined
      ? []
      : [`  records before ${view.history_from} were removed: what the step told before is left out`]),
    `  everything: ${whole}`,
  ].join("\n");
}

/** Tokens and money; what nobody knows is said so. */
export function formatUsage({ calls, tokens_in: given, tokens_out: said, cost_usd: cost }: UsageView): string {
  const tokens = given + said === 0 ? "tokens unknown" : `${given} tokens in, ${said} out`;
  return `${formatCount(calls, "model call")}, ${tokens}, ${cost === null ? "cost unknown" : `$${cost.toFixed(4)}`}`;
}

function hasFailed({ attempts }: StepDetailView): boolean {
  return attempts.some(({ error }) => error !== undefined);
}

function describeWhy({ error, reason }: StepDetailView): string {
  const why = error?.message ?? reason;
  return why === undefined ? "" : `: ${oneLine(why)}`;
}

function describeFacts({ kind, effects, phase, duration, confidence, attempts }: StepDetailView): string {
  return [
    kind,
    `effects ${effects}`,
    ...(phase > 0 ? [`phase ${phase}`] : []),
    ...(duration === undefined ? [] : [formatDuration(duration)]),
    ...(attempts.length > 1 ? [formatCount(attempts.length, "attempt")] : []),
    ...(confidence === undefined ? [] : [`confidence ${formatPercent(confidence)}`]),
  ].join(", ");
}

/** The texts that were rendered, each under its own title; what else it was given as one value. */
function formatWork(work: JsonValue): readonly (readonly [string, readonly string[]])[] {
  if (!isJsonObject(work)) return [["given", formatValue(work)]];
  const { prompt, system_prompt: system, command, input, uses, ...rest } = work;
  const others = Object.fromEntries(Object.entries(rest).filter(([, value]) => !isEmpty(value)));
  const read = Array.isArray(uses) ? uses.map((path) => oneLine(String(path))) : [];
  return [
    ...(system === undefined ? [] : [["system prompt", formatValue(system)] as const]),
    ...(prompt === undefined ? [] : [["prompt", formatValue(prompt)] as const]),
    ...(command === undefined ? [] : [["command", [formatCommand(command)]] as const]),
    ...(isEmpty(input) ? [] : [["input", formatValue(input ?? null)] as const]),
    ...(read.length === 0 ? [] : [["may read the output of", [read.join(", ")]] as const]),
    ...(Object.keys(others).length === 0 ? [] : [["settings", formatValue(others)] as const]),
  ];
}

function isEmpty(value: JsonValue | undefined): boolean {
  if (value === undefined || value === null) return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}

function formatCommand(command: JsonValue): string {
  const words = Array.isArray(command) ? (command as readonly JsonValue[]) : [command];
  return oneLine(words.map((word) => quoteArgument(typeof word === "string" ? word : JSON.stringify(word))).join(" "));
}

function formatAttempt({ attempt, status, duration, error, then = "" }: AttemptView): string[] {
  const time = duration === undefined ? "" : `, ${formatDuration(duration)}`;
  const why = error === undefined ? "" : `: ${oneLine(error.message)}`;
  return [`${attempt} ${status}${time}${why}${then === "" ? "" : ` (${oneLine(then)})`}`];
}

function formatTurn({ turn, answer, usage, answered_by: by }: TurnView): string[] {
  const cost = usage === undefined ? "" : `, ${formatUsage(usage)}`;
  const { say, calls } = isJsonObject(answer) ? answer : { say: answer, calls: undefined };
  const asked = Array.isArray(calls) ? (calls as readonly JsonValue[]) : [];
  return [
    `turn ${turn}${by === undefined ? "" : `, answered by ${oneLine(by)}`}${cost}`,
    ...(isEmpty(say) || say === "" ? [] : formatValue(say ?? null).map((line) => `  ${line}`)),
    ...asked.map((call) => `  → ${oneLine(JSON.stringify(call))}`),
  ];
}

function formatCall({ name, effects, duration, input, output }: CallView): string[] {
  const time = duration === undefined ? "no result" : formatDuration(duration);
  return [
    `${oneLine(name)}  ${time}, effects ${effects}`,
    ...formatValue(input).map((line) => `  ${line}`),
    ...(output === undefined ? [] : formatValue(output).map((line, at) => `${at === 0 ? "→ " : "  "}${line}`)),
  ];
}

function formatSubstep({ name, status, duration, error, output }: SubstepView): string[] {
  const time = duration === undefined ? "" : `, ${formatDuration(duration)}`;
  return [
    `${oneLine(name)}  ${status}${time}${error === undefined ? "" : `: ${oneLine(error)}`}`,
    ...(output === undefined ? [] : formatValue(output).map((line) => `  ${line}`)),
  ];
}

/** A text as it is, anything else as JSON; long ones are cut. */
export function formatValue(value: JsonValue): string[] {
  const text = typeof value === "string" ? value : JSON.stringify(value, undefined, 2);
  const lines = cleanForTerminal(text.trimEnd())
    .split("\n")
    .map((line) => line.slice(0, LINE_CHARS));
  const cut = lines.length - VALUE_LINES;
  return cut <= 0 ? lines : [...lines.slice(0, VALUE_LINES), `… ${formatCount(cut, "more line")}`];
}

function lastLines(text: string | undefined): string[] {
  if (text === undefined || text.trim() === "") return [];
  const lines = cleanForTerminal(text.trimEnd())
    .split("\n")
    .map((line) => line.slice(0, LINE_CHARS));
  const cut = lines.length - STDERR_LINES;
  return cut <= 0 ? lines : [`… ${formatCount(cut, "line")} before`, ...lines.slice(-STDERR_LINES)];
}

/** Text of others on one line. */
function oneLine(text: string): string {
  return cleanForTerminal(text)
    .replaceAll(/[\n\t]+/g, " ")
    .slice(0, LINE_CHARS);
}
