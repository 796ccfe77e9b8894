/**
 * Atlas' rules: what follows from the confidence of a phase, as decisions that name the numbers.
 *
 * proceed · proceed and flag · one more specialist on the named uncertainties · several more and a person is asked ·
 * halt and ask. Added specialists are bounded by `spawnMax` in all; when they are used up a phase in the first spawning
 * band goes on below its minimum (the task ends partial), in the others a person decides.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../base/json.js";
import type { StepDefinition } from "../definition/workflow.js";
import { decideThat, type Choice, type DecisionText } from "./choice.js";
import {
  checkClaim,
  computePhaseConfidence,
  selectBand,
  type Band,
  type Measured,
  type PhaseConfidence,
  type SpecialistReport,
} from "./confidence.js";
import { specialistNames } from "./describe-scope.js";
import type { EngineEvent } from "./events.js";
import { childPath, definitionToJson, findPlace } from "./lookup.js";
import { countedStep, type OpenPhase } from "./open-phase.js";
import { openQuestion } from "./questions.js";

const SEVERAL = 2;

interface CheckedConfidence extends PhaseConfidence {
  /** Remarks of checking claims against scores. */
  readonly remarks: readonly string[];
}

/** The phase's confidence now, claims checked against what Apollo measured. */
export function describeConfidence(choice: Choice, phase: OpenPhase): CheckedConfidence {
  const measured = measuredOf(choice, phase);
  const remarks: string[] = [];
  const reports: SpecialistReport[] = [];
  for (const name of specialistNames(choice, { path: phase.scope.path, node: phase.node })) {
    const report = reportOf(choice, phase, name);
    if (report === undefined) continue;
    if (report.confidence === undefined) {
      reports.push(report);
      continue;
    }
    const checked = checkClaim(report.confidence, measured);
    if (checked.reduced)
      remarks.push(
        `${name} claimed ${formatShare(report.confidence)} with a quality of ${measured?.quality ?? measured?.score}: counted as ${checked.value}`,
      );
    if (checked.gap !== undefined)
      remarks.push(
        `${name} claimed ${formatShare(report.confidence)}, measured ${formatShare((measured?.score ?? 0) / 100)}: a gap of ${checked.gap}`,
      );
    reports.push({ ...report, confidence: checked.value });
  }
  return { ...computePhaseConfidence(reports), remarks };
}

/** To four digits, as the phase's own confidence: a mean of parts has many more. */
function formatShare(value: number): string {
  return String(Math.round(value * 10_000) / 10_000);
}

function reportOf(choice: Choice, phase: OpenPhase, name: string): SpecialistReport | undefined {
  const step = countedStep(choice, phase, name);
  if (step === undefined || (step.status !== "completed" && step.status !== "failed")) return undefined;
  const spawned = phase.data.spawned[name];
  const definition = definitionOf(choice, phase, name);
  const addresses = isJsonObject(spawned) ? spawned["addresses"] : undefined;
  return {
    name,
    criticality: definition?.criticality ?? "standard",
    failed: step.status === "failed",
    ...(step.confidence === undefined ? {} : { confidence: step.confidence.value }),
    uncertainties: step.confidence?.uncertainties ?? [],
    ...(typeof addresses === "string" ? { addresses } : {}),
  };
}

function definitionOf(choice: Choice, phase: OpenPhase, name: string): StepDefinition | undefined {
  const node = findPlace(choice.state, childPath(phase.scope.path, name))?.node;
  return node?.node === "step" ? node : undefined;
}

function measuredOf(choice: Choice, phase: OpenPhase): Measured | undefined {
  const iteration = phase.data.best?.iteration;
  if (iteration === undefined) return undefined;
  const entry = choice.state.evaluations.findLast(
    (candidate) => candidate.path === phase.scope.path && candidate.iteration === iteration,
  );
  if (entry?.score === undefined) return undefined;
  const quality = entry.scores["quality"]?.score;
  return { score: entry.score, ...(quality === undefined ? {} : { quality }) };
}

