/** Builds a phase: specialists, evaluation with its scorers, confidence, and what happens when it is low. */
import { SCORER } from "../kinds/scorer.js";
import type { JsonObject } from "../../base/json.js";
import type { Evaluation, Phase, Scorer, Step } from "../../schema/generated/workflow.js";
import type { NodeSite } from "../kinds/build-context.js";
import {
  APPROVE,
  BANDS,
  EVALUATE_NAME,
  EVALUATION_ITERATIONS,
  MAX_CONCURRENT,
  REJECT,
  RESTART,
  SPAWN_MAX,
  WEIGHT_OTHER,
  WEIGHTS,
} from "../model/defaults.js";
import { endpointOf } from "../kinds/model-options.js";
import type { FaultPath } from "../faults/fault.js";
import { fingerprintStep } from "../model/fingerprint.js";
import { buildOrchestrator } from "./goal-builder.js";
import { findNearest } from "../faults/nearest.js";
import { buildRetry, listCommand, omitUndefined, optionalMs, textMap } from "../kinds/step-fields.js";
import { buildJoints, buildStep } from "./step-builder.js";
import { findKind, isGroupKind } from "./step-kinds.js";
import type { ConfidenceRule, EvaluationDefinition } from "../model/phase-rules.js";
import type { NodeDefinition, PhaseScope } from "../model/workflow.js";
import type { ScorerStep, StepDefinition } from "../model/step.js";

/** Where the specialists of a phase stand, the one that it may add, or its scorers. */
export function placeSpecialists(
  phase: Phase,
  key: "specialists" | "spawn" | "evaluate",
  { at, parent, context }: NodeSite,
): NodeSite {
  return { at: [...at, key], parent: `${parent}/${phase.name}`, isRouted: false, isSpecialist: true, context };
}

interface PhaseParts {
  /** From 1. */
  readonly number: number;
  readonly specialists: readonly NodeDefinition[];
}

/** Builds a phase around its specialists. */
export function buildPhase(phase: Phase, { number, specialists }: PhaseParts, site: NodeSite): PhaseScope {
  const path = `${site.parent}/${phase.name}`;
  const spawn =
    phase.spawn === undefined ? undefined : buildSpawn(phase.spawn, phase.name, placeSpecialists(phase, "spawn", site));
  const evaluate =
    phase.evaluate === undefined
      ? undefined
      : buildEvaluation(phase.evaluate, placeSpecialists(phase, "evaluate", site));
  const built: PhaseScope = {
    node: "scope",
    scope: "phase",
    name: phase.name,
    path,
    ...(phase.description === undefined ? {} : { description: phase.description }),
    ...buildJoints({ when: phase.when }),
    routes: [],
    number,
    children: specialists,
    maxConcurrent: phase.max_concurrent ?? MAX_CONCURRENT,
    confidence: buildConfidence(phase.confidence, site),
    ...(spawn === undefined ? {} : { spawn }),
    ...(evaluate === undefined ? {} : { evaluate }),
    ...omitUndefined("orchestrator", buildOrchestrator(path, site.context)),
    restart: {
      maxAttempts: phase.restart?.max_attempts ?? RESTART.maxAttempts,
      otherwise: phase.restart?.otherwise ?? RESTART.otherwise,
    },
  };
  site.context.places.set(built, site.at);
  return built;
}

/** Whom the orchestrator adds is one step: its report is what clears things up. */
function buildAdded(step: Step, site: NodeSite): StepDefinition | undefined {
  const kind = findKind({ step, path: site.at, isRouted: false, faults: site.context.faults });
  if (kind === undefined) return undefined;
  if (!isGroupKind(kind)) return buildStep(step, kind, site);
  site.context.faults.add({
    path: site.at,
    message: "a specialist that is added is one step, not a group",
    suggestion: "give it a prompt, a command or a function",
  });
  return undefined;
}

function buildSpawn(step: Step, phase: string, site: NodeSite): StepDefinition | undefined {
  if (step.depends_on !== undefined) {
    site.context.faults.add({
      path: [...site.at, "depends_on"],
      message: "a specialist that is added depends on nothing",
      suggestion: "remove depends_on",
      atKey: true,
    });
  }
  return buildAdded({ ...step, name: step.name ?? `${phase}-more` }, site);
}

