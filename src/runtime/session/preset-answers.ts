/**
 * Answers given ahead for gates, wizards and calls of tools: `--answer GATE=VALUE`, `--answer TOOL=approve` and
 * `--skip-gates`, which skips no approval.
 *
 * Nothing is picked in silence: a gate is skipped only where the flag names the choice or the workflow has a `default`;
 * every other one stays open.
 */
import { writeCommand } from "../../base/command-text.js";
import { SplashdownError } from "../../base/errors.js";
import { findNearest } from "../../definition/faults/nearest.js";
import { isToolServer } from "../../definition/model/tool-definition.js";
import type { NodeDefinition, WorkflowDefinition } from "../../definition/model/workflow.js";
import type { GateStep, QuestionsStep } from "../../definition/model/step.js";
import { APPROVAL_CHOICES } from "../../engine/rules/questions/approval.js";
import { definitionPathOf, nameOfPath } from "../../engine/model/identity.js";
import { findPlace } from "../../engine/model/lookup.js";
import type { QuestionEntry, TaskState } from "../../engine/model/state.js";
import type { ControlDeps } from "../mailbox/control.js";
import type { Answer } from "../mailbox/message-body.js";
import { submitAnswer } from "../tasks/submit-answer.js";
import type { AnswerInput } from "../services/ask-person.js";

export interface Presets {
  /** By question, step identity, path or name. */
  readonly answers: Readonly<Record<string, string>>;
  readonly skipGates: boolean;
}

export function presetsOf(options: { readonly answers?: Presets["answers"]; readonly skipGates?: boolean }): Presets {
  return { answers: options.answers ?? {}, skipGates: options.skipGates ?? false };
}

type Preset = Omit<AnswerInput, "by">;

type AskingStep = GateStep | QuestionsStep;

/** Errors: USAGE_INVALID for a name that no gate has, or a value that is none of its options, before anything runs. */
export function requireKnownGates({ root }: WorkflowDefinition, { answers }: Presets, state?: TaskState): void {
  const gates = listAsking(root);
  const questions = new Set([...(state?.questions.keys() ?? []), ...(state?.steps.keys() ?? [])] as string[]);
  for (const [name, text] of Object.entries(answers)) {
    if (questions.has(name)) continue;
    if (isOfTool(root, name)) requireApproval(name, text);
    else requireGate(gates, name, text);
  }
}

function requireGate(gates: readonly AskingStep[], name: string, text: string): void {
  const named = gates.filter(
    (gate) => gate.name === name || gate.path === name || gate.path === definitionPathOf(name),
  );
  if (named.length === 0) {
    const names = gates.map((gate) => gate.name);
    const nearest = findNearest(name, names);
    const help = nearest === undefined ? `; there are ${names.join(", ") || "none"}` : `; did you mean ${nearest}?`;
    throw usage(`--answer names ${name}, and the workflow has no such gate or questions${help}`);
  }
  for (const gate of named) if (gate.kind === "human_gate") requireOptionOf(gate, text);
}

/** `TOOL` or `STEP/TOOL`; which tools a server has is not known before it runs. */
function isOfTool(node: NodeDefinition, name: string): boolean {
  if (node.node !== "step")
    return ("children" in node ? node.children : []).some((child: NodeDefinition) => isOfTool(child, name));
  if (node.kind !== "model") return false;
  const tool = name.startsWith(`${node.name}/`) ? name.slice(node.name.length + 1) : name;
  return (node.tools ?? []).some((one) => (isToolServer(one) ? tool.startsWith(`${one.server}__`) : one.name === tool));
}

function requireApproval(name: string, text: string): void {
  if (splitChoice(APPROVAL_CHOICES, text) === undefined)
    throw usage(`--answer ${name}=${text}: a call of a tool takes approve, deny or deny:REASON`);
}

function requireOptionOf({ name, options }: GateStep, text: string): void {
  if (splitChoice(options, text) !== undefined) return;
  const values = options.map(({ value }) => value);
  const nearest = findNearest(text, values);
  const help = nearest === undefined ? `it takes ${values.join(", ")}` : `did you mean ${nearest}?`;
  throw usage(`--answer ${name}=${text}: ${text} is no option of the gate; ${help}`);
}

function listAsking(node: NodeDefinition): readonly AskingStep[] {
  if (node.node === "step") return node.kind === "human_gate" || node.kind === "questions" ? [node] : [];
  const children: readonly NodeDefinition[] = "children" in node ? node.children : [];
  return children.flatMap(listAsking);
}

