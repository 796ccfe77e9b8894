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
  readonly facts?: JsonObject;
}

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
