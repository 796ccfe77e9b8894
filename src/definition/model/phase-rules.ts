/** The rules of a phase as the engine runs it: when its confidence is enough, and how its results are scored. */
import type { ScorerStep } from "./step.js";

export interface ConfidenceRule {
  /** Below it the bands act; at or above it the phase proceeds. */
  readonly minimum: number;
  readonly bands: ConfidenceBands;
  /** How many specialists the orchestrator may add to the phase in all. */
  readonly spawnMax: number;
}
/** Lower edges of the bands, descending; each edge is a confidence threshold. */
export interface ConfidenceBands {
  readonly proceed: number;
  readonly flag: number;
  readonly spawnOne: number;
  readonly spawnSeveral: number;
}

export interface EvaluationDefinition {
  readonly criteria?: string;
  /** 0–100. */
  readonly approve: number;
  readonly reject: number;
  readonly maxIterations: number;
  /** Weight per dimension; normalised to a sum of 1. */
  readonly weights: Readonly<Record<string, number>>;
  readonly scorers: readonly ScorerStep[];
}