function buildConfidence(rule: Phase["confidence"], site: NodeSite): ConfidenceRule {
  const written = typeof rule === "object" ? rule : { minimum: rule };
  const given = written.bands ?? {};
  const bands = {
    proceed: given.proceed ?? BANDS.proceed,
    flag: given.flag ?? BANDS.flag,
    spawnOne: given.spawn_one ?? BANDS.spawnOne,
    spawnSeveral: given.spawn_several ?? BANDS.spawnSeveral,
  };
  const edges = [bands.proceed, bands.flag, bands.spawnOne, bands.spawnSeveral];
  if (edges.some((edge, index) => index > 0 && edge > (edges[index - 1] ?? 1))) {
    site.context.faults.add({
      code: "wrong_value",
      path: [...site.at, "confidence", "bands"],
      message: `the bands ${edges.join(", ")} do not descend`,
      suggestion: "proceed >= flag >= spawn_one >= spawn_several",
    });
  }
  return { minimum: written.minimum ?? bands.flag, bands, spawnMax: written.spawn_max ?? SPAWN_MAX };
}

interface NamedScorer {
  readonly dimension: string;
  readonly scorer: Scorer;
  readonly at: FaultPath;
  readonly judge?: string | undefined;
}

function buildEvaluation(evaluation: Evaluation, site: NodeSite): EvaluationDefinition {
  const { at } = site;
  const approve = evaluation.approve ?? APPROVE;
  const reject = evaluation.reject ?? Math.min(REJECT, approve);
  if (reject > approve) {
    site.context.faults.add({
      code: "wrong_value",
      path: [...at, "reject"],
      message: `reject ${reject} is above approve ${approve}`,
      suggestion: "scores below reject are rejected, from approve on approved",
    });
  }
  const named = listScorers(evaluation, site);
  const scorers = named.flatMap((one) => buildScorers(one, site));
  return {
    ...(evaluation.criteria === undefined ? {} : { criteria: evaluation.criteria }),
    approve,
    reject,
    maxIterations: evaluation.max_iterations ?? EVALUATION_ITERATIONS,
    weights: computeWeights(evaluation, named, site),
    scorers,
  };
}

/** Scorers of either form; criteria alone are a rubric for a model. */
function listScorers(evaluation: Evaluation, site: NodeSite): readonly NamedScorer[] {
  const { scorers, criteria } = evaluation;
  const { at } = site;
  if (scorers === undefined || Object.keys(scorers).length === 0) {
    if (criteria !== undefined)
      return [
        {
          dimension: "quality",
          scorer: { rubric: criteria, ...omitUndefined("judges", evaluation.judges) },
          at: [...at, "criteria"],
        },
      ];
    site.context.faults.add({
      code: "missing_key",
      path: at,
      message: "an evaluation needs scorers or criteria",
      suggestion: "add scorers: [{dimension: quality, command: […]}]",
      atKey: true,
    });
    return [];
  }
  const list: NamedScorer[] = Array.isArray(scorers)
    ? (scorers as readonly Scorer[]).map((scorer, index) => ({
        dimension: scorer.dimension ?? scorer.name ?? "",
        scorer,
        at: [...at, "scorers", index],
      }))
    : Object.entries(scorers as Readonly<Record<string, Scorer>>).map(([dimension, scorer]) => ({
        dimension,
        scorer,
        at: [...at, "scorers", dimension],
      }));
  const seen = new Set<string>();
  for (const { dimension, at: place } of list) {
    if (!/^[\p{L}\p{N}_][\p{L}\p{N}_ -]*$/u.test(dimension))
      site.context.faults.add({
        code: "missing_key",
        path: place,
        message: "a scorer needs a dimension of letters and digits",
        suggestion: "add dimension: quality",
      });
    else if (seen.has(dimension))
      site.context.faults.add({
        code: "duplicate_name",
        path: place,
        message: `two scorers have the dimension ${dimension}`,
      });
    seen.add(dimension);
  }
  return list;
}

/** One, or one for each judge. */
function buildScorers(named: NamedScorer, site: NodeSite): readonly ScorerStep[] {
  const { scorer, at } = named;
  const way = buildWay(scorer, at, site);
  if (way === undefined) return [];
  const { judges } = scorer;
  if (judges === undefined) return [buildScorer(named, way, site)];
  if (way.by !== "model") {
    const message = "judges are models with a rubric";
    site.context.faults.add({ path: [...at, "judges"], message, suggestion: "remove judges", atKey: true });
    return [];
  }
  const list = typeof judges === "number" ? Array.from({ length: judges }, () => ({})) : judges;
  const names = list.map(({ name }: { readonly name?: string }, index) => name ?? `judge-${index + 1}`);
  if (new Set(names).size < names.length)
    site.context.faults.add({ path: [...at, "judges"], message: "two judges have the same name" });
  return list.map(({ provider, model }: { readonly provider?: string; readonly model?: string }, index) => {
    const { endpoint: _endpoint, ...asked } = {
      ...way,
      ...omitUndefined("provider", provider),
      ...omitUndefined("model", model),
    };
    return buildScorer({ ...named, judge: names[index] }, withEndpoint(asked, site), site);
  });
}

