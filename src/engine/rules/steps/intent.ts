/**
 * Makes intents: renders what a step is to do, once, and names it.
 *
 * The work is rendered at the first attempt and kept: later attempts, after a failure or a crash, get the same input, the
 * same hash and so the same idempotency key (E7), unless the definition of the step has changed since.
 */
import { sha256Hex } from "../../../base/digest.js";
import { errorCodeOf, messageOf } from "../../../base/errors.js";
import type { QuestionId } from "../../../base/ids.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../../base/json.js";
import { canonicalJson } from "../../../base/json-encoding.js";
import { kindOf } from "../../../definition/kinds/table.js";
import type { StepDefinition } from "../../../definition/model/step.js";
import { SecretMarks } from "../../../definition/templates/secret-marks.js";
import type { OnUnknown } from "../../../definition/model/values.js";
import { CONSOLIDATE_NAME } from "../../../definition/model/defaults.js";
import type { Choice } from "../../model/choice.js";
import { listSureResults } from "../../reports/confidence-report.js";
import { describeStepScope, specialistNames } from "../../render/describe-scope.js";
import type { Decision } from "../../model/decision.js";
import type { TemplateEngine } from "../../model/input.js";
import type { EventOf, StepError } from "../../model/events.js";
import type { ValueRef } from "../../model/value-ref.js";
import { definitionPathOf, idempotencyKeyOf, stepIdOf } from "../../model/identity.js";
import { renderKind } from "../../render/rendering.js";
import {
  childPath,
  currentStepId,
  definitionToJson,
  findPhase,
  findPlace,
  findScopeDefinition,
  findWorkflow,
  indexDefinition,
  isOwnStep,
  phaseNumberOf,
  requirePlace,
  requireTask,
  type PlacedPhase,
} from "../../model/lookup.js";
import type { StepEntry, TaskState } from "../../model/state.js";
import { isToldGuidance, listGuidance } from "../../model/told-guidance.js";

export interface IntentRequest {
  readonly path: string;
  readonly node: StepDefinition;
  /** The answer that permits it. */
  readonly permittedBy?: QuestionId;
  /** Names that its templates see besides. */
  readonly names?: JsonObject;
  /** How its condition was judged. */
  readonly judged?: { readonly decision?: Decision; readonly fault?: StepError };
}

/** An intent, and the reason it cannot be carried out when its templates fail. */
export interface Intent {
  readonly event: EventOf<"step_intended">;
  readonly error?: StepError;
}

/** The step of the current visit that has not ended yet, if there is one: the same step goes on with a new attempt. */
export function findUnfinished(state: TaskState, path: string): StepEntry | undefined {
  const entry = state.steps.get(currentStepId(state, path));
  return entry === undefined || entry.status === "completed" || entry.status === "skipped" || entry.status === "failed"
    ? undefined
    : entry;
}

/** The same visit of the same place in an earlier round, done, or perhaps done; the latest one. */
export function findEarlierRound(
  state: TaskState,
  step: Pick<StepEntry, "path" | "round" | "visit">,
): StepEntry | undefined {
  for (let round = step.round - 1; round >= 1; round -= 1) {
    const entry = state.steps.get(stepIdOf({ path: step.path, round, visit: step.visit }));
    if (entry?.status === "completed" || entry?.status === "unknown") return entry;
  }
  return undefined;
}

/** The next intent of a step. */
export function createIntent(choice: Choice, request: IntentRequest): Intent {
  const { state, nowMs } = choice;
  const { path, node, permittedBy } = request;
  const task = requireTask(state);
  const before = findUnfinished(state, path);
  const identity = identifyNext(state, path, before);
  const { decision } = request.judged ?? {};
  const isKept = before !== undefined && keepsWork(before, node);
  const { work, inputHash, error } = isKept ? keptWork(before) : renderWork(choice, request);
  const guided = countGuidance(state, request, isKept);
  const event: EventOf<"step_intended"> = {
    type: "step_intended",
    atMs: nowMs,
    ...identity,
    path,
    kind: node.kind,
    phase: phaseNumberOf(state, path),
    work,
    inputHash,
    idempotencyKey: idempotencyKeyOf(task.id, identity.step, inputHash),
    effects: error === undefined ? node.effects : "none",
    onUnknown: chooseOnUnknown(state, node),
    fingerprint: node.fingerprint,
    ...(guided === 0 ? {} : { guided }),
    ...dueOf(choice, request, { before, work }),
    ...(isAdded(state, path) ? { spawnedDefinition: definitionToJson(node) } : {}),
    ...(permittedBy === undefined ? {} : { permittedBy }),
    ...(decision === undefined ? {} : { decision }),
  };
  return { event, ...(error === undefined ? {} : { error }) };
}

