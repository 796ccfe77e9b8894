/** What was chosen, by whom, when and why. */
import type { JsonObject } from "../../base/json.js";

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
  /** Step, phase or question it concerns, and the inputs of the choice. */
  readonly subject?: string;
  readonly facts?: JsonObject;
}
