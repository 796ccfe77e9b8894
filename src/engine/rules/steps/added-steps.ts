/**
 * Steps that a step adds while the task runs: they stand beside it, in the group that it is a member of, and start when it
 * has completed.
 *
 * E9: the wish counts as one with the completion, so an attempt that dies adds nothing and none is added twice. A name that
 * is there already is the same step, and is not added again. All texts are data: nothing in them is a template.
 */
import type { JsonObject } from "../../../base/json.js";
import { LIMITS } from "../../../base/limits.js";
import { findNearest } from "../../../definition/faults/nearest.js";
import type { AddedStep } from "../../../definition/compile/added-step.js";
import type { StepDefinition } from "../../../definition/model/step.js";
import type { Choice } from "../../model/choice.js";
import type { StepError } from "../../model/events.js";
import { childPath, definitionToJson, findPlace, findStepDefinition, listAdded } from "../../model/lookup.js";
import type { ScopeEntry, StepEntry } from "../../model/state.js";

/** The definitions to add, those that are there already left out; or why that cannot be. */
export function resolveAdded(
  { state }: Choice,
  step: StepEntry,
  wanted: readonly AddedStep[],
): { readonly steps: readonly AddedStep[] } | { readonly error: StepError } {
  const parent = findPlace(state, step.path)?.parent;
  const scope = parent === undefined ? undefined : state.scopes.get(parent);
  if (scope === undefined || !isHost(scope)) return refuse(step, describeHost(scope));
  const steps: AddedStep[] = [];
  for (const one of wanted) {
    const path = childPath(scope.path, one.name);
    if (findPlace(state, path) !== undefined) continue;
    const definition = "like" in one ? copy(state, step, { scope, ...one }) : { ...one.definition, literal: "all" };
    if (definition === undefined)
      return refuse(step, describeUnknown(one.name, "like" in one ? one.like : "", { state, scope }));
    steps.push({ name: one.name, definition: { ...definition, name: one.name, path } as StepDefinition });
  }
  const count = listAdded(scope).length + steps.length;
  if (count > LIMITS.addedStepsMax)
    return refuse(
      step,
      `would make ${count} added steps in ${scope.path}, and ${LIMITS.addedStepsMax} are allowed; give a long list to a for_each`,
    );
  return { steps };
}

/** A group whose members stand side by side. */
function isHost({ data }: ScopeEntry): boolean {
  return data.scope === "dag" || data.scope === "parallel" || data.scope === "phase";
}

function describeHost(scope: ScopeEntry | undefined): string {
  const where = scope?.data.scope === "for_each" ? "the body of a for_each" : "a step among routes";
  return `stands in ${where}, where nothing can be added; make it a step of a group (steps: […]) in its place`;
}

interface Copied {
  readonly scope: ScopeEntry;
  readonly name: string;
  readonly like: string;
  readonly input: JsonObject;
}

/** Another step of the group, or the step itself, with other input. */
function copy(state: Choice["state"], step: StepEntry, { scope, like, input }: Copied): JsonObject | undefined {
  const node =
    like === step.name ? findStepDefinition(state, step) : findPlace(state, childPath(scope.path, like))?.node;
  if (node?.node !== "step") return undefined;
  const { when: _when, startsOn: _startsOn, ...rest } = node;
  return { ...definitionToJson({ ...rest, dependsOn: [], routes: [] }), input, literal: "input" };
}

function describeUnknown(
  name: string,
  like: string,
  { state, scope }: { readonly state: Choice["state"]; readonly scope: ScopeEntry },
): string {
  const node = findPlace(state, scope.path)?.node;
  const known =
    node?.node === "scope" ? node.children.flatMap((child) => (child.node === "step" ? [child.name] : [])) : [];
  const nearest = findNearest(like, known);
  return `adds ${name} like ${like}, and no step of its group is called so${nearest === undefined ? "" : `; did you mean ${nearest}?`}`;
}

function refuse({ name }: StepEntry, why: string): { readonly error: StepError } {
  const message = `${name} ${why}`;
  return { error: { code: "STEP_FAILED", message, retryable: false, details: { acted: "yes" } } };
}