function keptWork({ work, inputHash }: StepEntry): Rendered {
  return { work, inputHash };
}

/** When its time has come, where that ends it. */
function dueOf(
  { nowMs, context }: Choice,
  { node }: IntentRequest,
  { before, work }: { readonly before: StepEntry | undefined; readonly work: ValueRef },
): { readonly dueAtMs?: number } {
  const { computeDueAtMs } = kindOf(node.kind);
  if (computeDueAtMs === undefined) return {};
  const rendered = "inline" in work && isJsonObject(work.inline) ? work.inline : {};
  return { dueAtMs: before?.dueAtMs ?? computeDueAtMs(rendered, { nowMs, aheadMs: context.aheadMs ?? 0 }) };
}

/** A conversation that goes on is told before its next turn; everything else begins with all there is. */
function countGuidance(state: TaskState, { path, node }: IntentRequest, isKept: boolean): number {
  const isLater = isKept && node.kind === "model";
  return isLater || !isToldGuidance(node) ? 0 : listGuidance(state, path).length;
}

/** The same step with the next attempt, or the next visit of its place. */
function identifyNext(state: TaskState, path: string, before: StepEntry | undefined) {
  if (before !== undefined) {
    return { step: before.id, round: before.round, visit: before.visit, attempt: before.attempt + 1 };
  }
  const visit = (state.visits.get(path) ?? 0) + 1;
  return { step: stepIdOf({ path, round: state.round, visit }), round: state.round, visit, attempt: 1 };
}

/** What was held may have failed to render. */
function keepsWork({ held, fingerprint }: StepEntry, node: StepDefinition): boolean {
  return held !== true && (fingerprint === undefined || fingerprint === node.fingerprint);
}

/** A specialist that the orchestrator added is in no file. */
function isAdded(state: TaskState, path: string): boolean {
  return !indexDefinition(requireTask(state).definition).places.has(definitionPathOf(path));
}

/** Precedence: step, workflow, settings; the flag of a resume comes before them all. */
function chooseOnUnknown(state: TaskState, node: StepDefinition): OnUnknown {
  const { definition, settings } = requireTask(state);
  const recovery = settings["recovery_config"];
  const fromSettings = isJsonObject(recovery) ? recovery["on_unknown"] : undefined;
  const chosen = node.onUnknown ?? definition.onUnknown ?? fromSettings;
  return chosen === "rerun" || chosen === "skip" || chosen === "fail" ? chosen : "ask";
}

interface Rendered {
  readonly work: ValueRef;
  readonly inputHash: string;
  readonly error?: StepError;
}

/** What a program found out is data. */
const LITERAL: TemplateEngine = {
  renderValue: (value) => value,
  renderText: (text) => text,
  evaluateCondition: () => true,
};

/** Which texts of an added step are data: all of them, or its input. */
function chooseTemplates(
  choice: Choice,
  node: StepDefinition,
): { readonly ofInput: TemplateEngine; readonly choice: Choice } {
  const { literal } = definitionToJson(node);
  const { templates } = choice.context;
  if (literal !== "all") return { ofInput: literal === "input" ? LITERAL : templates, choice };
  return { ofInput: LITERAL, choice: { ...choice, context: { ...choice.context, templates: LITERAL } } };
}

function renderWork(given: Choice, { path, node, names, judged }: IntentRequest): Rendered {
  if (judged?.fault !== undefined) return refuse(judged.fault);
  const { choice, ofInput } = chooseTemplates(given, node);
  const marks = new SecretMarks(node.secrets, choice.context.random);
  // A step that names no secret may read another step that is called `secrets`.
  const secrets = node.secrets.length === 0 ? {} : { secrets: marks.values };
  const extra = { ...extraNames(choice, path, node), ...names, ...secrets };
  const uses = usedPaths(choice, path, node);
  const { scope, explain, requireReferences } = describeStepScope(choice, { path, node }, extra);
  try {
    requireReferences();
    const input = ofInput.renderValue(node.input, scope);
    const uncertainties = (extra as JsonObject)["uncertainties"];
    const guidance = isToldGuidance(node) ? listGuidance(choice.state, path) : [];
    const { value, places } = marks.settle({ input, ...renderKind(choice, node, scope) });
    const work: JsonObject = {
      ...value,
      uses,
      ...(guidance.length === 0 ? {} : { guidance }),
      ...(uncertainties === undefined ? {} : { uncertainties }),
      ...(places.length === 0 ? {} : { secret_places: places as unknown as JsonValue }),
    };
    return { work: { inline: work }, inputHash: hashInput(choice, work, uses) };
  } catch (error) {
    if (errorCodeOf(error) !== "TEMPLATE_FAILED") throw error;
    // A message with its line of the file has a line for what may be done.
    const told = messageOf(error);
    const message = [told, explain()].filter((text) => text !== "").join(told.includes("\n") ? "\n      = " : "; ");
    return refuse({ code: "TEMPLATE_FAILED", message, retryable: false });
  }
}

