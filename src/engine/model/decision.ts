/** What was chosen, by whom, when and why; and what the choice does. */
import type { QuestionId, StepId } from "../../base/ids.js";
import type { JsonObject, JsonValue } from "../../base/json.js";

/** The seed's decision, plus what it concerned. Source: seed 003, DESIGN section 5. */
export interface Decision {
  readonly id: string;
  readonly atMs: number;
  /** `atlas`, `apollo`, `engine`, or `person:<name>`. */
  readonly agent: string;
  readonly type: string;
  readonly description: string;
  readonly rationale: string;
  readonly alternativesConsidered: readonly string[];
  readonly confidence?: number;
  /** Step, phase or question it concerns. */
  readonly subject?: string;
  /** Step of the model that was asked; its answer serves this decision and no other. */
  readonly orchestrator?: StepId;
  /** What folding it changes, and what later rules read of it. Checked by the codec; without one it is only told. */
  readonly effect?: DecisionEffect;
  /** The inputs of the choice, for readers: no rule reads them, folding neither. */
  readonly facts?: JsonObject;
}

/** Everything that a decision can do. `subject` names the scope or the place where it does it. */
export type DecisionEffect =
  /** The answered question is acted upon, or needs no answer any more. */
  | { readonly kind: "close_question"; readonly question: QuestionId }
  /** The task pauses as soon as nothing runs. `request` names the message that asked for it. */
  | { readonly kind: "pause"; readonly request?: string }
  /** The task stops. `question`: it was answered so. `atLimit`: it was a limit's, whose exit status it keeps. */
  | { readonly kind: "stop"; readonly request?: string; readonly question?: QuestionId; readonly atLimit?: true }
  /** A person's words for what begins from now on. `saidAt`: ISO time at which they were left. */
  | { readonly kind: "guide"; readonly text: string; readonly saidAt: string; readonly request?: string }
  /** A machine that found no route goes on at this step. */
  | { readonly kind: "route"; readonly next: string }
  /** What a phase does about its confidence (0..1, absent: nobody reported any); `spawn`: specialists to add. */
  | {
      readonly kind: "settle_phase";
      /** `none` opens the matter again; absent: it stays as it is. */
      readonly settled?: PhaseSettlement | "none";
      readonly confidence?: number;
      readonly spawn?: readonly SpecialistJson[];
      readonly question?: QuestionId;
    }
  /** The evaluation of a phase has come to its end. */
  | { readonly kind: "judge_phase"; readonly judged: PhaseVerdict }
  /** The phase goes on, and these failed steps are in nobody's way any more. */
  | { readonly kind: "go_on_without"; readonly failed: readonly StepId[] }
  /** The phase has failed, until one of these attempts (`STEP#ATTEMPT`) is another one. */
  | { readonly kind: "give_up"; readonly attempts: readonly string[] }
  /** The plan of a goal as it stands from now on. */
  | { readonly kind: "plan"; readonly phases: readonly JsonValue[] }
  /** The goal is planned anew, with what a person said about the plan. */
  | { readonly kind: "plan_anew"; readonly said: JsonValue };

/** Definition of a specialist that is added to a phase. */
export type SpecialistJson = JsonObject & { readonly name: string; readonly path: string };

/** How a phase goes on: as planned, below its minimum, when a person has answered, or not at all. */
export type PhaseSettlement = "proceed" | "below" | "waiting" | "fail";
export type PhaseVerdict = "approved" | "exhausted" | "rejected";

/**
 * What a note does. `crashed`: its text is why the owner left a task that stays open. `discard_checkpoints`: their manager
 * deletes the checkpoints of the task when it has ended.
 */
export type NoteEffect = "crashed" | "discard_checkpoints";
