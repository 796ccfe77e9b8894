/**
 * Checks names and order of a built definition: duplicates, unknown targets, cycles, steps that nothing leads to.
 *
 * D6: what passes here can be run to its end: every route, dependency and entry names a sibling, every child of a
 * machine can be reached, no dependency goes in a circle.
 */
import type { FaultPath, FaultSink } from "../faults/fault.js";
import { findCycle, findReachable } from "./graph.js";
import { findNearest } from "../faults/nearest.js";
import { listTargets } from "./targets.js";
import type {
  DagScope,
  ForEachScope,
  MachineScope,
  NodeDefinition,
  ParallelScope,
  PhaseScope,
  PhasesScope,
  ScopeDefinition,
  WorkflowScope,
} from "../model/workflow.js";

export interface CheckContext {
  readonly faults: FaultSink;
  readonly places: ReadonlyMap<NodeDefinition, FaultPath>;
  readonly absent: ReadonlySet<string>;
  /** False while other faults may be the reason that something seems unreachable. */
  readonly isComplete: boolean;
}

const END = "$end";

/** Checks a scope and everything below it. */
export function checkOrder(scope: ScopeDefinition, context: CheckContext): void {
  // A nested workflow is checked as the file that it is.
  if (scope.scope === "workflow") return;
  checkNames(scope, context);
  refuseTermination(scope, context);
  checkJoints(scope, context);
  if (scope.scope !== "machine") for (const child of scope.children) refuseRoutes(child, scope, context);
  for (const child of scope.children) if (child.node === "scope") checkOrder(child, context);
}

/** What joins the children of a scope: routes, dependencies, or nothing. */
function checkJoints(scope: Exclude<ScopeDefinition, WorkflowScope>, context: CheckContext): void {
  switch (scope.scope) {
    case "machine":
      checkMachine(scope, context);
      break;
    case "dag":
    case "phase":
      checkDependencies(scope, context);
      break;
    case "parallel":
    case "for_each":
    case "phases":
      for (const child of scope.children) refuseDependencies(child, scope, context);
  }
}

function placeOf(node: NodeDefinition, context: CheckContext, ...rest: (string | number)[]): FaultPath {
  return [...(context.places.get(node) ?? []), ...rest];
}

function checkNames(scope: ScopeDefinition, context: CheckContext): void {
  const seen = new Map<string, NodeDefinition>();
  const children: readonly NodeDefinition[] =
    scope.scope === "phase" && scope.spawn !== undefined ? [...scope.children, scope.spawn] : scope.children;
  for (const child of children) {
    if (child.name === "") {
      context.faults.add({
        code: "missing_key",
        path: placeOf(child, context),
        message: "a step has no name",
        suggestion: "add name",
      });
    } else if (seen.has(child.name)) {
      context.faults.add({
        code: "order",
        path: placeOf(child, context, "name"),
        message: `two steps have the name ${child.name}`,
        suggestion: "names are unique among siblings",
      });
    }
    seen.set(child.name, child);
  }
}

function suggestName(name: string, known: readonly string[]): { suggestion?: string } {
  const nearest = findNearest(name, known);
  if (nearest !== undefined) return { suggestion: `did you mean ${nearest}?` };
  return known.length === 0
    ? {}
    : { suggestion: `known: ${known.slice(0, 12).join(", ")}${known.length > 12 ? ", …" : ""}` };
}

function checkMachine(scope: MachineScope, context: CheckContext): void {
  const names = scope.children.map((child) => child.name);
  const at = context.places.get(scope);
  if (!names.includes(scope.entry) && scope.children.length > 0 && !context.absent.has(scope.entry)) {
    const path = at === undefined ? ["workflow", "entry_point"] : [...at, "entry_point"];
    context.faults.add({
      code: "unknown_name",
      path,
      message: `the entry point ${scope.entry} does not exist`,
      ...suggestName(scope.entry, names),
    });
  }
  const targets = new Set([...names, END]);
  for (const child of scope.children) checkRoutes(child, targets, context);
  for (const child of scope.children) {
    if (child.dependsOn.length === 0) continue;
    context.faults.add({
      code: "misplaced_key",
      path: placeOf(child, context, "depends_on"),
      message: "depends_on has no meaning among steps joined by routes",
      suggestion: "write routes, or list the steps under steps",
      atKey: true,
    });
  }
  if (context.isComplete) checkReachable(scope, names, context);
}

function checkRoutes(child: NodeDefinition, targets: ReadonlySet<string>, context: CheckContext): void {
  for (const { to, at } of listTargets(child)) {
    if (targets.has(to) || context.absent.has(to) || context.faults.isFull) continue;
    const suggestion = to === "self" ? { suggestion: `write ${child.name}` } : suggestName(to, [...targets]);
    context.faults.add({
      code: "unknown_name",
      path: placeOf(child, context, ...at),
      message: `there is no step ${to} to go to`,
      ...suggestion,
    });
  }
  child.routes.forEach((route, index) => {
    const isLast = index === child.routes.length - 1;
    if (route.when === undefined && !isLast) {
      context.faults.add({
        code: "order",
        path: placeOf(child, context, "routes", index),
        message: "a route without when always matches, so those after it never do",
        suggestion: "move it to the end",
      });
    }
  });
  checkChoices(child, context);
}

/** Where some choices say where they lead, all must. */
function checkChoices(child: NodeDefinition, context: CheckContext): void {
  if (child.node !== "step" || child.kind !== "human_gate" || child.routes.length > 0) return;
  const isSomeRouted = child.options.some(({ route }) => route !== undefined);
  child.options.forEach(({ value, route }, index) => {
    if (route !== undefined || !isSomeRouted) return;
    context.faults.add({
      code: "order",
      path: placeOf(child, context, "options", index),
      message: `nothing says where ${value} leads`,
      suggestion: "add route: NAME, or route: $end",
    });
  });
}

