/**
 * A terminate step: it completes, and its workflow ends with it, well or failed.
 *
 * The machine it stands in is the workflow's own, so it is left at once; `leaving` says what that means further out.
 */
import { isJsonObject, type JsonValue } from "../../../base/json.js";
import { typeFields } from "../../render/final-output.js";
import { loadValue, type Choice } from "../../model/choice.js";
import type { EngineEvent, EndOfWorkflow } from "../../model/events.js";
import { findStepDefinition } from "../../model/lookup.js";
import { completeAttempt } from "../steps/outcome.js";
import { END } from "../steps/routes.js";
import type { StepEntry } from "../../model/state.js";

export function terminate(choice: Choice, step: StepEntry): readonly EngineEvent[] {
  const node = findStepDefinition(choice.state, step);
  const work = loadValue(choice, step.work);
  if (node.kind !== "terminate" || !isJsonObject(work)) return [];
  const reason = typeof work["reason"] === "string" ? work["reason"] : "";
  const replacesOutput = node.outputTemplate !== undefined;
  const ends: EndOfWorkflow = { status: node.status, reason, replacesOutput };
  const said = work["output"];
  const output: JsonValue = isJsonObject(said) ? typeFields(said) : (said ?? { status: node.status, reason });
  return completeAttempt(choice, step, { output: { inline: output }, durationMs: 0, goTo: END, ends });
}
