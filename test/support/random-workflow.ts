/** Random workflows and what their steps do, from a seed: equal seeds give equal runs, whatever was crashed in between. */
import type {
  NodeDefinition,
  PhaseScope,
  ScopeDefinition,
  WorkflowDefinition,
} from "../../src/definition/model/workflow.js";
import type { StepDefinition } from "../../src/definition/model/step.js";
import type { FailureMode } from "../../src/definition/model/values.js";
import type { StepOutcome } from "../../src/engine/model/ports.js";
import type { StepEntry } from "../../src/engine/model/state.js";
import { done, failed } from "./engine-harness.js";
import { createSeededNumbers } from "./seeded-random.js";
import {
  command,
  dag,
  forEach,
  machine,
  model,
  nested,
  parallel,
  phase,
  phases,
  scorer,
  set,
  undeclared,
  wait,
  workflow,
} from "./workflow-builder.js";

interface Draw {
  next(bound: number): number;
  readonly modes: number;
  /** With items and nested workflows. */
  readonly isWide: boolean;
}

/** What a group that fails fast comes to depends on which member ends first; those are drawn only where order is fixed. */
const MODES: readonly FailureMode[] = ["continue_on_error", "all_or_nothing", "fail_fast"];
const retry = { maxAttempts: 3, backoff: "fixed" as const, delayMs: 500, delayMsMax: 500, jitter: 0.5 };

export interface Drawn {
  readonly failsFast?: boolean;
  readonly isWide?: boolean;
}

/** A workflow of a few scopes, two levels deep. */
export function drawWorkflow(seed: number, { failsFast = false, isWide = false }: Drawn = {}): WorkflowDefinition {
  const draw = { ...createSeededNumbers(seed), modes: failsFast ? 3 : 2, isWide };
  const onFailure = draw.next(3) === 0 ? ("continue" as const) : ("pause" as const);
  const root = draw.next(2) === 0 ? drawPhases(draw) : drawScope(draw, "main", 2);
  return workflow(root, { onFailure });
}

function drawScope(draw: Draw, name: string, depth: number): ScopeDefinition {
  const children: NodeDefinition[] = [];
  const count = 1 + draw.next(4);
  for (let at = 0; at < count; at += 1) children.push(drawNode(draw, `${name}${at}`, depth));
  const kind = draw.next(3);
  if (kind === 0)
    return machine(
      name,
      children.map((child, at) => ({ ...child, routes: at + 1 < count ? [{ to: children[at + 1]!.name }] : [] })),
    );
  const options = { failureMode: MODES[draw.next(draw.modes)]!, maxConcurrent: 1 + draw.next(3) };
  if (kind === 1) return parallel(name, children, options);
  return dag(
    name,
    children.map((child, at) => ({
      ...child,
      dependsOn: children
        .slice(0, at)
        .filter(() => draw.next(3) === 0)
        .map((other) => other.name),
    })),
    options,
  );
}

function drawNode(draw: Draw, name: string, depth: number): NodeDefinition {
  if (draw.isWide && depth > 0 && draw.next(2) === 0) return drawWide(draw, name, depth);
  return depth > 0 && draw.next(4) === 0 ? drawScope(draw, name, depth - 1) : drawStep(draw, name);
}

function drawWide(draw: Draw, name: string, depth: number): NodeDefinition {
  const body = drawNode(draw, "body", depth - 1);
  if (draw.next(3) === 0) {
    const root = body.node === "scope" ? body : machine("root", [body]);
    return nested(name, root, draw.next(2) === 0 ? {} : { output: { n: "{{ workflow.name }}" } });
  }
  const source = Array.from({ length: draw.next(5) }, (_unused, at) => ({ id: `k${at % 3}` }));
  const options = { failureMode: MODES[draw.next(draw.modes)]!, maxConcurrent: 1 + draw.next(3) };
  return forEach(name, body, { source, ...options, ...(draw.next(2) === 0 ? {} : { keyBy: "id" }) });
}

function drawStep(draw: Draw, name: string): StepDefinition {
  const options = { retry, risky: draw.next(8) === 0 };
  switch (draw.next(6)) {
    case 0:
      return command(name, options);
    case 1:
      return command(name, { ...options, effects: "idempotent" });
    case 2:
      return undeclared(name, options);
    case 3:
      return set(name, { value: `{{ 1 + ${name.length} }}` });
    case 4:
      return wait(name, 1 + draw.next(3));
    default:
      return model(name, options);
  }
}

function drawPhases(draw: Draw): ScopeDefinition {
  const count = 1 + draw.next(3);
  return phases(
    "main",
    Array.from({ length: count }, (_unused, at) => drawPhase(draw, at + 1)),
  );
}

function drawPhase(draw: Draw, number: number): PhaseScope {
  const steps = Array.from({ length: 1 + draw.next(3) }, (_unused, at) => drawStep(draw, `p${number}s${at}`));
  const children = steps.map((step, at) => ({
    ...step,
    dependsOn: at > 0 && draw.next(2) === 0 ? [steps[at - 1]!.name] : [],
  }));
  const otherwise = (["fail", "continue"] as const)[draw.next(2)]!;
  return phase(number, `p${number}`, children, {
    maxConcurrent: 1 + draw.next(3),
    restart: { maxAttempts: draw.next(2), otherwise },
    ...(draw.next(2) === 0
      ? {}
      : {
          evaluate: {
            approve: 90,
            reject: 10,
            maxIterations: 3,
            weights: { x: 2, y: 1 },
            scorers: [scorer("x", { retry }), scorer("y", { retry })],
          },
        }),
  });
}

/**
 * What a step comes to. It depends on where the step stands and on its failures so far, not on its attempt number: a
 * crash adds attempts, an undisturbed run must not come to something else.
 */
export function performRandomly(seed: number): (step: StepEntry) => StepOutcome {
  return (step) => {
    const draw = createSeededNumbers(seed ^ hashText(`${step.path}/${step.visit}`));
    const failures = [0, 0, 0, 1, 2, 99][draw.next(6)]!;
    const isBroken = failures === 99 ? draw.next(3) === 0 : step.failures < failures;
    if (isBroken) return failed(`${step.name} broke`);
    if (step.kind === "scorer") return done({ score: 40 + draw.next(60), issues: ["more"] });
    const confidence = draw.next(4) === 0 ? 0.6 + draw.next(40) / 100 : 0.95;
    return done({ value: draw.next(1_000) }, { confidence, uncertainties: draw.next(3) === 0 ? ["why"] : [] });
  };
}

function hashText(text: string): number {
  let hash = 0;
  for (let at = 0; at < text.length; at += 1) hash = (Math.imul(hash, 31) + text.charCodeAt(at)) | 0;
  return hash;
}