/** The next choice on the phase's confidence: empty while a person is asked. */
export function settleConfidence(choice: Choice, phase: OpenPhase): readonly EngineEvent[] {
  const confidence = describeConfidence(choice, phase);
  if (phase.data.settled === "waiting") return askOnce(choice, phase, confidence);
  if (confidence.value === undefined) return [proceedUnmeasured(choice, phase)];
  const band = selectBand(confidence.value, phase.node.confidence);
  return [decideBand(choice, phase, { band, confidence, value: confidence.value })];
}

function proceedUnmeasured(choice: Choice, phase: OpenPhase): EngineEvent {
  return decideThat(choice, {
    agent: "atlas",
    type: "proceed",
    description: `phase ${phase.node.name} proceeds`,
    rationale: "no specialist reported a confidence",
    alternatives: ["spawn_specialist", "halt"],
    subject: phase.scope.path,
    facts: { settled: "proceed" },
  });
}

interface BandChoice {
  readonly band: Band;
  readonly confidence: CheckedConfidence;
  readonly value: number;
}

function decideBand(choice: Choice, phase: OpenPhase, at: BandChoice): EngineEvent {
  const { confidence, value } = at;
  const { node } = phase;
  const room = Math.max(0, node.confidence.spawnMax - (choice.state.phases.get(phase.scope.path)?.spawned ?? 0));
  const spawn = createSpecialists(
    phase,
    confidence,
    at.band === "spawn_one" ? Math.min(1, room) : at.band === "spawn_several" ? Math.min(SEVERAL, room) : 0,
  );
  const plan = planOf(at.band, spawn.length);
  const text: DecisionText = {
    agent: "atlas",
    type: plan.type,
    description: `phase ${node.name}: ${plan.description}`,
    rationale: explain(phase, at, room),
    alternatives: ["proceed", "proceed_flagged", "spawn_specialist", "spawn_specialists", "halt"].filter(
      (type) => type !== plan.type,
    ),
    confidence: value,
    subject: phase.scope.path,
    facts: {
      phase_confidence: value,
      mean: confidence.mean ?? value,
      penalty: confidence.penalty,
      band: at.band,
      uncertainties: confidence.uncertainties.map((item) => ({ ...item })),
      ...(plan.settled === undefined ? {} : { settled: plan.settled }),
      ...(spawn.length === 0 ? {} : { spawn }),
    },
  };
  return decideThat(choice, text);
}

interface BandPlan {
  readonly type: string;
  readonly description: string;
  readonly settled?: string;
}

function planOf(band: Band, spawned: number): BandPlan {
  switch (band) {
    case "proceed":
      return { type: "proceed", description: "proceeds", settled: "proceed" };
    case "flag":
      return { type: "proceed_flagged", description: "proceeds, flagged", settled: "proceed" };
    case "spawn_one":
      return spawned > 0
        ? { type: "spawn_specialist", description: "one more specialist on the named uncertainties" }
        : {
            type: "proceed_below",
            description: "goes on below its minimum, no more specialists may be added",
            settled: "below",
          };
    case "spawn_several":
      return spawned > 0
        ? {
            type: "spawn_specialists",
            description: `${spawned} more specialists, and a person is asked`,
            settled: "waiting",
          }
        : {
            type: "halt",
            description: "halts and asks a person, no more specialists may be added",
            settled: "waiting",
          };
    default:
      return { type: "halt", description: "halts and asks a person", settled: "waiting" };
  }
}

function explain(phase: OpenPhase, at: BandChoice, room: number): string {
  const { confidence, value } = at;
  const { minimum, bands } = phase.node.confidence;
  const edges = `proceed ${bands.proceed}, flag ${bands.flag}, spawn one ${bands.spawnOne}, spawn several ${bands.spawnSeveral}`;
  const penalty =
    confidence.penalty > 0 ? ` after ${confidence.penalty} for ${confidence.uncertainties.length} uncertainties` : "";
  const remarks = confidence.remarks.length === 0 ? "" : `; ${confidence.remarks.join("; ")}`;
  return `confidence ${value} (mean ${confidence.mean ?? value}${penalty}), minimum ${minimum}, bands: ${edges}; ${room} more specialists allowed${remarks}`;
}

