import { spawn } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  type ControlLine,
  createTree,
  EXAMPLE,
  type Json,
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
  for (const tool of ["inventory", "secrets", "hotspots", "duplicates"]) {
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

  it("L1: duplicates goes on from its spool after a kill, and starts afresh without it", async () => {
    const folder = createLargeTree(200);
    const request = { inputs: { folder }, input: { folder, milestone_files: 1 } };
    const milestone = await killAtMilestone(request, 120);
    const spool = (milestone.state as Json).sums.spool;
    onTestFinished(() => rmSync(dirname(spool.file), { recursive: true, force: true }));
    const undisturbed = runRaw("duplicates", request);
    expect(spool.files).toBeGreaterThan(0);
    expect(existsSync(spool.file)).toBe(true);
    writeInto(folder, "d0/f0000.ts", "changed();\n");
    expect(runRaw("duplicates", { ...request, ...resumeAt(milestone) })).toBe(undisturbed);
    expect(existsSync(dirname(spool.file))).toBe(false);
    writeInto(folder, "d0/f0000.ts", `// TODO: 0000\nexport function f0000(a: number) {\n${shared}\n  return a;\n}\n`);
    expect(runRaw("duplicates", { ...request, ...resumeAt(milestone) })).toBe(undisturbed);
  });
});

/** Kills the tool at a milestone. It cannot have ended: its descriptor 3 is full long before the last file. */
async function killAtMilestone(request: object, wanted: number): Promise<ControlLine> {
  const child = spawn(process.execPath, [join(EXAMPLE, "tools/duplicates.mjs")], {
    stdio: ["pipe", "ignore", "inherit", "pipe"],
  });
  child.stdin?.end(JSON.stringify(request));
  let text = "";
  let seen = 0;
  for await (const part of child.stdio[3] as unknown as AsyncIterable<Uint8Array>) {
    text += Buffer.from(part).toString("utf8");
    const lines = text.split("\n");
    text = lines.pop() ?? "";
    for (const line of lines) {
      const message = JSON.parse(line) as ControlLine;
      if (message.type !== "milestone" || ++seen < wanted) continue;
      child.kill("SIGKILL");
      return message;
    }
  }
  throw new Error("the tool ended before the milestone");
}
