/** Goals as the command meets them, with the scripted model: planned, agreed to, killed on the way. */
import { readdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import type { DryRunView } from "../../../src/runtime/contract.js";
import { openPlace, type CommandPlace } from "../../support/command-place.js";
import { countRecords, killAtRecord } from "../../support/killed-run.js";
import { NO_TERMINAL, TerminalRun } from "../../support/terminal.js";
import { expectView } from "../../support/view-schemas.js";
import { findXmlFault } from "../../support/xml-check.js";

const PLAN = {
  rationale: "two steps are enough",
  phases: [
    {
      name: "research",
      specialists: [
        { name: "prices", prompt: "Find the prices." },
        { name: "makers", prompt: "Find the makers.", depends_on: ["prices"] },
      ],
    },
    { name: "write", specialists: [{ name: "author", prompt: "Write it." }], evaluate: { criteria: "clear" } },
  ],
};
const ANSWERS = {
  $plan: [{ say: PLAN }],
  $consolidate: [{ say: "The whole report." }],
  author: [{ say: "A report.", confidence: 0.92 }],
  quality: [{ say: { score: 93, evidence: "it is clear" } }],
  "*": [{ say: "Some words.", confidence: 0.9 }],
};

function open(answers: object = ANSWERS): CommandPlace {
  const place = openPlace();
  place.write(
    "splashdown.config.yaml",
    stringify({ provider_map: { default: "scripted" }, scripted_answers: answers }),
  );
  return place;
}

/** Names and bytes of what lies in the final folder. */
function finalFilesOf(place: CommandPlace): Record<string, string> {
  const names = readdirSync(`${place.folder}/outputs/g/final`);
  return Object.fromEntries(names.map((name) => [name, place.read(`outputs/g/final/${name}`)]));
}

const RUN = ["run", "--goal", "A report on rockets", "--task", "g"];

/** Records between two kills. All of them: SPLASHDOWN_GOAL_KILL_STEP=1. */
const STEP = Number(process.env["SPLASHDOWN_GOAL_KILL_STEP"] ?? 30);

/** The second plan is another one for what is left. */
const AGREED = {
  ...ANSWERS,
  $plan: [{ say: PLAN }, { say: { rationale: "shorter", phases: [{ ...PLAN.phases[1], name: "tell" }] } }],
};

/** Runs, follows each plan and goes on until the task is done; killed once, where the journal has so many records. */
async function reachEnd(place: CommandPlace, killAt?: number): Promise<void> {
  let point = killAt;
  const once = async (args: readonly string[]): Promise<number | null> => {
    if (point === undefined) return (await place.run(args)).code;
    const { signal, code } = await killAtRecord(place.start(args), { place, task: "g", point });
    if (signal !== null) point = undefined;
    return code;
  };
  let code = await once([...RUN, "--approve-plan", "--replan"]);
  for (let left = 8; code !== 0 && left > 0; left -= 1) {
    // A kill may have come after the answer, and before the task went on.
    if (code === 20) await once(["answer", "g", "follow"]);
    code = await once(["resume", "g"]);
  }
  expect(code).toBe(0);
}

/** How often it was planned, asked and agreed. */
async function plansOf(place: CommandPlace): Promise<Record<string, number>> {
  const { json } = await place.run(["events", "g", "--json"]);
  const events = json<{ type: string; event: { step?: string } }[]>();
  const count = (kind: string, step = ""): number =>
    events.filter(({ type, event }) => type === kind && (event.step ?? "").startsWith(step)).length;
  return {
    plans: count("step_completed", "main/$plan"),
    questions: count("question_opened"),
    answers: count("question_answered"),
    settled: count("plan_settled"),
  };
}

describe("run --goal", () => {
  it("plans, runs, evaluates, merges, and writes a final folder", async () => {
    const place = open();
    const { code, stdout } = await place.run([...RUN, "--json"]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      workflow: "a-report-on-rockets",
      output: { result: "The whole report." },
    });
    const shown = await place.run(["show", "g"]);
    expect(shown.stdout).toContain("atlas: 2 phases: research (prices, makers); write (author)");
    expect(shown.stdout).toContain("because two steps are enough");
    expect(readdirSync(`${place.folder}/outputs/g/final`).sort()).toEqual([
      "confidence-report.md",
      "confidence.svg",
      "consolidated.md",
      "task.svg",
      "workflow-summary.md",
    ]);
    expect(place.read("outputs/g/final/consolidated.md")).toBe("# a-report-on-rockets\n\nThe whole report.\n");
    expect(findXmlFault(place.read("outputs/g/final/confidence.svg"))).toBeUndefined();
    expect(place.read("outputs/g/final/workflow-summary.md")).toContain("| 2 | write | done | 92 % | 93 | 1 |");
  });

  it("shows how sure it is, by phase and specialist", async () => {
    const place = open({ ...ANSWERS, makers: [{ say: "Some.", confidence: 0.95, uncertainties: ["who is new"] }] });
    await place.run(RUN);
    const { stdout } = await place.run(["show", "g", "--confidence"]);
    expect(stdout).toContain("confidence of a-report-on-rockets: 91 %, that of its least sure phase");
    expect(stdout).toMatch(/1 research +█{18}░{2} +91 %  done/);
    expect(stdout).toContain("    ? who is new");
    expect(stdout).toContain("  score 93 in iteration 1 of 1: approve (quality 93)");
    const { json } = await place.run(["--json", "show", "g", "--confidence"]);
    expectView("confidence", json());
  });

  it(
    "killed at any record, in planning, agreeing, replanning and work, is planned and agreed to once",
    { timeout: (480_000 * 20) / STEP },
    async () => {
      const whole = open(AGREED);
      await reachEnd(whole);
      const records = countRecords(whole, "g");
      const planned = await plansOf(whole);
      expect(planned).toEqual({ plans: 2, questions: 2, answers: 2, settled: 2 });
      const slow = Object.fromEntries(
        Object.entries(AGREED).map(([name, answers]) => [name, answers.map((answer) => ({ ...answer, delay_ms: 30 }))]),
      );
      for (let point = Math.min(5, STEP + 1); point < records; point += STEP) {
        const place = open(slow);
        await reachEnd(place, point);
        expect(finalFilesOf(place), `killed at record ${point}`).toEqual(finalFilesOf(whole));
        expect(await plansOf(place), `killed at record ${point}`).toEqual(planned);
      }
    },
  );

  it.skipIf(NO_TERMINAL !== undefined)(
    "killed while a person is asked, at a terminal, keeps the plan and the question; another process answers",
    async () => {
      const place = open();
      const terminal = new TerminalRun(place, ["run", "--goal", "rockets", "--task", "g", "--approve-plan"], {
        rows: 40,
      });
      await terminal.shows("follow it");
      terminal.kill();
      await terminal.done;
      expect((await place.run(["answer", "g", "follow"])).code).toBe(0);
      expect((await place.run(["resume", "g"])).code).toBe(0);
      expect(await plansOf(place)).toEqual({ plans: 1, questions: 1, answers: 1, settled: 1 });
    },
  );

  it("asks before the plan is followed, plans anew with what was said, and goes on from another process", async () => {
    const shorter = { rationale: "as you say", phases: [PLAN.phases[1]] };
    const place = open({ ...ANSWERS, $plan: [{ say: PLAN }, { say: shorter }] });
    const asked = await place.run([...RUN, "--approve-plan"]);
    expect(asked.code).toBe(20);
    expect(asked.stdout).toContain("the plan has 2 phases: research (prices, makers); write (author)");
    expect((await place.run(["answer", "g", "plan:main/$plan@1.1:1", "revise", "only write it"])).code).toBe(0);
    expect((await place.run(["resume", "g"])).stdout).toContain("the plan has 1 phase: write (author)");
    expect((await place.run(["answer", "g", "follow"])).code).toBe(0);
    expect((await place.run(["resume", "g"])).code).toBe(0);
    expect((await place.run(["show", "g"])).stdout).not.toContain("main/research");
  });

  it("mends a plan that cannot be followed, and fails with the reason when it stays wrong", async () => {
    const wrong = {
      rationale: "x",
      phases: [{ name: "p", specialists: [{ name: "a", prompt: "x", command: ["rm", "-rf", "/"] }] }],
    };
    const mended = open({ ...ANSWERS, $plan: [{ say: wrong }, { say: PLAN }] });
    expect((await mended.run(RUN)).code).toBe(0);
    const stays = open({ ...ANSWERS, $plan: [{ say: wrong }] });
    const { code, stdout } = await stays.run(RUN);
    expect(code).toBe(4);
    expect(stdout).toContain("command: is not part of a plan");
  });

  it("has a flag for whoever chooses after a phase and for the bounds of the plan", async () => {
    const place = open({ ...ANSWERS, $atlas: [{ say: { choice: "proceed", rationale: "it is fine" } }] });
    const flags = ["--atlas-mode", "model", "--max-phases", "3", "--max-specialists", "4"];
    const { goal } = (await place.run([...RUN, ...flags, "--dry-run", "--json"])).json<DryRunView>();
    expect(goal).toMatchObject({ atlas: { provider: "scripted" }, max_phases: 3, max_specialists: 4 });
    const chosen = await place.run([...RUN, "--atlas-mode", "model"]);
    expect(chosen.code).toBe(0);
    expect((await place.run(["show", "g"])).stdout).toContain("chosen by a model: it is fine");
  });

  it("needs a goal or a file, and says which flags go with a goal", async () => {
    const place = open();
    expect((await place.run(["run"])).stderr).toContain("give a workflow file or --goal TEXT");
    expect((await place.run(["run", "x.yaml", "--replan"])).stderr).toContain("--replan: with --goal only");
    expect((await place.run([...RUN, "--budget-usd", "much"])).stderr).toContain("--budget-usd must be a number");
  });
});
