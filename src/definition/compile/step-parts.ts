/** What the builders of single kinds of steps are given, and what they give. */
import type { StepDefinition } from "../model/step.js";
import type { NodeSite } from "./build-context.js";

/** What a step has of every kind, but for its fingerprint. */
export type Common = Omit<Extract<StepDefinition, { kind: "wait" }>, "kind" | "duration" | "reason" | "fingerprint">;

export interface Parts {
  readonly common: Common;
  readonly site: NodeSite;
}

export type Unsigned<T> = T extends StepDefinition ? Omit<T, "fingerprint"> : never;