function buildScorer(
  { dimension, judge, scorer, at }: NamedScorer,
  way: ScorerStep["scorer"],
  site: NodeSite,
): ScorerStep {
  const own = judge === undefined ? dimension : `${dimension}~${judge}`;
  const step: Omit<ScorerStep, "fingerprint"> = {
    node: "step",
    kind: "scorer",
    name: own,
    path: `${site.parent}/${EVALUATE_NAME}/${own}`,
    ...(scorer.description === undefined ? {} : { description: scorer.description }),
    dependsOn: [],
    routes: [],
    input: {},
    effects: scorer.effects ?? SCORER.effects,
    ...(scorer.on_unknown === undefined ? {} : { onUnknown: scorer.on_unknown }),
    retry: buildRetry(scorer.retry),
    ...optionalMs("timeoutMs", scorer.timeout),
    criticality: "standard",
    risky: false,
    saveAs: {},
    secrets: scorer.secrets ?? [],
    dimension,
    ...omitUndefined("judge", judge),
    scorer: way,
  };
  const signed: ScorerStep = { ...step, fingerprint: fingerprintStep(step) };
  site.context.places.set(signed, at);
  return signed;
}

function buildWay(scorer: Scorer, at: FaultPath, site: NodeSite): ScorerStep["scorer"] | undefined {
  const rubric = scorer.rubric ?? scorer.prompt;
  const ways = [scorer.command, scorer.schema, scorer.expression, rubric].filter((way) => way !== undefined);
  if (ways.length !== 1) {
    site.context.faults.add({
      code: "conflict",
      path: at,
      message: "a scorer needs exactly one of command, schema, expression and rubric",
    });
    return undefined;
  }
  if (scorer.command !== undefined) {
    const command = listCommand(scorer.command, scorer.args);
    return { by: "command", command, environment: textMap(scorer.env ?? scorer.environment) };
  }
  if (scorer.expression !== undefined) return { by: "expression", expression: String(scorer.expression) };
  if (rubric === undefined) return { by: "schema", schema: schemaOf(scorer), ...omitUndefined("of", scorer.of) };
  const { provider, model } = site.context;
  const asked = { provider: scorer.provider ?? provider, ...omitUndefined("model", scorer.model ?? model), rubric };
  return withEndpoint({ by: "model" as const, ...asked }, site);
}

function withEndpoint<T extends { readonly provider: string }>(asked: T, { context }: NodeSite) {
  return { ...asked, ...omitUndefined("endpoint", endpointOf(context.runtime, asked.provider)) };
}

/** The booleans of JSON Schema as schemas. */
function schemaOf({ schema }: Scorer): JsonObject {
  if (typeof schema === "object") return schema as JsonObject;
  return schema === false ? { not: {} } : {};
}

/** Weights of the dimensions there are, with a sum of 1. */
function computeWeights(evaluation: Evaluation, named: readonly NamedScorer[], site: NodeSite): Record<string, number> {
  const { at } = site;
  const dimensions = named.map(({ dimension }) => dimension);
  const given = evaluation.weights;
  for (const name of Object.keys(given ?? {})) {
    if (dimensions.includes(name)) continue;
    const nearest = findNearest(name, dimensions);
    site.context.faults.add({
      code: "unknown_name",
      path: [...at, "weights", name],
      message: `no scorer has the dimension ${name}`,
      suggestion: nearest === undefined ? `dimensions: ${dimensions.join(", ")}` : `did you mean ${nearest}?`,
      atKey: true,
    });
  }
  const weightOf = ({ dimension, scorer }: NamedScorer): number =>
    scorer.weight ?? (given === undefined ? (WEIGHTS[dimension] ?? WEIGHT_OTHER) : (given[dimension] ?? 0));
  const sum = named.reduce((total, one) => total + weightOf(one), 0);
  if (sum <= 0 && named.length > 0)
    site.context.faults.add({ code: "wrong_value", path: [...at, "weights"], message: "all weights are zero" });
  // Weights that sum up to 1 stay as they were written.
  const isOne = Math.abs(sum - 1) < 1e-9;
  return Object.fromEntries(
    named.map((one) => [one.dimension, isOne ? weightOf(one) : sum > 0 ? weightOf(one) / sum : 0]),
  );
}
