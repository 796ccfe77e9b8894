/**
 * Atlas' rules: what follows from the confidence of a phase, as decisions that name the numbers.
 *
 * proceed · proceed and flag · one more specialist on the named uncertainties · several more and a person is asked ·
 * halt and ask. Added specialists are bounded by `spawnMax` in all; when they are used up a phase in the first spawning
 * band goes on below its minimum (the task ends partial), in the others a person decides.
 */
import type { QuestionId } from "../../../base/ids.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../../base/json.js";
import type { StepDefinition } from "../../../definition/model/step.js";
import { createSpecialists, isAnybodyToAdd } from "./added-specialists.js";
import { recordDecision, type Choice, type DecisionText } from "../../model/choice.js";
import {
  checkClaim,
  computePhaseConfidence,
  findRecord,
  roundShare,
  selectBand,
  type Band,
  type CheckedClaim,
  type Measured,
  type PhaseConfidence,
  type SpecialistReport,
  type TrackRecord,
} from "../../model/confidence.js";
import { specialistNames } from "../../render/describe-scope.js";
import type { PhaseSettlement } from "../../model/decision.js";
import type { EngineEvent } from "../../model/events.js";
import { describeGroupReport } from "../../model/group-report.js";
import { childPath, findPlace } from "../../model/lookup.js";
import { countedStep, type OpenPhase } from "../scopes/open-phase.js";
import { askOrchestrator, type Chosen } from "./orchestrator.js";
import { openQuestion } from "../questions/questions.js";

const SEVERAL = 2;

/** As decisions and models call them. */
const BAND_OF = {
  proceed: "proceed",
  proceed_flagged: "flag",
  spawn_specialist: "spawn_one",
  spawn_specialists: "spawn_several",
  halt: "halt",
} as const satisfies Readonly<Record<string, Band>>;
type BandName = keyof typeof BAND_OF;
const BAND_NAMES = Object.keys(BAND_OF) as readonly BandName[];

/** A claim that was checked against the measured score and did not hold. Units: 0..1. */
interface Calibration {
  readonly specialist: string;
  readonly claimed: number;
  readonly counted: number;
  readonly measured?: number;
  /** Over 0.15. */
  readonly gap?: number;
  readonly quality?: number;
  /** Means over earlier tasks. */
  readonly record?: TrackRecord;
}

interface CheckedConfidence extends PhaseConfidence {
  readonly calibrations: readonly Calibration[];
}

/** The phase's confidence now, claims checked against what Apollo measured. */
export function describeConfidence(choice: Choice, phase: OpenPhase): CheckedConfidence {
  const measured = measuredOf(choice, phase);
  const calibrations: Calibration[] = [];
  const reports: SpecialistReport[] = [];
  for (const name of specialistNames(choice, { path: phase.scope.path, node: phase.node })) {
    const report = reportOf(choice, phase, name);
    if (report === undefined) continue;
    const { confidence: claimed } = report;
    const path = childPath(phase.scope.path, name);
    if (claimed === undefined) {
      reports.push(report);
      continue;
    }
    const record = findRecord(choice.state.task?.trackRecords, phase.node, { path, ...report });
    const checked = checkClaim(claimed, measured, record);
    calibrations.push(...calibrate(name, claimed, { checked, measured }));
    reports.push({ ...report, confidence: checked.value });
  }
  const rollbacks = choice.state.phases.get(phase.scope.path)?.rollbacks ?? 0;
  return { ...computePhaseConfidence(reports, rollbacks), calibrations };
}

interface Checking {
  readonly checked: CheckedClaim;
  readonly measured: Measured | undefined;
}

/** Empty where the claim holds. */
function calibrate(specialist: string, claimed: number, { checked, measured }: Checking): readonly Calibration[] {
  const { value: counted, reduced, gap, record } = checked;
  if (!reduced && gap === undefined && record === undefined) return [];
  const quality = reduced ? (measured?.quality ?? measured?.score) : undefined;
  return [
    {
      specialist,
      claimed: roundShare(claimed),
      counted,
      ...(measured === undefined ? {} : { measured: roundShare(measured.score / 100) }),
      ...(gap === undefined ? {} : { gap }),
      ...(quality === undefined ? {} : { quality }),
      ...(record === undefined ? {} : { record }),
    },
  ];
}

