/** Builds scopes: phases in order, steps with depends_on, agents with routes, groups side by side; nested as written. */
import type { ForEachGroup, ParallelGroup, Phase, Step } from "../../schema/generated/workflow.js";
import type { NodeSite } from "../kinds/build-context.js";
import { MAX_CONCURRENT } from "../model/defaults.js";
import { findNearest } from "../faults/nearest.js";
import { buildNested } from "./nested-builder.js";
import { buildPhase, placeSpecialists } from "./phase-builder.js";
import { omitUndefined } from "../kinds/step-fields.js";
import { buildJoints, buildRoutes, buildStep } from "./step-builder.js";
import { findKind, isGroupKind, type GroupKind } from "./step-kinds.js";
import type {
  DagScope,
  ForEachScope,
  MachineScope,
  NodeDefinition,
  ParallelScope,
  PhasesScope,
  ScopeDefinition,
} from "../model/workflow.js";
import type { TemplateValue } from "../model/values.js";
import type { ScopeFrame } from "./scope-frame.js";

/** The frame of a root or of a nested group. */
export function frameOf(
  step: Pick<Step, "name" | "description" | "depends_on" | "when" | "routes" | "on_error">,
  path: string,
): ScopeFrame {
  return {
    node: "scope",
    name: step.name ?? "",
    path,
    ...(step.description === undefined ? {} : { description: step.description }),
    ...buildJoints(step),
    routes: buildRoutes(step.routes),
    ...(step.on_error === undefined ? {} : { onError: step.on_error }),
  };
}

/** Builds a step or a nested group; `undefined` with a fault when it cannot run here. */
export function buildNode(step: Step, site: NodeSite): NodeDefinition | undefined {
  const kind = findKind({ step, path: site.at, isRouted: site.isRouted, faults: site.context.faults });
  if (kind === undefined) {
    if (step.name !== undefined) site.context.absent.add(step.name);
    return undefined;
  }
  return isGroupKind(kind) ? buildGroup(step, kind, site) : buildStep(step, kind, site);
}

function buildGroup(step: Step, kind: GroupKind, site: NodeSite): ScopeDefinition | undefined {
  const built = buildScope(step, kind, site);
  if (built !== undefined) site.context.places.set(built, site.at);
  else if (step.name !== undefined) site.context.absent.add(step.name);
  return built;
}

function buildScope(step: Step, kind: GroupKind, site: NodeSite): ScopeDefinition | undefined {
  const frame = frameOf(step, `${site.parent}/${step.name ?? ""}`);
  const size = sizeOf(step);
  const inner = (key: string, isRouted = false): NodeSite => ({
    at: [...site.at, key],
    parent: frame.path,
    isRouted,
    ...omitUndefined("isSpecialist", site.isSpecialist),
    context: site.context,
  });
  switch (kind) {
    case "phases":
      return buildPhases(step.phases ?? [], frame, inner("phases"));
    case "machine":
      return buildMachine(
        { agents: step.agents ?? [], groups: [], loops: [], entry: step.entry_point },
        frame,
        inner("agents", true),
      );
    case "for_each":
      return buildForEach(step, frame, site);
    case "workflow":
      return buildNested(step, frame, site);
    case "dag":
      return {
        ...frame,
        scope: "dag",
        ...size,
        children: buildAll(step.steps ?? [], inner("steps")),
      } satisfies DagScope;
    default:
      return {
        ...frame,
        scope: "parallel",
        ...size,
        children: buildAll(step.parallel ?? [], inner("parallel")),
      } satisfies ParallelScope;
  }
}

/** A for_each, as a step or as one of Conductor's groups. */
type Loop = Pick<Step, "name" | "for_each" | "as" | "key_by" | "step" | "agent" | "failure_mode" | "max_concurrent"> & {
  readonly source?: string | readonly unknown[];
};

const ITEM_NAME = "item";
/** Names that a loop variable would hide. Source: CONDUCTOR-YAML 1.6. */
const TAKEN = new Set(["workflow", "context", "output", "_index", "_key", "channel", "secrets", "phase", "feedback"]);

/** `undefined` with a fault when it has no body that runs here. */
function buildForEach(loop: Loop, frame: ScopeFrame, site: NodeSite): ForEachScope | undefined {
  checkLoop(loop, frame, site);
  const body = buildBody(loop, frame, site);
  const source = loop.for_each ?? loop.source;
  if (body === undefined || source === undefined) return undefined;
  return {
    ...frame,
    scope: "for_each",
    source: typeof source === "string" ? referenceOf(source) : (source as TemplateValue),
    as: loop.as ?? ITEM_NAME,
    ...omitUndefined("keyBy", loop.key_by),
    ...sizeOf(loop),
    children: [body],
  };
}

function checkLoop(loop: Loop, { name }: ScopeFrame, { at, context: { faults } }: NodeSite): void {
  const { as = ITEM_NAME, step, agent, for_each: own, source } = loop;
  if (step === undefined && agent === undefined)
    faults.add({
      code: "missing_key",
      path: at,
      message: `the for_each ${name} has no step`,
      suggestion: "add step: {…}",
    });
  if (own === undefined && source === undefined)
    faults.add({
      code: "missing_key",
      path: at,
      message: `the for_each ${name} has no source`,
      suggestion: "add source",
    });
  if (step !== undefined && agent !== undefined)
    faults.add({
      code: "conflict",
      path: [...at, "agent"],
      message: "step and agent mean the same",
      suggestion: "keep one",
      atKey: true,
    });
  if (TAKEN.has(as))
    faults.add({
      code: "duplicate_name",
      path: [...at, "as"],
      message: `${as} is taken`,
      suggestion: "call the item otherwise",
    });
}

