/**
 * A workflow as a drawing: boxes inside boxes and arrows between them, without a format. Pure.
 *
 * Owns: what is drawn for each kind of scope. `mermaid-text.ts` and `dot-text.ts` write it down. Ids are short and made
 * here, so that no name of a workflow can break a format; names appear in labels only.
 */
import { unreachable } from "../../../base/errors.js";
import { endsByItself, listTargets } from "../../../definition/validate/targets.js";
import type { JsonValue } from "../../../base/json.js";
import type { ConsolidationRule, PlanRule } from "../../../definition/model/goal-rules.js";
import { HOOK_NAMES, type HooksDefinition } from "../../../definition/model/hooks.js";
import type {
  DagScope,
  MachineScope,
  NodeDefinition,
  PhaseScope,
  PhasesScope,
  ScopeDefinition,
  WorkflowDefinition,
} from "../../../definition/model/workflow.js";
import type { StepDefinition } from "../../../definition/model/step.js";
import type { GraphArrow, GraphBox, GraphFrame, GraphShape } from "../../views/face-views.js";

/** The drawing of a whole workflow; the outermost frame is its root scope. */
export function drawWorkflow(definition: WorkflowDefinition): GraphFrame {
  const pen = new Pen();
  const root = pen.frame(definition.root, definition.hooks);
  return { ...root, label: `${definition.name}: ${root.label}` };
}

/** What a scope puts beside its children. */
interface Extras {
  readonly boxes: readonly GraphBox[];
  readonly arrows: readonly GraphArrow[];
}

class Pen {
  #next = 0;