function explainCalibration({ specialist, claimed, measured, counted, gap, quality, record }: Calibration): string {
  const reasons = [
    ...(quality === undefined ? [] : [`with a quality of ${quality}`]),
    ...(record === undefined
      ? []
      : [`after ${record.tasks} tasks in which it claimed ${record.claimed} and ${record.measured} was measured`]),
  ];
  const lowered = reasons.length === 0 ? "" : ` ${reasons.join(" and ")}: counted as ${counted}`;
  const flagged = gap === undefined ? "" : `, measured ${measured ?? "?"}: a gap of ${gap}`;
  return `${specialist} claimed ${claimed}${lowered}${flagged}`;
}

function reportOf(choice: Choice, phase: OpenPhase, name: string): SpecialistReport | undefined {
  const node = findPlace(choice.state, childPath(phase.scope.path, name))?.node;
  return node?.node === "step" ? reportOfStep(choice, phase, { name, node }) : reportOfGroup(choice, phase, name);
}

interface NamedStep {
  readonly name: string;
  readonly node: StepDefinition;
}

function reportOfStep(choice: Choice, phase: OpenPhase, { name, node }: NamedStep): SpecialistReport | undefined {
  const step = countedStep(choice, phase, name);
  if (step === undefined || (step.status !== "completed" && step.status !== "failed")) return undefined;
  const spawned = phase.data.spawned[name];
  const addresses = isJsonObject(spawned) ? spawned["addresses"] : undefined;
  return {
    name,
    criticality: node.criticality,
    failed: step.status === "failed",
    restarts: step.restarts,
    ...(step.confidence?.value === undefined ? {} : { confidence: step.confidence.value }),
    uncertainties: step.confidence?.uncertainties ?? [],
    ...(typeof addresses === "string" ? { addresses } : {}),
  };
}

function reportOfGroup({ state }: Choice, { scope, data }: OpenPhase, name: string): SpecialistReport | undefined {
  const end = state.frontier.get(scope.path)?.ended.get(name);
  if (end === undefined || end === "omitted" || end === "skipped") return undefined;
  const path = childPath(scope.path, name);
  return describeGroupReport(state, {
    path,
    failed: end === "failed",
    reporting: data.best?.groups?.[name]?.reporting,
  });
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
  const at = { band, confidence, value: confidence.value };
  const room = isAnybodyToAdd(phase, confidence) ? roomFor(choice, phase) : 0;
  const allowed = BAND_NAMES.filter((name) => room > 0 || !name.startsWith("spawn"));
  const asked = askOrchestrator(choice, phase, { text: describeSituation(phase, at, room), allowed });
  if ("events" in asked) return asked.events;
  return [decideBand(choice, phase, { ...at, band: asked.choice === undefined ? band : BAND_OF[asked.choice], asked })];
}

/** How many more specialists may be added. */
function roomFor({ state }: Choice, { node, scope }: OpenPhase): number {
  return Math.max(0, node.confidence.spawnMax - (state.phases.get(scope.path)?.spawned ?? 0));
}

function describeSituation(phase: OpenPhase, at: BandChoice, room: number): string {
  const { uncertainties, weakest } = at.confidence;
  const open = uncertainties.map(({ specialist, uncertainty }) => `- ${specialist}: ${textOf(uncertainty)}`);
  return [
    `Phase ${phase.node.name}: ${explain(phase, at, room)}.`,
    ...(weakest === undefined ? [] : [`Least sure: ${weakest}.`]),
    ...(open.length === 0 ? [] : [`Open uncertainties:\n${open.join("\n")}`]),
    `The rules would choose ${planOf(at.band, room).type}.`,
  ].join("\n\n");
}

function proceedUnmeasured(choice: Choice, phase: OpenPhase): EngineEvent {
  return recordDecision(choice, {
    agent: "atlas",
    type: "proceed",
    description: `phase ${phase.node.name} proceeds`,
    rationale: "no specialist reported a confidence",
    alternatives: ["spawn_specialist", "halt"],
    subject: phase.scope.path,
    effect: { kind: "settle_phase", settled: "proceed" },
  });
}

interface BandChoice {
  readonly band: Band;
  readonly confidence: CheckedConfidence;
  readonly value: number;
  /** What a model said that was asked. */
  readonly asked?: Chosen<BandName>;
}

