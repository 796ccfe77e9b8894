/** Installed agents in the built program: the example, and a session that outlives a kill. */
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { RunView } from "../../../src/runtime/contract.js";
import { PROJECT_FOLDER } from "../../support/built-program.js";
import { CommandPlace } from "../../support/command-place.js";
import { until } from "../../support/real-clock.js";

const EXAMPLE = join(PROJECT_FOLDER, "examples/agent-review");

function openPlace(flow?: string): CommandPlace {
  const place = new CommandPlace();
  for (const file of ["workflow.yaml", "splashdown.config.yaml", "stand-in.mjs"])
    copyFileSync(join(EXAMPLE, file), join(place.folder, file));
  if (flow !== undefined) place.write("flow.yaml", flow);
  return place;
}

interface Called {
  readonly args: readonly string[];
  readonly prompt: string;
}

const callsOf = (place: CommandPlace) => place.ledger("calls").map((line) => JSON.parse(line) as Called);

describe("examples/agent-review", () => {
  it("has two agents review a file, and counts what they tell of tokens and money", async () => {
    const place = openPlace();
    const { code, stdout, stderr } = await place.run([
      "run",
      "workflow.yaml",
      "--task",
      "t",
      "--input",
      "file=a.mjs",
      "--json",
    ]);
    expect(stderr).not.toContain("WORKFLOW_INVALID");
    expect(code).toBe(0);
    const said = "answer to: Review a.mjs. Name the worst fault in one sentence.";
    expect((JSON.parse(stdout) as RunView).output).toEqual({ claude: said, codex: said });
    expect((await place.run(["show", "t", "--json"])).stdout).toContain('"cost_usd": 0.012346');
    const { stdout: confidence } = await place.run(["show", "t", "--confidence"]);
    expect(confidence).toMatch(/1 review .* 83 %/);
    expect(confidence).toContain("knowledge 90 % · information 80 % · implementation 90 % · validation 80 %");
    expect(confidence).toContain("    ? who calls it");
  });
});

describe("an agent that is killed with its program", () => {
  const flow = (effects: string) => `workflow: {name: w}
steps: [{name: work, cli: claude, prompt: "hang until killed", effects: ${effects}, env: {CALLS: calls}}]
`;
  async function kill(place: CommandPlace): Promise<void> {
    const running = place.start(["run", "flow.yaml", "--task", "t"]);
    await until("its session is known", async () =>
      (await place.run(["events", "t", "--json"])).stdout.includes("milestone_reached"),
    );
    running.child.kill("SIGKILL");
    await running.done;
  }

  it("is asked about, as it may have acted; run again it goes on in its session", async () => {
    const place = openPlace(flow("external"));
    await kill(place);
    const asked = await place.run(["run", "flow.yaml", "--task", "t"]);
    expect(asked.code).toBe(22);
    expect(callsOf(place)).toHaveLength(1);
    const again = place.start(["resume", "t", "--unknown", "work=rerun"]);
    await until("it is called again", () => callsOf(place).length === 2);
    again.child.kill("SIGINT");
    await again.done;
    const [, second] = callsOf(place);
    expect(second?.args.join(" ")).toContain("--resume claude-session-1");
    expect(second?.prompt).toContain("You were interrupted");
  });
});

describe("an agent whose answer is judged", () => {
  /** Scored when `go` is there: 60 first, then 95. */
  const score = `echo x >> waiting; [ -e go ] || exec sleep 600; [ $0 = 1 ] && s=60 || s=95; echo "{\\"score\\":$s,\\"feedback\\":\\"name the line\\"}"`;
  const flow = `workflow: {name: w}
phases:
  - name: review
    specialists: [{name: work, cli: claude, prompt: "die once", effects: none, env: {CALLS: calls}, retry: {max_attempts: 2, delay_seconds: 0}}]
    evaluate: {scorers: [{dimension: quality, command: [sh, -c, '${score}', "{{ phase.iteration }}"]}]}
`;

  it("improves it in the same session, over a failure and a kill; a fork begins a session of its own", async () => {
    const place = openPlace(flow);
    const running = place.start(["run", "flow.yaml", "--task", "t"]);
    await until("its first answer is judged", () => place.ledger("waiting").length === 1);
    running.child.kill("SIGKILL");
    await running.done;
    place.write("go", "");
    const { code, stderr } = await place.run(["run", "flow.yaml", "--task", "t"]);
    expect(stderr).not.toContain("WORKFLOW_INVALID");
    expect(code).toBe(0);
    const sessions = () => callsOf(place).map(({ args }) => args[args.indexOf("--resume") + 1]);
    const [first, second] = ["--print", "claude-session-1"];
    expect(sessions()).toEqual([first, second, second]);
    expect(callsOf(place)[2]?.prompt).toContain("name the line");
    expect(callsOf(place)[2]?.prompt).not.toContain("# Task:");
    const list = (await place.run(["checkpoints", "list", "t", "--json"])).json<{ seq: number; trigger: string }[]>();
    const done = list.find(({ trigger }) => trigger === "specialist_finished");
    expect((await place.run(["fork", "t", "--from", String(done?.seq), "--task", "f"])).code).toBe(0);
    expect((await place.run(["resume", "f"])).code).toBe(0);
    expect(sessions()).toEqual([first, second, second, first]);
    expect(callsOf(place)[3]?.prompt).toContain("# Task:");
  });
});