  frame(scope: ScopeDefinition, hooks = scope.scope === "workflow" ? scope.hooks : undefined): GraphFrame {
    const id = this.#id();
    const ids = new Map<string, string>();
    const boxes: GraphBox[] = [];
    const frames: GraphFrame[] = [];
    for (const child of scope.children as readonly NodeDefinition[]) {
      const drawn = child.node === "step" ? this.#box(child) : this.frame(child);
      ids.set(child.name, drawn.id);
      if ("shape" in drawn) boxes.push(drawn);
      else frames.push(drawn);
    }
    const extras = this.#extras(scope, ids);
    if (hooks !== undefined) frames.push(this.#hooks(hooks));
    return {
      id,
      path: scope.path,
      label: labelOf(scope),
      boxes: [...boxes, ...extras.boxes],
      frames,
      arrows: extras.arrows,
    };
  }

  /** Hooks stand beside the workflow: nothing waits for them. */
  #hooks(hooks: HooksDefinition): GraphFrame {
    const id = this.#id();
    const boxes = HOOK_NAMES.flatMap((name): GraphBox[] => {
      const hook = hooks[name];
      if (hook === undefined) return [];
      const what = "step" in hook ? describeWork(hook.step) : `tells: ${headOf(hook.text)}`;
      return [{ id: this.#id(), label: `${name}\n${what}`, shape: "step" }];
    });
    return { id, label: "hooks", boxes, frames: [], arrows: [] };
  }

  #box(step: StepDefinition): GraphBox {
    return { id: this.#id(), path: step.path, label: labelOfStep(step), shape: shapeOf(step) };
  }

  #extras(scope: ScopeDefinition, ids: ReadonlyMap<string, string>): Extras {
    switch (scope.scope) {
      case "machine":
        return this.#machine(scope, ids);
      case "dag":
        return { boxes: [], arrows: dependencies(scope, ids) };
      case "parallel":
      case "for_each":
      case "workflow":
        return { boxes: [], arrows: [] };
      case "phases":
        return this.#phases(scope, ids);
      case "phase":
        return this.#phase(scope, ids);
      default:
        return unreachable(scope);
    }
  }

  #machine(scope: MachineScope, ids: ReadonlyMap<string, string>): Extras {
    const start: GraphBox = { id: this.#id(), label: "start", shape: "start" };
    const end: GraphBox = { id: this.#id(), label: "$end", shape: "end" };
    const target = (name: string): string => (name === "$end" ? end.id : (ids.get(name) ?? end.id));
    const arrows: GraphArrow[] = [{ from: start.id, to: target(scope.entry) }];
    for (const child of scope.children) {
      const from = target(child.name);
      if (endsByItself(child)) arrows.push({ from, to: end.id });
      for (const { to, label, isFailure } of listTargets(child)) {
        const way = { ...(label === undefined ? {} : { label }), ...(isFailure ? { dashed: true } : {}) };
        arrows.push({ from, to: target(to), ...way });
      }
    }
    return { boxes: [start, end], arrows };
  }

  /** Phases in order; of a goal who plans them and who agrees; then who merges the results. */
  #phases({ children, plan, consolidation }: PhasesScope, ids: ReadonlyMap<string, string>): Extras {
    const before = plan === undefined ? [] : this.#plan(plan);
    const after =
      consolidation === undefined
        ? []
        : [{ id: this.#id(), label: "results merged into final/", shape: shapeOfMerging(consolidation) }];
    const chain = [...before, ...children.map(({ name }) => ({ id: ids.get(name) ?? "" })), ...after];
    const arrows = chain.slice(1).map(({ id }, at): GraphArrow => ({ from: chain[at]?.id ?? "", to: id }));
    if (plan?.replan === true)
      arrows.push({ from: before.at(-1)?.id ?? "", to: before[0]?.id ?? "", label: "between phases" });
    return { boxes: [...before, ...after], arrows };
  }

  #plan({ planner, approve }: PlanRule): readonly GraphBox[] {
    const { phasesMax, specialistsMax } = planner.planner ?? {};
    const box = (label: string, shape: GraphShape): GraphBox => ({ id: this.#id(), label, shape });
    return [
      box(`Atlas plans: ${headOf(planner.prompt)}`, "model"),
      ...(approve ? [box("a person agrees to the plan?", "choice")] : []),
      box(`planned phases, at most ${phasesMax} with ${specialistsMax} specialists`, "step"),
    ];
  }

  /** Specialists, then the evaluator where there is one, then the orchestrator's look at the confidence. */
  #phase(scope: PhaseScope, ids: ReadonlyMap<string, string>): Extras {
    const { evaluate, confidence, orchestrator } = scope;
    const needed = new Set(scope.children.flatMap((child) => child.dependsOn));
    const last = scope.children.filter((child) => !needed.has(child.name)).map((child) => ids.get(child.name) ?? "");
    const chooser = orchestrator === undefined ? "" : `\n${describeWork(orchestrator)}`;
    const atlas: GraphBox = {
      id: this.#id(),
      ...(orchestrator === undefined ? {} : { path: orchestrator.path }),
      label: `Atlas: confidence at least ${percent(confidence.minimum)}?${chooser}`,
      shape: "choice",
    };
    const arrows = dependencies(scope, ids);
    if (evaluate === undefined) {
      const spawn = this.#spawn(scope, atlas, atlas);
      const toAtlas = last.map((from) => ({ from, to: atlas.id }));
      return { boxes: [atlas, ...spawn.boxes], arrows: [...arrows, ...toAtlas, ...spawn.arrows] };
    }
    const apollo: GraphBox = { id: this.#id(), label: labelOfEvaluation(evaluate), shape: "choice" };
    const again = scope.children
      .filter((child) => child.dependsOn.length === 0)
      .map((child) => ids.get(child.name) ?? "");
    const spawn = this.#spawn(scope, atlas, apollo);
    return {
      boxes: [apollo, atlas, ...spawn.boxes],
      arrows: [
        ...arrows,
        ...last.map((from) => ({ from, to: apollo.id })),
        { from: apollo.id, to: atlas.id, label: `approve at ${evaluate.approve}` },
        ...(evaluate.maxIterations > 1
          ? again.map((to) => ({ from: apollo.id, to, label: `again, at most ${evaluate.maxIterations} times` }))
          : []),
        ...spawn.arrows,
      ],
    };
  }

  /** The specialist that the orchestrator may add, and who looks at what it has done. */
  #spawn({ spawn, confidence }: PhaseScope, atlas: GraphBox, judge: GraphBox): Extras {
    if (spawn === undefined || confidence.spawnMax === 0) return { boxes: [], arrows: [] };
    const box = this.#box(spawn);
    const label = `low confidence: at most ${confidence.spawnMax} more`;
    return {
      boxes: [box],
      arrows: [
        { from: atlas.id, to: box.id, label, dashed: true },
        { from: box.id, to: judge.id },
      ],
    };
  }

  #id(): string {
    this.#next += 1;
    return `n${this.#next}`;
  }
}

function shapeOf({ kind }: StepDefinition): GraphShape {
  if (kind === "human_gate" || kind === "questions") return "choice";
  return kind === "model" ? "model" : "step";
}

function dependencies({ children }: DagScope | PhaseScope, ids: ReadonlyMap<string, string>): GraphArrow[] {
  const nodes: readonly NodeDefinition[] = children;
  return nodes.flatMap((child) =>
    child.dependsOn.map((name) => ({ from: ids.get(name) ?? "", to: ids.get(child.name) ?? "" })),
  );
}

function shapeOfMerging({ writer }: ConsolidationRule): GraphShape {
  return writer === undefined ? "step" : "model";
}

const HEAD_CHARS_MAX = 60;

/** One line. */
function headOf(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length <= HEAD_CHARS_MAX ? line : `${line.slice(0, HEAD_CHARS_MAX - 1)}…`;
}

function labelOf(scope: ScopeDefinition): string {
  const name = scope.path === "" ? "" : `${scope.name}, `;
  switch (scope.scope) {
    case "machine":
      return `${name}steps and routes`;
    case "dag":
      return `${name}by dependencies${atMost(scope.maxConcurrent)}`;
    case "parallel":
      return `${name}parallel${atMost(scope.maxConcurrent)}, ${scope.failureMode}`;
    case "for_each":
      return `${name}for each ${scope.as} of ${textOf(scope.source)}${atMost(scope.maxConcurrent)}, ${scope.failureMode}`;
    case "workflow":
      return `${name}workflow ${scope.workflow}`;
    case "phases":
      return `${name}phases in order`;
    case "phase":
      return `phase ${scope.number}: ${scope.name}`;
    default:
      return unreachable(scope);
  }
}

/** A source as it was written: the braces around a reference are ours. */
function textOf(source: JsonValue): string {
  return typeof source === "string" ? source.replace(/^\{\{ (.*) \}\}$/, "$1") : "a list";
}

function atMost(count: number): string {
  return Number.isFinite(count) ? `, at most ${count} at a time` : "";
}

function labelOfStep(step: StepDefinition): string {
  return `${step.name}\n${describeWork(step)}${step.risky ? ", checkpoint before" : ""}`;
}

function describeWork(step: StepDefinition): string {
  const kind = step.kind === "model" && step.model !== undefined ? `model ${step.model}` : step.kind;
  return `${kind}${step.effects === "none" ? "" : `, effects: ${step.effects}`}`;
}

function labelOfEvaluation({ scorers }: NonNullable<PhaseScope["evaluate"]>): string {
  const all = scorers.map((scorer) => scorer.dimension);
  const dimensions = [...new Set(all)].map((name) => {
    const judges = all.filter((one) => one === name).length;
    return judges === 1 ? name : `${name} (${judges} judges)`;
  });
  return `Apollo scores${dimensions.length === 0 ? "" : ` ${dimensions.join(", ")}`}`;
}

function percent(value: number): string {
  return `${Math.round(value * 100)} %`;
}