/** Whoever goes on below the minimum says so, and the task is partial. */
function belowMinimum(plan: BandPlan, { node }: OpenPhase, value: number): BandPlan {
  return plan.settled === "proceed" && value < node.confidence.minimum ? { ...plan, settled: "below" } : plan;
}

function decideBand(choice: Choice, phase: OpenPhase, at: BandChoice): EngineEvent {
  const { confidence, value } = at;
  const { node } = phase;
  const room = roomFor(choice, phase);
  const spawn = createSpecialists(
    phase,
    confidence,
    at.band === "spawn_one" ? Math.min(1, room) : at.band === "spawn_several" ? Math.min(SEVERAL, room) : 0,
  );
  const plan = belowMinimum(planOf(at.band, spawn.length), phase, value);
  const { orchestrator, said } = at.asked ?? {};
  const text: DecisionText = {
    agent: "atlas",
    type: plan.type,
    description: `phase ${node.name}: ${plan.description}`,
    rationale: [...(said === undefined ? [] : [said]), explain(phase, at, room)].join("; "),
    alternatives: BAND_NAMES.filter((type) => type !== plan.type),
    confidence: value,
    subject: phase.scope.path,
    orchestrator,
    effect: {
      kind: "settle_phase",
      confidence: value,
      ...(plan.settled === undefined ? {} : { settled: plan.settled }),
      ...(spawn.length === 0 ? {} : { spawn }),
    },
    facts: {
      mean: confidence.mean ?? value,
      penalty: confidence.penalty,
      band: at.band,
      uncertainties: confidence.uncertainties.map((item) => ({ ...item })),
      ...(confidence.setbacks === 0 ? {} : { setbacks: confidence.setbacks }),
      ...(confidence.calibrations.length === 0 ? {} : { calibrations: confidence.calibrations.map(calibrationFacts) }),
    },
  };
  return recordDecision(choice, text);
}

function calibrationFacts({ record, ...rest }: Calibration): JsonObject {
  return { ...rest, ...(record === undefined ? {} : { record: { ...record } }) };
}

interface BandPlan {
  readonly type: string;
  readonly description: string;
  readonly settled?: PhaseSettlement;
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
            description: "continues below its minimum, no more specialists may be added",
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
  const remarks = confidence.calibrations.map((calibration) => `; ${explainCalibration(calibration)}`).join("");
  return `confidence ${value} (mean ${confidence.mean ?? value}${explainPenalty(confidence)}), minimum ${minimum}, bands: ${edges}; ${room} more specialists allowed${remarks}`;
}

function explainPenalty({ penalty, uncertainties, setbacks }: CheckedConfidence): string {
  if (penalty === 0) return "";
  const reasons = [
    ...(uncertainties.length === 0 ? [] : [`${uncertainties.length} uncertainties`]),
    ...(setbacks === 0 ? [] : [`${setbacks} restarts and roll-backs`]),
  ];
  return ` after ${penalty} for ${reasons.join(" and ")}`;
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
        { value: "proceed", label: "continue with what there is" },
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
  answer: { readonly id: QuestionId; readonly answer: string },
): EngineEvent {
  const confidence = describeConfidence(choice, phase);
  const isSpawn = answer.answer === "spawn";
  const spawn = isSpawn ? createSpecialists(phase, confidence, 1) : [];
  const settled = isSpawn ? "none" : answer.answer === "proceed" ? "proceed" : "fail";
  return recordDecision(choice, {
    agent: "atlas",
    type: isSpawn ? "spawn_specialist" : settled === "proceed" ? "proceed" : "stop",
    description: `phase ${phase.node.name}: ${answer.answer}, as answered`,
    rationale: `answer to ${answer.id} at a confidence of ${confidence.value ?? "?"}`,
    alternatives: ["proceed", "spawn", "fail"].filter((value) => value !== answer.answer),
    ...(confidence.value === undefined ? {} : { confidence: confidence.value }),
    subject: phase.scope.path,
    effect: {
      kind: "settle_phase",
      question: answer.id,
      settled,
      ...(confidence.value === undefined ? {} : { confidence: confidence.value }),
      ...(spawn.length === 0 ? {} : { spawn }),
    },
  });
}