/** Nothing to carry out. */
function refuse(error: StepError): Rendered {
  const work: JsonObject = { template_error: error.message };
  return { work: { inline: work }, inputHash: sha256Hex(canonicalJson(work)), error };
}

/** A specialist that was added is told what to clear up; its definition carries it. */
function extraNames(choice: Choice, path: string, node: StepDefinition): JsonObject {
  const phase = findPhase(choice.state, path);
  const scope = phase === undefined ? undefined : choice.state.scopes.get(phase.path);
  if (scope?.data.scope !== "phase") return {};
  const spawned = scope.data.spawned[node.name] as JsonObject | undefined;
  return spawned === undefined
    ? {}
    : { uncertainties: spawned["uncertainties"] ?? [], specialist: spawned["addresses"] ?? null };
}

/**
 * Paths of the outputs handed over: all of the phase for a scorer; else those of the phases before, as far as the kind
 * reads them, what the step depends on, whom it helps where it was added, and its own of the last iteration where it is
 * shown that.
 */
function usedPaths(choice: Choice, path: string, node: StepDefinition): readonly string[] {
  const parent = findPlace(choice.state, path)?.parent;
  if (parent === undefined) return [];
  const phase = findPhase(choice.state, path);
  const used =
    node.kind === "scorer" && phase !== undefined
      ? specialistPaths(choice, phase)
      : isOwnStep(node.name)
        ? resultPaths(choice, { path: parent, name: node.name })
        : [
            ...(readsEarlier(choice, path, node) ? earlierPaths(choice, parent, phase) : []),
            ...[...node.dependsOn, ...addressed(node)].map((name) => childPath(parent, name)),
            ...(isBriefed(node) ? [path] : []),
          ];
  return used.filter((candidate) => choice.state.outputs.has(candidate));
}

/** What a step of the list of phases itself is shown: every result, or those that are sure enough to be merged. */
function resultPaths(
  choice: Choice,
  { path, name }: { readonly path: string; readonly name: string },
): readonly string[] {
  const scope = findScopeDefinition(choice.state, path);
  if (scope.scope !== "phases") return [];
  if (name === CONSOLIDATE_NAME) return listSureResults(choice.state);
  return scope.children.flatMap((node) => specialistPaths(choice, { path: childPath(path, node.name), node }));
}

/** A specialist that is briefed: it is shown its own last answer too. */
export function isBriefed(node: StepDefinition): boolean {
  return (node.kind === "model" || node.kind === "cli") && node.briefingTokensMax !== undefined;
}

/** Others say themselves what they read, in their templates. */
function readsEarlier({ state }: Choice, path: string, node: StepDefinition): boolean {
  if (node.kind === "command" || node.kind === "function") return true;
  const context = findWorkflow(state, path)?.node.context ?? requireTask(state).definition.context;
  return isBriefed(node) && context.mode === "accumulate";
}

/** What ran before by the order of the scope itself: earlier phases, or the other steps of a machine. */
function earlierPaths(choice: Choice, parent: string, phase: PlacedPhase | undefined): readonly string[] {
  if (phase !== undefined) return earlierPhases(choice, phase).flatMap((earlier) => specialistPaths(choice, earlier));
  const scope = findPlace(choice.state, parent)?.node;
  if (scope?.node !== "scope" || scope.scope !== "machine") return [];
  return scope.children.map((child) => childPath(parent, child.name));
}

function specialistPaths(choice: Choice, phase: PlacedPhase): readonly string[] {
  return specialistNames(choice, phase).map((name) => childPath(phase.path, name));
}

/** In their order: where two specialists have one name, the later one is read. */
function earlierPhases({ state }: Choice, phase: PlacedPhase): readonly PlacedPhase[] {
  const { parent } = requirePlace(state, phase.path);
  const among = parent === undefined ? undefined : findScopeDefinition(state, parent);
  if (parent === undefined || among?.scope !== "phases") return [];
  const before = among.children.slice(0, among.children.indexOf(phase.node));
  return before.map((node) => ({ path: childPath(parent, node.name), node }));
}

function addressed(node: StepDefinition): readonly string[] {
  const { addresses } = node as unknown as JsonObject;
  return typeof addresses === "string" ? [addresses] : [];
}

function hashInput(choice: Choice, work: JsonObject, uses: readonly string[]): string {
  const parts = [canonicalJson(work)];
  for (const path of uses) {
    const output = choice.state.outputs.get(path);
    if (output === undefined) continue;
    parts.push("inline" in output.value ? canonicalJson(output.value.inline) : output.value.blob.digest);
  }
  return sha256Hex(parts.join("\n"));
}
