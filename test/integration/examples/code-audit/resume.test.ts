import { describe, expect, it } from "vitest";
import {
  type ControlLine,
  createTree,
  runRaw,
  runWithChannel,
  writeInto,
} from "../../../unit/examples/code-audit/audit-tools.js";

const shared = Array.from({ length: 12 }, (_value, at) => `  shared(call, number${at});`).join("\n");

function createLargeTree(count: number): string {
  const files: Record<string, string> = {};
  for (let at = 0; at < count; at++) {
    const name = String(at).padStart(4, "0");
    files[`d${at % 7}/f${name}.ts`] =
      `// TODO: ${name}\nexport function f${name}(a: number) {\n${shared}\n  return a;\n}\n`;
    files[`d${at % 7}/f${name}.md`] = `# ${name}\n`;
  }
  return createTree(files);
}

const milestonesOf = (lines: readonly ControlLine[]) => lines.filter(({ type }) => type === "milestone");
const resumeAt = (milestone: ControlLine | undefined) => ({
  resume: { milestone: { name: milestone?.name, state: milestone?.state } },
});

describe("resume", () => {
  for (const tool of ["inventory", "secrets", "hotspots"]) {
    it(`S1: ${tool} ends with the same bytes from every milestone`, async () => {
      const folder = createLargeTree(30);
      const request = { inputs: { folder }, input: { folder, milestone_files: 13 } };
      const whole = await runWithChannel(tool, request);
      const milestones = milestonesOf(whole.lines);
      expect(milestones).toHaveLength(4);
      for (const milestone of milestones)
        expect(runRaw(tool, { ...request, ...resumeAt(milestone) })).toBe(whole.stdout);
    });
  }

  for (const tool of ["inventory", "secrets", "hotspots"]) {
    it(`S2: ${tool} does not read again what it had read before the milestone`, async () => {
      const folder = createLargeTree(10);
      const request = { inputs: { folder }, input: { folder, milestone_files: 10 } };
      const whole = await runWithChannel(tool, request);
      const [milestone] = milestonesOf(whole.lines);
      const done = String(milestone?.state?.["position"]);
      writeInto(folder, done, "changed, and not looked at\n");
      expect(runRaw(tool, { ...request, ...resumeAt(milestone) })).toBe(whole.stdout);
      expect(runRaw(tool, request)).not.toBe(whole.stdout);
    });
  }

  it("takes up no milestone of another plan", async () => {
    const folder = createLargeTree(10);
    const request = { inputs: { folder }, input: { folder, milestone_files: 7, first_pass_files: 4 } };
    const { lines } = await runWithChannel("hotspots", request);
    const [milestone] = milestonesOf(lines);
    const feedback = ["hotspots: look at every file (coverage 40 %)"];
    const resumed = JSON.parse(runRaw("hotspots", { ...request, feedback, ...resumeAt(milestone) }));
    expect(resumed.output.coverage).toMatchObject({ eligible: 10, examined: 10 });
  });

  it("begins afresh where the state is too large for a milestone, with the same bytes", async () => {
    const folder = createLargeTree(10);
    const request = { inputs: { folder }, input: { folder, milestone_files: 7 } };
    const { stdout, lines } = await runWithChannel("duplicates", request);
    expect(milestonesOf(lines)).toEqual([]);
    const state = { position: "d0/f0000.ts", plan: "of another program", sums: {} };
    expect(runRaw("duplicates", { ...request, resume: { milestone: { name: "walked", state } } })).toBe(stdout);
  });
});