/** One question per wait: it is asked anew only after its answer was used up. */
function askOnce(choice: Choice, phase: OpenPhase, confidence: CheckedConfidence): readonly EngineEvent[] {
  for (const id of choice.state.unsettled) {
    const question = choice.state.questions.get(id);
    if (question?.kind === "low_confidence" && question.phase === phase.scope.path) return [];
  }
  const named = confidence.uncertainties.map(({ specialist, uncertainty }) => `${specialist}: ${textOf(uncertainty)}`);
  return [
    openQuestion(choice, {
      kind: "low_confidence",
      subject: phase.scope.path,
      phase: phase.scope.path,
      text: `phase ${phase.node.name} has a confidence of ${confidence.value ?? "?"}, under its minimum of ${phase.node.confidence.minimum}${named.length === 0 ? "" : `; uncertain: ${named.join("; ")}`}`,
      options: [
        { value: "proceed", label: "go on with what there is" },
        { value: "spawn", label: "one more specialist on the uncertainties" },
        { value: "fail", label: "stop here" },
      ],
      facts: { confidence: confidence.value ?? null, weakest: confidence.weakest ?? null },
    }),
  ];
}

function textOf(value: JsonValue): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** What a person answered about a phase's confidence. */
export function consumeConfidenceAnswer(
  choice: Choice,
  phase: OpenPhase,
  answer: { readonly id: string; readonly answer: string },
): EngineEvent {
  const confidence = describeConfidence(choice, phase);
  const isSpawn = answer.answer === "spawn";
  const spawn = isSpawn ? createSpecialists(phase, confidence, 1) : [];
  const settled = isSpawn ? "none" : answer.answer === "proceed" ? "proceed" : "fail";
  return decideThat(choice, {
    agent: "atlas",
    type: isSpawn ? "spawn_specialist" : settled === "proceed" ? "proceed" : "stop",
    description: `phase ${phase.node.name}: ${answer.answer}, as answered`,
    rationale: `answer to ${answer.id} at a confidence of ${confidence.value ?? "?"}`,
    alternatives: ["proceed", "spawn", "fail"].filter((value) => value !== answer.answer),
    ...(confidence.value === undefined ? {} : { confidence: confidence.value }),
    subject: phase.scope.path,
    facts: {
      consumes: answer.id,
      settled,
      ...(confidence.value === undefined ? {} : { phase_confidence: confidence.value }),
      ...(spawn.length === 0 ? {} : { spawn }),
    },
  });
}

/**
 * Definitions of added specialists: the phase's `spawn`, else the weakest specialist's own definition again, each on one
 * share of the open uncertainties. Names are unique in the phase.
 */
function createSpecialists(phase: OpenPhase, confidence: CheckedConfidence, count: number): readonly JsonObject[] {
  const taken = new Set([...phase.node.children.map((child) => child.name), ...Object.keys(phase.data.spawned)]);
  const definitions: JsonObject[] = [];
  for (let at = 0; at < count; at += 1) {
    const target = targetOf(confidence, at);
    const base =
      phase.node.spawn ?? phase.node.children.find((child) => child.name === target) ?? phase.node.children[0];
    if (base === undefined) break;
    const name = uniqueName(phase.node.spawn === undefined ? `${base.name}-more` : base.name, taken);
    const uncertainties = confidence.uncertainties
      .filter((item) => item.specialist === target)
      .map((item) => item.uncertainty);
    const definition: StepDefinition = {
      ...base,
      name,
      path: childPath(phase.scope.path, name),
      dependsOn: [],
      routes: [],
      saveAs: {},
    };
    definitions.push({
      ...definitionToJson(definition),
      uncertainties,
      ...(target === undefined ? {} : { addresses: target }),
    });
  }
  return definitions;
}

/** Whom the n-th added specialist helps: those with uncertainties in order, else the weakest. */
function targetOf(confidence: CheckedConfidence, at: number): string | undefined {
  const uncertain = [...new Set(confidence.uncertainties.map((item) => item.specialist))];
  if (uncertain.length === 0) return confidence.weakest;
  const first = confidence.weakest !== undefined && uncertain.includes(confidence.weakest) ? [confidence.weakest] : [];
  const order = [...first, ...uncertain.filter((name) => !first.includes(name))];
  return order[at % order.length];
}

function uniqueName(base: string, taken: Set<string>): string {
  let name = base;
  for (let at = 2; taken.has(name); at += 1) name = `${base}-${at}`;
  taken.add(name);
  return name;
}