/** One answer is for one question: of several items that wait at the same gate each is named. Errors: USAGE_INVALID. */
export function requireOneEach(
  { answers, skipGates }: Presets,
  open: readonly QuestionEntry[],
  state: Pick<TaskState, "steps" | "task">,
): void {
  for (const [name, text] of Object.entries(answers)) {
    const one = { answers: { [name]: text }, skipGates };
    const named = open.filter((question) => choosePreset(one, question, state) !== undefined).map(({ id }) => id);
    const [first = "", second] = named;
    if (second === undefined) continue;
    const command = writeCommand("answer", [state.task?.name ?? { blank: "TASK" }, first, text]);
    throw usage(
      `--answer ${name}=${text} names ${named.length} open questions: ${named.join(", ")}; answer each, e.g.: ${command}`,
    );
  }
}

interface Ahead {
  readonly control: ControlDeps;
  readonly presets: Presets;
  readonly state: TaskState;
  readonly by: string;
  readonly onAnswer?: (answer: Answer) => void;
}

/**
 * Answers a question as the flags say; the answer is the question as it stands then.
 *
 * Errors: QUESTION_CLOSED, ANSWER_INVALID.
 */
export async function answerFromPresets(ahead: Ahead, question: QuestionEntry): Promise<QuestionEntry> {
  const { control, presets, state, by, onAnswer } = ahead;
  const give = async (standing: QuestionEntry, given: Preset): Promise<QuestionEntry> => {
    const { answer, question: next } = await submitAnswer(control, standing, { by, ...given });
    onAnswer?.(answer);
    return next;
  };
  const preset = choosePreset(presets, question, state);
  let standing = preset === undefined ? question : await give(question, preset);
  while (presets.skipGates && standing.status === "open") {
    const skip = chooseSkip(standing, state);
    if (skip === undefined) return standing;
    control.log.info(`--skip-gates: ${question.id} is answered with ${skip.answer}, as the workflow says`);
    standing = await give(standing, skip);
  }
  return standing;
}

/** What a flag says to a question; `undefined` when nothing. */
function choosePreset(
  { answers }: Presets,
  question: QuestionEntry,
  state: Pick<TaskState, "steps">,
): Preset | undefined {
  if (question.kind !== "gate" && question.kind !== "questions" && question.kind !== "tool_approval") return undefined;
  const step = question.step === undefined ? undefined : state.steps.get(question.step);
  if (step === undefined) return undefined;
  const places = [step.id, step.path, definitionPathOf(step.path), step.name, nameOfPath(definitionPathOf(step.path))];
  const names = [question.id, ...(question.kind === "tool_approval" ? namesOfCall(question, places) : places)];
  const name = names.find((candidate) => Object.hasOwn(answers, candidate));
  const text = name === undefined ? undefined : answers[name];
  if (text === undefined) return undefined;
  return question.kind !== "questions" ? (splitChoice(question.options, text) ?? { answer: text }) : { answer: text };
}

/** A step may ask for several tools: its name alone allows none. */
function namesOfCall({ about }: QuestionEntry, places: readonly string[]): string[] {
  return about?.kind === "call" ? [...places.map((place) => `${place}/${about.tool}`), about.tool] : [];
}

/** `VALUE`, or `VALUE:TEXT` where the choice takes a text. */
function splitChoice(
  options: readonly { readonly value: string; readonly promptFor?: string }[],
  text: string,
): Preset | undefined {
  if (options.some(({ value }) => value === text)) return { answer: text };
  const option = options.find(({ value, promptFor }) => promptFor !== undefined && text.startsWith(`${value}:`));
  return option === undefined ? undefined : { answer: option.value, more: text.slice(option.value.length + 1) };
}

/** What `--skip-gates` answers; `undefined` where the workflow names nothing. */
function chooseSkip(question: QuestionEntry, state: TaskState): Preset | undefined {
  if (question.wizard !== undefined) {
    const { items, settled, allow } = question.wizard;
    const defaults = items.filter((item) => item.default !== undefined && settled[item.id] === undefined);
    if (defaults.length > 0)
      return { answer: "answer", value: Object.fromEntries(defaults.map(({ id }) => [id, null])) };
    return allow.skipAll ? { answer: "skip_all" } : undefined;
  }
  if (question.kind !== "gate" || question.step === undefined) return undefined;
  const step = state.steps.get(question.step);
  const node = step === undefined ? undefined : findPlace(state, step.path)?.node;
  if (node?.node !== "step" || node.kind !== "human_gate" || node.default === undefined) return undefined;
  return { answer: node.default };
}

function usage(message: string): SplashdownError {
  return new SplashdownError("USAGE_INVALID", message);
}