function buildBody(loop: Loop, { path }: ScopeFrame, site: NodeSite): NodeDefinition | undefined {
  const key = loop.step === undefined ? "agent" : "step";
  const written = loop[key];
  if (written === undefined) return undefined;
  const isRouted = site.isRouted || key === "agent";
  return buildNode(
    { ...written, name: written.name ?? ITEM_NAME },
    { ...site, at: [...site.at, key], parent: path, isRouted },
  );
}

function sizeOf({ failure_mode: mode, max_concurrent: max }: Pick<Step, "failure_mode" | "max_concurrent">) {
  return { failureMode: mode ?? "fail_fast", maxConcurrent: max ?? MAX_CONCURRENT } as const;
}

/** A source without braces is a reference. */
function referenceOf(source: string): string {
  return source.includes("{{") ? source : `{{ ${source.trim()} }}`;
}

/** Builds siblings, those left out that cannot run here. */
export function buildAll(steps: readonly Step[], site: NodeSite): NodeDefinition[] {
  return steps.flatMap((step, index) => buildNode(step, { ...site, at: [...site.at, index] }) ?? []);
}

export function buildPhases(phases: readonly Phase[], frame: ScopeFrame, site: NodeSite): PhasesScope {
  const children = phases.map((phase, index) => {
    const own: NodeSite = { ...site, at: [...site.at, index] };
    const specialists = buildAll(phase.specialists, placeSpecialists(phase, "specialists", own));
    return buildPhase(phase, { number: index + 1, specialists }, own);
  });
  return { ...frame, scope: "phases", children };
}

export interface MachineParts {
  readonly agents: readonly Step[];
  readonly groups: readonly ParallelGroup[];
  readonly loops: readonly ForEachGroup[];
  readonly entry: string | undefined;
}

/**
 * Builds a machine; groups take their members out of the list of agents.
 *
 * Shape: `site.at` is the place of the agents; groups stand beside it under `parallel`.
 */
export function buildMachine(parts: MachineParts, frame: ScopeFrame, site: NodeSite): MachineScope {
  const members = new Set(parts.groups.flatMap((group) => group.agents));
  const children: NodeDefinition[] = [];
  parts.agents.forEach((step, index) => {
    if (step.name !== undefined && members.has(step.name)) return;
    const node = buildNode(step, { ...site, at: [...site.at, index] });
    if (node !== undefined) children.push(node);
  });
  parts.groups.forEach((group, index) => {
    children.push(
      buildParallelGroup(group, parts.agents, { ...site, at: [...site.at.slice(0, -1), "parallel", index] }),
    );
  });
  parts.loops.forEach((loop, index) => {
    const own: NodeSite = { ...site, at: [...site.at.slice(0, -1), "for_each", index] };
    const built = buildForEach(loop, frameOf(loop, `${site.parent}/${loop.name}`), own);
    if (built === undefined) return void site.context.absent.add(loop.name);
    site.context.places.set(built, own.at);
    children.push(built);
  });
  const first = parts.agents[0]?.name ?? children[0]?.name ?? "";
  return { ...frame, scope: "machine", entry: parts.entry ?? first, children };
}

function buildParallelGroup(group: ParallelGroup, agents: readonly Step[], site: NodeSite): ParallelScope {
  const path = `${site.parent}/${group.name}`;
  const agentsAt = [...site.at.slice(0, -2), "agents"];
  const children: NodeDefinition[] = [];
  group.agents.forEach((name, index) => {
    const position = agents.findIndex((agent) => agent.name === name);
    const agent = agents[position];
    if (agent === undefined) return noteUnknownMember(name, agents, { ...site, at: [...site.at, "agents", index] });
    const own: NodeSite = { ...site, at: [...agentsAt, position], parent: path, isRouted: true };
    noteRoutesOfMember(agent, own);
    const node = buildNode(agent, own);
    if (node !== undefined) children.push(node);
  });
  const built: ParallelScope = {
    ...frameOf(group, path),
    scope: "parallel",
    failureMode: group.failure_mode ?? "fail_fast",
    maxConcurrent: group.max_concurrent ?? Math.max(MAX_CONCURRENT, group.agents.length),
    children,
  };
  site.context.places.set(built, site.at);
  return built;
}

function noteUnknownMember(name: string, agents: readonly Step[], site: NodeSite): void {
  const nearest = findNearest(
    name,
    agents.map((agent) => agent.name ?? ""),
  );
  site.context.faults.add({
    code: "unknown_name",
    path: site.at,
    message: `there is no agent ${name}`,
    ...omitUndefined("suggestion", nearest === undefined ? undefined : `did you mean ${nearest}?`),
  });
}

function noteRoutesOfMember(agent: Step, site: NodeSite): void {
  if ((agent.routes ?? []).length === 0) return;
  const message = `${agent.name ?? ""} is a member of a group and has no routes of its own`;
  site.context.faults.add({
    code: "misplaced_key",
    path: [...site.at, "routes"],
    message,
    suggestion: "give the routes to the group",
    atKey: true,
  });
}
