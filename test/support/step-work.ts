/** Work for performers, with everything a test does not care about filled in. */
import type { StepId } from "../../src/base/ids.js";
import type { StepDefinition, StepKind } from "../../src/definition/model/step.js";
import type { StepWork } from "../../src/engine/model/ports.js";
import type { StepEntry } from "../../src/engine/model/state.js";

const DEFINITION_BASE = {
  node: "step",
  dependsOn: [],
  routes: [],
  input: {},
  effects: "external",
  retry: { maxAttempts: 1, backoff: "fixed", delayMs: 0, delayMsMax: 0, jitter: 0 },
  criticality: "standard",
  risky: false,
  saveAs: {},
  secrets: [],
  fingerprint: "0".repeat(64),
} as const;

const KIND_FIELDS: { readonly [K in StepKind]: object } = {
  command: { command: [], environment: {} },
  script: { command: [], environment: {} },
  function: { function: "@root/work" },
  model: { provider: "scripted", prompt: "" },
  cli: { cli: "claude", session: "fresh", prompt: "", arguments: [], environment: {} },
  set: { outputType: "auto" },
  wait: { duration: 1 },
  sleep_until: { until: 1 },
  human_gate: { prompt: "", options: [] },
  questions: { items: [], allow: { back: true, skip: true, skipAll: true, abort: false } },
  terminate: { status: "success", reason: "" },
  http: { method: "GET", url: "", query: {}, headers: {}, failOnStatus: true },
  mcp: {
    server: { server: "odd", reach: { by: "stdio", command: [], environment: {} }, allowed: [], policies: {} },
    tool: "",
  },
  scorer: { dimension: "quality", scorer: { by: "expression", expression: "" } },
};

export interface WorkParts extends Partial<Omit<StepWork, "step" | "definition">> {
  readonly step?: Partial<StepEntry>;
  readonly definition?: object;
}

/** Work of one kind for the step `root/work`. */
export function createStepWork(kind: StepKind, parts: WorkParts = {}): StepWork {
  const { step, definition, ...rest } = parts;
  const path = step?.path ?? "root/work";
  const name = path.slice(path.lastIndexOf("/") + 1);
  return {
    task: { id: "8f14e45f-ceea-4c7a-9b1d-1f0c8f6a2b3c", name: "audit-1" },
    step: {
      id: `${path}@0.1` as StepId,
      path,
      name,
      kind,
      round: 0,
      visit: 1,
      phase: 1,
      status: "open",
      attempt: 1,
      work: { inline: null },
      inputHash: "00",
      idempotencyKey: "key-1",
      effects: "external",
      onUnknown: "ask",
      intendedAtMs: 0,
      confidenceHistory: [],
      blockers: [],
      assumptions: [],
      crashes: 0,
      failures: 0,
      restarts: 0,
      ...step,
    },
    definition: {
      ...DEFINITION_BASE,
      name,
      path,
      kind,
      ...KIND_FIELDS[kind],
      ...definition,
    } as unknown as StepDefinition,
    workflowFolder: "/",
    phase: { name: "research", number: 1, iteration: 1 },
    inputs: {},
    input: {},
    rendered: {},
    secretPlaces: [],
    outputs: {},
    feedback: [],
    guidance: [],
    guidanceNow: () => [],
    uncertainties: [],
    story: () => ({}),
    locate: () => undefined,
    turns: [],
    tools: new Map(),
    substeps: new Map(),
    approvalOf: () => undefined,
    ...rest,
  };
}
