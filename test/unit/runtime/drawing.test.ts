import { describe, expect, it } from "vitest";
import { formatDot } from "../../../src/runtime/verbs/reports/dot-text.js";
import type { GraphFrame } from "../../../src/runtime/contract.js";
import { drawWorkflow } from "../../../src/runtime/verbs/reports/drawing.js";
import { collectArrows, formatMermaid } from "../../../src/runtime/verbs/reports/mermaid-text.js";
import { loadText } from "../../support/workflow-files.js";

const draw = async (text: string): Promise<GraphFrame> => drawWorkflow((await loadText(text)).definition);

/** Arrows by the names in their labels: `a -> b [label]`. */
function arrowsByName(root: GraphFrame): string[] {
  const names = new Map<string, string>();
  const collect = (frame: GraphFrame): void => {
    names.set(frame.id, frame.label);
    for (const box of frame.boxes) names.set(box.id, box.label.split("\n")[0] ?? "");
    frame.frames.forEach(collect);
  };
  collect(root);
  return collectArrows(root).map(
    ({ from, to, label, dashed }) =>
      `${names.get(from) ?? "?"} ${dashed === true ? "-.->" : "->"} ${names.get(to) ?? "?"}${label === undefined ? "" : ` [${label}]`}`,
  );
}

const MACHINE = `
workflow: {name: routes, entry_point: check}
agents:
  - name: check
    type: script
    command: "true"
    on_error: mend
    routes:
      - {to: both, when: "{{ check.output.exit_code == 0 }}"}
      - {to: $end}
  - {name: mend, type: set, value: 1, routes: [{to: check}]}
  - {name: left, type: set, value: 1}
  - {name: right, type: set, value: 2}
parallel:
  - {name: both, agents: [left, right], failure_mode: continue_on_error, routes: [{to: $end}]}
`;

const PHASES = `
workflow: {name: report}
phases:
  - name: research
    specialists:
      - {name: a, command: [node, a.mjs], effects: none}
      - {name: b, command: [node, b.mjs], depends_on: [a], risky: true}
    evaluate: {approve: 90, max_iterations: 3, weights: {quality: 1}, scorers: [{dimension: quality, expression: "100"}]}
  - name: write
    specialists: [{name: author, prompt: hello}]
    confidence: {minimum: 0.7}
`;

