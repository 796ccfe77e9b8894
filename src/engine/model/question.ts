/** What a person may be asked: one shape for gates, wizards, unknown outcomes, limits and all the others. */
import type { QuestionId, StepId } from "../../base/ids.js";
import type { JsonObject, JsonValue } from "../../base/json.js";
import type { WizardItem, WizardMoves } from "../../definition/model/step.js";
import type { WizardChange } from "./wizard.js";
import type { QuestionOption } from "./question-option.js";

export type QuestionKind =
  | "unknown_outcome"
  | "repeat_step"
  | "parked_step"
  | "low_confidence"
  | "definition_changed"
  | "limit"
  | "loss"
  | "gate"
  | "tool_approval"
  | "plan"
  | "questions";
export interface Question {
  readonly id: QuestionId;
  readonly kind: QuestionKind;
  readonly text: string;
  readonly options: readonly QuestionOption[];
  readonly step?: StepId;
  readonly phase?: string;
  readonly openedAtMs: number;
  readonly expiresAtMs?: number;
  readonly onExpire?: string;
  /** Of a wizard: what is asked, one after the other, and which moves there are. */
  readonly items?: readonly WizardItem[];
  readonly allow?: WizardMoves;
  /** E.g. an orphaned completion found after a crash, offered as the answer. */
  readonly offered?: JsonValue;
  /** What rules read of it. Checked by the codec. */
  readonly about?: QuestionSubject;
  /** For readers: no rule reads them. */
  readonly facts?: JsonObject;
}

/** Of the engine, each in its unit. */
export type LimitName = "iterations" | "seconds" | "tokens" | "calls" | "cost_micro_usd";

/** What a question is about, where its answer or its being open means something to that thing alone. */
export type QuestionSubject =
  /**
   * One call of a tool inside its step, by its number. `identity`: the tool itself, to which an approval is bound.
   * `isForAll`: one yes is enough for every call of the tool.
   */
  | {
      readonly kind: "call";
      readonly call: string;
      readonly tool: string;
      readonly identity?: string;
      readonly isForAll?: boolean;
    }
  /** A limit of the task, or of the nested workflow at the instance path `scope`. */
  | { readonly kind: "limit"; readonly limit: LimitName; readonly scope?: string }
  /** The plan that a step has made. */
  | { readonly kind: "plan"; readonly step: StepId };

/** What happens to questions. */
export type QuestionEvent =
  | { readonly type: "question_opened"; readonly question: Question }
  | {
      readonly type: "question_answered";
      readonly question: QuestionId;
      readonly answer: string;
      readonly value?: JsonValue;
      readonly by: string;
    }
  /** One move of a wizard, the `move`-th. With an `outcome` it is answered. */
  | ({
      readonly type: "question_moved";
      readonly question: QuestionId;
      readonly move: number;
      readonly action: string;
      readonly by: string;
    } & WizardChange)
  /** Nobody has answered yet, and its time is half over. */
  | { readonly type: "question_reminded"; readonly question: QuestionId };
