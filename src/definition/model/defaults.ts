/** Every default of the workflow language, in one place. Source: DESIGN sections 3, 5; CONDUCTOR-YAML 1.2, 1.4. */
import type { ConfidenceBands } from "./phase-rules.js";
import type { RetryPolicy } from "./values.js";

export const BANDS: ConfidenceBands = { proceed: 0.85, flag: 0.75, spawnOne: 0.65, spawnSeveral: 0.5 };
export const SPAWN_MAX = 3;
export const RESTART = { maxAttempts: 1, otherwise: "fail" } as const;
export const APPROVE = 90;
export const REJECT = 50;
export const EVALUATION_ITERATIONS = 5;
/** Weights of the usual dimensions, restricted to the scorers there are. */
export const WEIGHTS: Readonly<Record<string, number>> = {
  quality: 0.4,
  performance: 0.3,
  security: 0.2,
  confidence: 0.1,
};
/** A dimension of a person's own, without a weight. */
export const WEIGHT_OTHER = 0.1;

export const RETRY: RetryPolicy = {
  maxAttempts: 1,
  backoff: "exponential",
  delayMs: 2_000,
  delayMsMax: 300_000,
  jitter: 0.1,
};
/** Where a model step says nothing of retries: a provider that stumbles is asked again, a wrong answer is repaired instead. */
export const RETRY_OF_MODELS: RetryPolicy = {
  maxAttempts: 3,
  backoff: "exponential",
  delayMs: 2_000,
  delayMsMax: 60_000,
  jitter: 0.1,
  on: ["provider_error", "timeout"],
};
export const MAX_CONCURRENT = 10;
/** Of the prompt of a specialist with all that stands around it, where `context.max_tokens` says nothing. */
export const BRIEFING_TOKENS = 24_000;
/** Conductor's own limit counts loops; phases and dags cannot loop, so theirs only stops a mistake. */
export const ITERATIONS_OF_ROUTES = 10;
export const ITERATIONS_OTHERWISE = 100_000;
/** Provider of Conductor's files, and of ours where none is named. */
export const PROVIDER_OF_ROUTES = "copilot";
export const PROVIDER_OTHERWISE = "default";

/** Name of the root scope: constant, so that paths survive a renamed workflow. */
export const ROOT_NAME = "main";
/** Where hooks stand below the root. */
export const HOOKS_NAME = "$hooks";
/** Where a goal is planned, and its results merged. */
export const PLAN_NAME = "$plan";
export const CONSOLIDATE_NAME = "$consolidate";
/** Where a model chooses for the orchestrator, below its phase. */
export const ATLAS_NAME = "$atlas";
export const PLAN_PHASES_MAX = 6;
export const PLAN_SPECIALISTS_MAX = 16;
/** Where the scorers of a phase stand below it. */
export const EVALUATE_NAME = "$evaluate";
