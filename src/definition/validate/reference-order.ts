/** Whether the step a template names can have run before the step with the template. */
import type { Edges } from "./graph.js";
import { routeEdges } from "./order-check.js";
import type { TemplateReference } from "../templates/templates.js";
import { ControlFlowGraph } from "./control-flow-graph.js";
import type { MachineScope, NodeDefinition, ScopeDefinition } from "../model/workflow.js";

/** A node with the scopes from the root down to the one around it. */
export interface NodeSite {
  readonly node: NodeDefinition;
  readonly trail: readonly ScopeDefinition[];
}

export interface OrderProblem {
  readonly message: string;
  readonly suggestion: string;
  /** It goes wrong on some ways only: Conductor warns of it. */
  readonly isPassing?: boolean;
}

/** The specialist that a phase adds, which is told more than the others. */
export function isSpawned({ node, trail }: NodeSite): boolean {
  const scope = trail.at(-1);
  return scope?.scope === "phase" && scope.spawn === node;
}

/** Scorers and added specialists come after the phase's specialists. */
function isLate(site: NodeSite): boolean {
  return isSpawned(site) || (site.node.node === "step" && site.node.kind === "scorer");
}

/** Of the nodes of one name the one a template means: the nearest around it, then the first. */
export function pickTarget(candidates: readonly NodeSite[], site: NodeSite | undefined): NodeSite | undefined {
  const shared = (one: NodeSite): number => one.trail.filter((scope, index) => scope === site?.trail[index]).length;
  return [...candidates].sort((left, right) => shared(right) - shared(left))[0];
}

/**
 * Why the target cannot have run, or need not have.
 *
 * Shape: `undefined` when it has run on every way that leads to the site.
 */
export function findOrderProblem(
  target: NodeSite,
  site: NodeSite,
  reference: TemplateReference,
): OrderProblem | undefined {
  const targetTrail: readonly NodeDefinition[] = [...target.trail, target.node];
  const ownTrail: readonly NodeDefinition[] = [...site.trail, site.node];
  const depth = targetTrail.findIndex((node, index) => node !== ownTrail[index]);
  const [scope, theirs, own] = [targetTrail[depth - 1], targetTrail[depth], ownTrail[depth]];
  if (depth < 0 || own === undefined || theirs === undefined || scope?.node !== "scope") return describeSelf(reference);
  return compareSiblings(scope, { theirs, own, isLate: isLate(site) && own === site.node }, reference);
}

/** A step that names itself or a group it stands in has no output yet the first time. */
function describeSelf({ root, certain }: TemplateReference): OrderProblem | undefined {
  if (!certain) return undefined;
  const suggestion = `write {{ ${root} | default(…) }} or ask with is defined`;
  return { message: `${root} has not run yet when it names itself`, suggestion };
}

interface Siblings {
  readonly theirs: NodeDefinition;
  readonly own: NodeDefinition;
  readonly isLate: boolean;
}

function compareSiblings(
  scope: ScopeDefinition,
  siblings: Siblings,
  reference: TemplateReference,
): OrderProblem | undefined {
  const { theirs, own } = siblings;
  switch (scope.scope) {
    case "phases": {
      const order = scope.children.map((child) => child.name);
      if (order.indexOf(theirs.name) < order.indexOf(own.name)) return undefined;
      return { message: `${reference.root} runs in a later phase`, suggestion: "name a step of an earlier phase" };
    }
    case "parallel": {
      const message = `${theirs.name} runs beside ${own.name}, not before it`;
      return { message, suggestion: "members of a group cannot name each other" };
    }
    case "machine":
      return compareOnRoutes(scope, siblings, reference.certain);
    default:
      if (siblings.isLate || own.dependsOn.includes(theirs.name) || isBefore(scope, theirs.name, own.name))
        return undefined;
      return {
        message: `${own.name} does not wait for ${theirs.name}`,
        suggestion: `add depends_on: [${theirs.name}] to ${own.name}`,
      };
  }
}

/** Ways through scopes whose templates are being checked: they are as dear as a scope is large. */
const waysThrough = new WeakMap<ScopeDefinition, ControlFlowGraph>();

function waysOf(scope: ScopeDefinition, listEdges: () => Edges): ControlFlowGraph {
  const known = waysThrough.get(scope);
  if (known !== undefined) return known;
  const ways = new ControlFlowGraph(listEdges());
  waysThrough.set(scope, ways);
  return ways;
}

function isBefore(scope: ScopeDefinition, first: string, second: string): boolean {
  const ways = waysOf(scope, () => new Map(scope.children.map((child) => [child.name, child.dependsOn])));
  return ways.reaches(second, first);
}

function compareOnRoutes(scope: MachineScope, siblings: Siblings, isCertain: boolean): OrderProblem | undefined {
  const [theirs, own] = [siblings.theirs.name, siblings.own.name];
  const ways = waysOf(scope, () => routeEdges(scope));
  if (!ways.reaches(theirs, own)) {
    return { message: `${theirs} can never have run before ${own}`, suggestion: "name a step on the way to it" };
  }
  if (!isCertain || ways.dominates(theirs, own, scope.entry)) return undefined;
  return {
    message: `${theirs} may not have run before ${own}: there is a way past it`,
    suggestion: `write {{ ${theirs}.output | default('') }} or ask {% if ${theirs} is defined %}`,
    isPassing: true,
  };
}
