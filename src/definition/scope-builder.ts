/** Builds scopes: phases in order, steps with depends_on, agents with routes, groups side by side; nested as written. */
import type { ParallelGroup, Phase, Step } from "../schema/generated/workflow.js";
import type { BuildContext, NodeSite } from "./build-context.js";
import { MAX_CONCURRENT } from "./defaults.js";
import type { FaultPath } from "./fault.js";
import { findNearest } from "./nearest.js";
import { buildPhase } from "./phase-builder.js";
import { buildRoutes, buildStep, listNames } from "./step-builder.js";
import { findKind, type GroupKind } from "./step-kinds.js";
import type {
  DagScope,
  MachineScope,
  NodeDefinition,
  ParallelScope,
  PhasesScope,
  ScopeDefinition,
} from "./workflow.js";

/** What a scope is called and where it goes on. */
export type ScopeFrame = Pick<
  MachineScope,
  "node" | "name" | "path" | "description" | "dependsOn" | "routes" | "onError"
>;

/** The frame of a root or of a nested group. */
export function frameOf(
  step: Pick<Step, "name" | "description" | "depends_on" | "routes" | "on_error">,
  path: string,
): ScopeFrame {
  return {
    node: "scope",
    name: step.name ?? "",
    path,
    ...(step.description === undefined ? {} : { description: step.description }),
    dependsOn: listNames(step.depends_on),
    routes: buildRoutes(step.routes),
    ...(step.on_error === undefined ? {} : { onError: step.on_error }),
  };
}

/** Builds a step or a nested group; `undefined` with a fault when it cannot run here. */
export function buildNode(step: Step, site: NodeSite, context: BuildContext): NodeDefinition | undefined {
  const kind = findKind({ step, path: site.at, isRouted: site.isRouted, faults: context.faults });
  if (kind === undefined) {
    if (step.name !== undefined) context.absent.add(step.name);
    return undefined;
  }
  switch (kind) {
    case "dag":
    case "machine":
    case "parallel":
    case "phases":
      return buildGroup(step, kind, site, context);
    default:
      return buildStep(step, kind, site, context);
  }
}

function buildGroup(step: Step, kind: GroupKind, site: NodeSite, context: BuildContext): ScopeDefinition {
  const built = buildScope(step, kind, site, context);
  context.places.set(built, site.at);
  return built;
}

function buildScope(step: Step, kind: GroupKind, site: NodeSite, context: BuildContext): ScopeDefinition {
  const frame = frameOf(step, `${site.parent}/${step.name ?? ""}`);
  const size = {
    failureMode: step.failure_mode ?? "fail_fast",
    maxConcurrent: step.max_concurrent ?? MAX_CONCURRENT,
  } as const;
  const inner = (key: string, isRouted = false): NodeSite => ({ at: [...site.at, key], parent: frame.path, isRouted });
  switch (kind) {
    case "phases":
      return buildPhases(step.phases ?? [], frame, inner("phases"), context);
    case "machine":
      return buildMachine(
        { agents: step.agents ?? [], groups: [], entry: step.entry_point },
        frame,
        inner("agents", true),
        context,
      );
    case "dag":
      return {
        ...frame,
        scope: "dag",
        ...size,
        children: buildAll(step.steps ?? [], inner("steps"), context),
      } satisfies DagScope;
    default:
      return {
        ...frame,
        scope: "parallel",
        ...size,
        children: buildAll(step.parallel ?? [], inner("parallel"), context),
      } satisfies ParallelScope;
  }
}

/** Builds siblings, those left out that cannot run here. */
export function buildAll(steps: readonly Step[], site: NodeSite, context: BuildContext): NodeDefinition[] {
  return steps.flatMap((step, index) => buildNode(step, { ...site, at: [...site.at, index] }, context) ?? []);
}

export function buildPhases(
  phases: readonly Phase[],
  frame: ScopeFrame,
  site: NodeSite,
  context: BuildContext,
): PhasesScope {
  const children = phases.map((phase, index) =>
    buildPhase(phase, index + 1, { ...site, at: [...site.at, index] }, context),
  );
  return { ...frame, scope: "phases", children };
}

export interface MachineParts {
  readonly agents: readonly Step[];
  readonly groups: readonly ParallelGroup[];
  readonly entry: string | undefined;
}

/**
 * Builds a machine; groups take their members out of the list of agents.
 *
 * Shape: `site.at` is the place of the agents; groups stand beside it under `parallel`.
 */
export function buildMachine(
  parts: MachineParts,
  frame: ScopeFrame,
  site: NodeSite,
  context: BuildContext,
): MachineScope {
  const members = new Set(parts.groups.flatMap((group) => group.agents));
  const children: NodeDefinition[] = [];
  parts.agents.forEach((step, index) => {
    if (step.name !== undefined && members.has(step.name)) return;
    const node = buildNode(step, { ...site, at: [...site.at, index] }, context);
    if (node !== undefined) children.push(node);
  });
  parts.groups.forEach((group, index) => {
    children.push(
      buildParallelGroup(group, parts.agents, { ...site, at: [...site.at.slice(0, -1), "parallel", index] }, context),
    );
  });
  const first = parts.agents[0]?.name ?? children[0]?.name ?? "";
  return { ...frame, scope: "machine", entry: parts.entry ?? first, children };
}

function buildParallelGroup(
  group: ParallelGroup,
  agents: readonly Step[],
  site: NodeSite,
  context: BuildContext,
): ParallelScope {
  const path = `${site.parent}/${group.name}`;
  const agentsAt = [...site.at.slice(0, -2), "agents"];
  const children: NodeDefinition[] = [];
  group.agents.forEach((name, index) => {
    const position = agents.findIndex((agent) => agent.name === name);
    const agent = agents[position];
    if (agent === undefined) noteUnknownMember(name, agents, [...site.at, "agents", index], context);
    else {
      noteRoutesOfMember(agent, [...agentsAt, position], context);
      const node = buildNode(agent, { at: [...agentsAt, position], parent: path, isRouted: true }, context);
      if (node !== undefined) children.push(node);
    }
  });
  const built: ParallelScope = {
    ...frameOf(group, path),
    scope: "parallel",
    failureMode: group.failure_mode ?? "fail_fast",
    maxConcurrent: group.max_concurrent ?? Math.max(MAX_CONCURRENT, group.agents.length),
    children,
  };
  context.places.set(built, site.at);
  return built;
}

function noteUnknownMember(name: string, agents: readonly Step[], at: FaultPath, context: BuildContext): void {
  const nearest = findNearest(
    name,
    agents.map((agent) => agent.name ?? ""),
  );
  context.faults.add({
    path: at,
    message: `there is no agent ${name}`,
    ...(nearest === undefined ? {} : { suggestion: `did you mean ${nearest}?` }),
  });
}

function noteRoutesOfMember(agent: Step, at: FaultPath, context: BuildContext): void {
  if ((agent.routes ?? []).length === 0) return;
  context.faults.add({
    path: [...at, "routes"],
    message: `${agent.name ?? ""} is a member of a group and has no routes of its own`,
    suggestion: "give the routes to the group",
    atKey: true,
  });
}
