/**
 * The protocol with command specialists: JSON on stdin, a report as JSON on stdout, JSON lines on descriptor 3.
 *
 * A4: a line of an unknown type, or malformed, is logged and ignored; a known one gives only what the protocol lets a
 * child say. Lines are worked off in the order they came.
 * Source: schemas/specialist-protocol.schema.json says every field.
 */
import { isErrorCode, messageOf } from "../../base/errors.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.js";
import type { Log } from "../../base/log.js";
import type { StepSink, StepWork } from "../../engine/model/ports.js";
import { requireAddedStep } from "../outcome/added-step.js";
import { outputInvalid, requireText } from "../outcome/failure.js";
import { formatPlainValue, parsePlainValue } from "../../base/plain-value.js";
import { parseConfidence } from "../outcome/report.js";

/** The document on a specialist's stdin. */
export function formatRequest(work: StepWork): JsonObject {
  const { step, milestone, phase } = work;
  const request: JsonObject = {
    ...pickStory(work.story()),
    task: { name: work.task.name, id: work.task.id },
    phase: { name: phase.name, number: phase.number, iteration: phase.iteration },
    step: {
      name: step.name,
      path: step.path,
      visit: step.visit,
      attempt: step.attempt,
      idempotency_key: step.idempotencyKey,
    },
    inputs: work.inputs,
    input: work.input,
    outputs: work.outputs,
    feedback: work.feedback,
    guidance: work.guidanceNow(),
    uncertainties: work.uncertainties,
    resume: milestone === undefined ? null : { milestone: { name: milestone.name, state: milestone.state } },
  };
  return formatPlainValue(request) as JsonObject;
}

function pickStory(story: JsonObject): JsonObject {
  const { evaluations, decisions, confidence } = story;
  return { evaluations, decisions, confidence };
}

/** Reads stdout as one JSON value; nothing but white space is null. Errors: STEP_OUTPUT_INVALID with the text, cut. */
export function parseStdout(stdout: Uint8Array): JsonValue {
  const text = requireText(stdout, "stdout");
  if (text.trim() === "") return null;
  try {
    return parsePlainValue(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const hint = "a command specialist writes one JSON value to stdout, and whatever else it has to say to stderr";
    throw outputInvalid(`stdout is not JSON (${error.message}): ${hint}`, text);
  }
}

/** Carries a child's control lines to the sink, in order. */
export class ControlChannel {
  #work: Promise<void> = Promise.resolve();
  #failure: unknown;

  constructor(
    private readonly sink: StepSink,
    private readonly log: Log,
    /** Called once when the sink refuses: the child must be ended. */
    private readonly refused: () => void,
  ) {}

  readonly receive = (line: string, _isCut = false, problem?: string): void => {
    this.#work = this.#work.then(() => this.#carry(line, problem));
  };

  /** Resolves when every line so far is carried. Errors: what the sink refused with, unless the attempt was closed. */
  async settled(): Promise<void> {
    await this.#work;
    if (this.#failure !== undefined) throw this.#failure;
  }

  async #carry(line: string, problem: string | undefined): Promise<void> {
    if (this.#failure !== undefined) return;
    let act: ControlAct | undefined;
    try {
      if (problem !== undefined) throw new SyntaxError(`it ${problem}`);
      act = parseControlLine(line);
    } catch (error) {
      this.log.warn(`a control line was ignored (${messageOf(error)}): ${line.slice(0, 200)}`);
      return;
    }
    try {
      await act(this.sink);
    } catch (error) {
      if (isErrorCode(error, "CANCELLED")) return;
      this.#failure = error;
      this.refused();
    }
  }
}

type ControlAct = (sink: StepSink) => Promise<void> | void;

function parseControlLine(line: string): ControlAct {
  const value = parsePlainValue(line);
  if (!isJsonObject(value)) throw new SyntaxError("not an object");
  switch (value["type"]) {
    case "progress":
      return parseProgress(value);
    case "milestone": {
      const name = requireField(value, "name");
      return (sink) => sink.milestone(name, value["state"] ?? null);
    }
    case "partial":
      return (sink) => sink.progress({ partial: value["output"] ?? null });
    case "confidence": {
      const confidence = parseConfidence(value["value"] ?? null);
      if (typeof confidence !== "number") throw new SyntaxError("value must be a number");
      return (sink) => sink.progress({ confidence });
    }
    case "blocker": {
      const blocker = requireField(value, "text");
      return (sink) => sink.progress({ blocker });
    }
    case "spawn":
      // Work that is lost is no line to be ignored: what is wrong with it fails the step.
      return (sink) => sink.addStep(requireAddedStep(value["step"] ?? null, "a spawn line"));
    default:
      throw new SyntaxError(`unknown type ${JSON.stringify(value["type"] ?? null)}`);
  }
}

function parseProgress(value: JsonObject): ControlAct {
  const { fraction, message } = value;
  const isFraction = fraction === undefined || (typeof fraction === "number" && fraction >= 0 && fraction <= 1);
  if (!isFraction) throw new SyntaxError(`fraction must be from 0 to 1, not ${JSON.stringify(fraction)}`);
  if (message !== undefined && typeof message !== "string") throw new SyntaxError("message must be a text");
  return (sink) => sink.progress({ fraction, message });
}

function requireField(value: JsonObject, name: string): string {
  const text = value[name];
  if (typeof text !== "string" || text === "") throw new SyntaxError(`${name} must be a text`);
  return text;
}