describe("drawWorkflow", () => {
  it("draws the routes of a machine with their conditions, the way of failure, start and end", async () => {
    const root = await draw(MACHINE);
    expect(arrowsByName(root)).toEqual([
      "start -> check",
      "check -> both, parallel, at most 10 at a time, continue_on_error [{{ check.output.exit_code == 0 }}]",
      "check -> $end",
      "check -.-> mend [on error]",
      "mend -> check",
      "both, parallel, at most 10 at a time, continue_on_error -> $end",
    ]);
    expect(root.label).toBe("routes: main, steps and routes");
    expect(root.frames.map(({ boxes }) => boxes.map(({ label }) => label))).toEqual([["left\nset", "right\nset"]]);
  });

  it("draws a goal: who plans, who agrees, within which bounds, that it is planned again, and who merges", async () => {
    const drawing = await draw(
      "workflow: {name: move}\ngoal: 'Plan {{ 1 + 1 }}\n\n  moves'\nplan: {approve: true, replan: true, max_phases: 3, max_specialists: 5}\n",
    );
    const phases = "planned phases, at most 3 with 5 specialists";
    expect(arrowsByName(drawing)).toEqual([
      "Atlas plans: Plan {{ 1 + 1 }} moves -> a person agrees to the plan?",
      `a person agrees to the plan? -> ${phases}`,
      `${phases} -> results merged into final/`,
      `${phases} -> Atlas plans: Plan {{ 1 + 1 }} moves [between phases]`,
    ]);
    expect(drawing.boxes.map(({ shape }) => shape)).toEqual(["model", "choice", "step", "model"]);
  });

  it("draws the merging of results after the last phase", async () => {
    const drawing = await draw(
      "workflow: {name: t}\nphases: [{name: p, specialists: [{name: a, value: 1}]}]\nconsolidate: true\n",
    );
    expect(arrowsByName(drawing)).toContain("phase 1: p -> results merged into final/");
  });

  it("draws phases in order, dependencies inside, the evaluator with its way back, and Atlas", async () => {
    const root = await draw(PHASES);
    expect(arrowsByName(root)).toEqual([
      "phase 1: research -> phase 2: write",
      "a -> b",
      "b -> Apollo scores quality",
      "Apollo scores quality -> Atlas: confidence at least 75 %? [approve at 90]",
      "Apollo scores quality -> a [again, at most 3 times]",
      "author -> Atlas: confidence at least 70 %?",
    ]);
    expect(root.frames[0]?.boxes[1]?.label).toBe("b\ncommand, effects: external, checkpoint before");
    expect(root.frames[1]?.boxes[0]?.shape).toBe("model");
  });

  it("draws the specialist that may be added, and what its work goes through", async () => {
    const own = "spawn: {name: closer, prompt: look}\n    confidence: {spawn_max: 2}";
    const plain = await draw(
      `workflow: {name: t}\nphases:\n  - name: p\n    specialists: [{name: a, value: 1}]\n    ${own}\n`,
    );
    expect(arrowsByName(plain)).toEqual([
      "a -> Atlas: confidence at least 75 %?",
      "Atlas: confidence at least 75 %? -.-> closer [low confidence: at most 2 more]",
      "closer -> Atlas: confidence at least 75 %?",
    ]);
    const judged = PHASES.replace("    evaluate:", "    spawn: {name: closer, prompt: look}\n    evaluate:");
    expect(arrowsByName(await draw(judged))).toContain("closer -> Apollo scores quality");
    const without = plain.frames[0]?.boxes.length;
    const never = await draw(
      `workflow: {name: t}\nphases:\n  - name: p\n    specialists: [{name: a, value: 1}]\n    ${own.replace("2", "0")}\n`,
    );
    expect(never.frames[0]?.boxes).toHaveLength((without ?? 0) - 1);
  });

  it("draws hooks beside their workflow, with what they tell or do", async () => {
    const hooks =
      'hooks: {on_start: "begins\\nnow", on_complete: {command: [x]}, on_error: {url: "https://example.invalid"}}';
    const root = await draw(`workflow:\n  name: t\n  ${hooks}\nsteps: [{name: a, value: 1}]\n`);
    expect(root.frames.map(({ label, boxes }) => [label, ...boxes.map((box) => box.label)])).toEqual([
      ["hooks", "on_start\ntells: begins now", "on_complete\ncommand, effects: external", "on_error\nhttp"],
    ]);
  });

  it("draws a dag by its dependencies", async () => {
    const root = await draw(`
workflow: {name: dag}
steps:
  - {name: a, type: set, value: 1}
  - {name: b, type: set, value: 1, depends_on: [a]}
  - {name: c, type: set, value: 1, depends_on: [a, b]}
`);
    expect(arrowsByName(root)).toEqual(["a -> b", "a -> c", "b -> c"]);
    expect(root.label).toContain("by dependencies");
  });
});

const HOSTILE: GraphFrame = {
  id: "n1",
  label: `a"]\n--> <b> \\ #quot; end`,
  boxes: [],
  frames: [{ id: "n2", label: "empty", boxes: [], frames: [], arrows: [] }],
  arrows: [{ from: "n2", to: "n2", label: 'x|"y" & z' }],
};

describe("formatMermaid", () => {
  it("opens and closes a subgraph per scope and names each box once", async () => {
    const text = formatMermaid(await draw(PHASES));
    const lines = text.trimEnd().split("\n");
    expect(lines[0]).toBe("flowchart TB");
    expect(lines.filter((line) => /^\s*subgraph /.test(line))).toHaveLength(3);
    expect(lines.filter((line) => /^\s*end$/.test(line))).toHaveLength(3);
    expect(text).toContain('(["author<br/>model"])');
    expect(text).toContain('-->|"approve at 90"|');
  });

  it("lets no label break out of its quotes", () => {
    const lines = formatMermaid(HOSTILE).split("\n");
    expect(lines[1]).toBe(`  subgraph n1["a#34;#93;<br/>--#62; #60;b#62; #92; #35;quot#59; end"]`.replace("#59;", ";"));
    expect(lines.at(-2)).toBe('  n2 -->|"x#124;#34;y#34; #38; z"| n2');
  });
});

describe("formatDot", () => {
  it("ends arrows between scopes at their frames", async () => {
    const text = formatDot(await draw(PHASES));
    expect(text).toMatch(/n\d+ -> n\d+ \[ltail=cluster_n\d+, lhead=cluster_n\d+\];/);
    expect(text.split("{").length).toBe(text.split("}").length);
    expect(formatDot(await draw(MACHINE))).toContain('[label="on error", style=dashed]');
  });

  it("escapes labels and gives an empty scope something to point at", () => {
    const text = formatDot(HOSTILE);
    expect(text).toContain('label="a\\"]\\n--> <b> \\\\ #quot; end"');
    expect(text).toContain("n2_empty [style=invis];");
    expect(text).toContain('n2_empty -> n2_empty [label="x|\\"y\\" & z", ltail=cluster_n2, lhead=cluster_n2];');
  });
});