/** Only the steps of the workflow itself can end it: a group beside others cannot. */
function refuseTermination(scope: ScopeDefinition, context: CheckContext): void {
  if (scope.scope === "machine" && !scope.path.includes("/")) return;
  for (const child of scope.children) {
    if (child.node !== "step" || child.kind !== "terminate") continue;
    context.faults.add({
      code: "order",
      path: placeOf(child, context),
      message: `${child.name} cannot end the workflow from inside a group`,
      suggestion: "put it among the agents of the workflow and route to it",
    });
  }
}

/** Targets of each child, the end left out. */
export function routeEdges(scope: MachineScope): Map<string, readonly string[]> {
  return new Map(
    scope.children.map((child) => [
      child.name,
      listTargets(child)
        .map(({ to }) => to)
        .filter((name) => name !== END),
    ]),
  );
}

function checkReachable(scope: MachineScope, names: readonly string[], context: CheckContext): void {
  if (!names.includes(scope.entry)) return;
  const reached = findReachable([scope.entry], routeEdges(scope));
  for (const child of scope.children) {
    if (reached.has(child.name)) continue;
    // A file that is being written has such steps; Conductor runs it, too.
    context.faults.warn({
      code: "order",
      path: placeOf(child, context, "name"),
      message: `no route leads to ${child.name}: it never runs`,
      suggestion: `add a route to it, or remove it`,
    });
  }
}

function checkDependencies(scope: DagScope | PhaseScope, context: CheckContext): void {
  const names: readonly string[] = scope.children.map((child) => child.name);
  const known = new Set(names);
  for (const child of scope.children) {
    const at = context.places.get(child);
    child.dependsOn.forEach((name, index) => {
      if ((known.has(name) && name !== child.name) || context.absent.has(name) || context.faults.isFull) return;
      const message =
        name === child.name ? `${name} depends on itself` : `${child.name} depends on ${name}, which is not there`;
      const others = names.filter((one) => one !== child.name);
      context.faults.add({
        code: "order",
        path: [...(at ?? []), "depends_on", index],
        message,
        ...(name === child.name ? { suggestion: "remove it" } : suggestName(name, others)),
      });
    });
  }
  const edges = new Map(
    scope.children.map((child) => [child.name, child.dependsOn.filter((name) => name !== child.name)]),
  );
  const cycle = findCycle(names, edges);
  if (cycle === undefined) return;
  const first = scope.children.find((child) => child.name === cycle[0]);
  context.faults.add({
    code: "order",
    path: first === undefined ? [] : placeOf(first, context, "depends_on"),
    message: `the dependencies go in a circle: ${cycle.join(" → ")}`,
    suggestion: "remove one of them",
  });
}

function refuseDependencies(
  child: NodeDefinition,
  scope: ParallelScope | PhasesScope | ForEachScope,
  context: CheckContext,
): void {
  if (child.dependsOn.length === 0) return;
  const why = scope.scope === "phases" ? "phases run in order" : "members of a group run side by side";
  context.faults.add({
    code: "misplaced_key",
    path: placeOf(child, context, "depends_on"),
    message: `depends_on has no meaning here: ${why}`,
    suggestion: "remove it",
    atKey: true,
  });
}

/** Where an answer may lead outside of a machine. */
const SKIP = "$skip";

/** Among agents control goes where a route says; elsewhere order and conditions say what runs. */
function refuseRoutes(child: NodeDefinition, scope: ScopeDefinition, context: CheckContext): void {
  const isOrdered = scope.scope === "dag" || scope.scope === "phase";
  const suggestion = isOrdered
    ? "write depends_on, and when: for what is done on a condition"
    : "write when: for what is done on a condition";
  const seen = new Set<string>();
  for (const { at, to } of listTargets(child)) {
    // One word for all routes of a step, at their key.
    const key = at[0] === "routes" ? ["routes"] : at;
    if (at[0] === "options" || at[0] === "abort_route") {
      checkAnswerRoute(child, { to, at, isOrdered }, context);
      continue;
    }
    const name = String(key.at(-1));
    if (seen.has(name)) continue;
    seen.add(name);
    context.faults.add({
      code: "misplaced_key",
      path: placeOf(child, context, ...key),
      message: `${name} ${name === "routes" ? "have" : "has"} a meaning only among agents`,
      suggestion: name === "routes" ? suggestion : ON_FAILURE,
      atKey: true,
    });
  }
}

const ON_FAILURE = "write depends_on: [{step: NAME, on: [failed]}] in the step that deals with the failure";

interface AnswerRoute {
  readonly to: string;
  readonly at: FaultPath;
  readonly isOrdered: boolean;
}

/** An answer ends the workflow, or skips what depends on it; which step runs after it, the steps say themselves. */
function checkAnswerRoute(child: NodeDefinition, { to, at, isOrdered }: AnswerRoute, context: CheckContext): void {
  if (to === END || (to === SKIP && isOrdered)) return;
  const skip = isOrdered ? ", $skip (what depends on the gate is skipped)" : "";
  const condition = `when: ${child.name}.output.selected == '…' in the steps that follow`;
  context.faults.add({
    code: "misplaced_key",
    path: placeOf(child, context, ...at),
    message: `an answer leads to a step only among agents, and ${to} is one`,
    suggestion: `write $end (the workflow ends)${skip}, or ${condition}`,
    atKey: true,
  });
}
