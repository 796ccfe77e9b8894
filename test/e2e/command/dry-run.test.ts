/** `run --dry-run` prints the plan and makes nothing. */
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { DryRunView } from "../../../src/runtime/views/face-views.js";
import { openPlace } from "../../support/command-place.js";
import { expectView } from "../../support/view-schemas.js";

const FLOW = `workflow: {name: plan, input: {topic: {type: string}}, limits: {max_calls: 5}}
steps:
  - {name: draft, prompt: "Write of {{ workflow.input.topic }}", provider: copilot, model: big}
  - {name: send, command: [node, send.mjs], depends_on: [draft]}
`;

describe("run --dry-run", () => {
  it("prints steps, effects, providers after the map and limits, and makes nothing", async () => {
    const place = openPlace();
    const file = place.write("flow.yaml", FLOW);
    place.write("splashdown.config.yaml", "provider_map: {copilot: {provider: openai, model: small}}\n");
    const before = readdirSync(place.folder).sort();
    const { stdout, code: exitCode } = await place.run(["run", file, "--dry-run", "--input", "topic=seas"]);
    expect(exitCode).toBe(0);
    expect(stdout.split("\n")).toEqual([
      "plan: 2 steps would run, in this order unless a route chooses another; nothing was started",
      "   1  main/draft  model by openai small",
      "   2  main/send  command, effects: external, after draft",
      'inputs: topic "seas"',
      "limits: iterations 100000, calls 5",
      "",
    ]);
    const view = (await place.run(["run", file, "--dry-run", "--json", "--input", "topic=seas"])).json<object>();
    expectView("dry-run", view);
    expect(view).toMatchObject({ dry_run: true, workflow: "plan", inputs: { topic: "seas" }, gates: [] });
    expect(readdirSync(place.folder).sort()).toEqual(before);
  });

  it("of a goal prints what would be asked, of whom, and the bounds of the plan", async () => {
    const place = openPlace();
    place.write("splashdown.config.yaml", "provider_map: {openai: {provider: ollama, model: qwen}}\n");
    const goal = [
      "run",
      "--goal",
      "A report on rockets",
      "--approve-plan",
      "--budget-usd",
      "2",
      "--provider",
      "openai",
    ];
    const { json, code } = await place.run([...goal, "--dry-run", "--json"]);
    expect(code).toBe(0);
    const view = json<DryRunView>();
    expectView("dry-run", view);
    expect(view.goal).toEqual({
      text: "A report on rockets",
      planner: { provider: "ollama", model: "qwen" },
      specialists: { provider: "ollama", model: "qwen" },
      max_phases: 6,
      max_specialists: 16,
      approve: true,
      replan: false,
    });
    expect(view.text.split("\n")).toEqual([
      "a-report-on-rockets: 2 steps would run, in this order unless a route chooses another; nothing was started",
      "goal: A report on rockets",
      "  planned by ollama qwen: at most 6 phases and 16 specialists in all, by ollama qwen",
      "  a person agrees to the plan before it is followed; it stays to the end",
      "  what follows from a phase is chosen by the rules",
      "   1  main/$plan  model by ollama qwen",
      "   2  main/$consolidate  model by ollama qwen",
      "limits: iterations 100000, usd 2",
    ]);
    expect(readdirSync(place.folder)).not.toContain("outputs");
  });

  it("prints what evaluation, low confidence and hooks add, and when", async () => {
    const place = openPlace();
    const phases = place.write(
      "phases.yaml",
      `workflow: {name: p, hooks: {on_start: {command: [x]}, on_error: {command: [y]}}}
phases:
  - name: one
    specialists: [{name: a, value: 1}]
    spawn: {name: more, value: 2}
    evaluate: {scorers: [{dimension: quality, expression: "100"}]}
`,
    );
    const shown = (await place.run(["run", phases, "--dry-run", "--json"])).json<DryRunView>();
    expectView("dry-run", shown);
    expect(shown.steps.map(({ step, when }) => [step, when])).toEqual([
      ["main/$hooks/on_start", undefined],
      ["main/one/a", undefined],
      ["main/one/$evaluate/quality", undefined],
      ["main/one/more", "if confidence is low"],
      ["main/$hooks/on_error", "if a failure stops it"],
    ]);
    expect(shown.text).toContain("p: 3 steps would run");
    expect(shown.text).toContain("main/one/more  set, if confidence is low");
  });

  it("refuses a file that is not UTF-8, and one it includes", async () => {
    const place = openPlace();
    const file = place.write("flow.yaml", "workflow: {name: t}\nsteps: [{name: a, value: !file text.md}]\n");
    writeFileSync(join(place.folder, "text.md"), Buffer.from([0x61, 0xff, 0xfe]));
    expect(await place.run(["validate", file])).toMatchObject({ code: 2 });
    writeFileSync(file, Buffer.from([0x77, 0xc3, 0x28]));
    const { stderr, stdout, code } = await place.run(["validate", file]);
    expect(code).toBe(2);
    expect(stdout + stderr).toContain("is not UTF-8; save it in that encoding");
  });

  it("refuses what a run would refuse", async () => {
    const place = openPlace();
    const file = place.write("flow.yaml", FLOW);
    const { stderr, code: exitCode } = await place.run(["run", file, "--dry-run"]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain("the input topic (string) is missing");
  });
});
