/** Keeps in the state what a person said. */
import type { JsonObject } from "../../base/json.js";
import type { Decision } from "../model/decision.js";
import type { TaskState } from "../model/state.js";

export function keepGuidance(state: TaskState, decision: Decision, facts: JsonObject): void {
  const { text, id } = facts;
  if (typeof text !== "string") return;
  state.guidance.push(
    Object.freeze({
      text,
      by: decision.agent.replace(/^person:/, ""),
      atMs: decision.atMs,
      ...(decision.subject === undefined ? {} : { path: decision.subject }),
      ...(typeof id === "string" ? { id } : {}),
    }),
  );
}
