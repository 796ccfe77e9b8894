/**
 * One task in which every rule of Atlas and Apollo acts, with real processes, killed at every kind of point: the same
 * decisions, scores and files come of it as of the undisturbed one.
 */
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/base/json.js";
import type { TaskView } from "../../../src/runtime/contract.js";
import { openPlace, type CommandPlace } from "../../support/command-place.js";
import { runKilledAt } from "../../support/killed-run.js";
import { selectCases } from "../../support/tried.js";

const OWNERS_MAX = 30;

/** Everything a step or scorer does: what it says follows from its visit and from the decisions it is told. */
const STEP = `
import { appendFileSync, readFileSync } from "node:fs";
const { step, decisions = [] } = JSON.parse(readFileSync(0, "utf8"));
const [name, ...scores] = process.argv.slice(2);
appendFileSync("ledger", name + " " + step.visit + "\\n");
const decided = (type) => decisions.some((decision) => decision.type === type);
if (name === "lost") process.exit(1);
if (name === "shaky" && !decided("restart_specialist")) process.exit(1);
if (name === "fragile" && !decided("roll_back")) process.exit(1);
const say = (value) => process.stdout.write(JSON.stringify(value));
const CONFIDENCE = { unsure: 0.6, vague: 0.6, shaky: 0.62, draft: 0.95, boast: 0.6, fog: 0.3 };
const uncertainties = name === "unsure" || name === "vague" ? ["what " + name + " means"] : [];
if (scores.length > 0) say({ score: Number(scores[step.visit - 1]), feedback: name + " of " + step.visit });
else say({ output: { pass: step.visit, text: name + " " + step.visit }, confidence: CONFIDENCE[name] ?? 0.9, uncertainties });
`;

const run = (name: string, more: object = {}) => ({
  name,
  command: ["node", "step.mjs", name],
  working_dir: ".",
  effects: "none",
  ...more,
});
const scorer = (dimension: string, ...scores: readonly number[]) => ({
  dimension,
  weight: 0.5,
  command: ["node", "{{ workflow.dir }}/step.mjs", dimension, ...scores.map(String)],
});
/** A scripted model: unsure first, its helper less so. */
const scripted = (name: string) => ({ name, provider: "scripted", prompt: "what does it mean?" });

const WORKFLOW = {
  workflow: {
    name: "eventful",
    runtime: {
      scripted_answers: {
        thin: [{ say: "thin", confidence: 0.6, uncertainties: ["what thin means"] }],
        "thin-more": [{ say: "thicker", confidence: 0.8 }],
      },
    },
  },
  phases: [
    {
      name: "gather",
      specialists: [run("unsure"), run("vague"), run("shaky")],
      restart: { max_attempts: 1 },
      confidence: { spawn_max: 2 },
    },
    {
      name: "improve",
      max_concurrent: 1,
      specialists: [
        run("draft", { criticality: "critical", save_as: { "draft.md": "text" } }),
        run("boast"),
        run("lost"),
      ],
      evaluate: { approve: 90, scorers: [scorer("quality", 60, 75, 70, 60), scorer("speed", 60, 95, 90, 60)] },
      confidence: 0.55,
      restart: { max_attempts: 1, otherwise: "continue" },
    },
    {
      name: "polish",
      specialists: [run("author", { save_as: { "final/report.md": "text" } })],
      evaluate: { approve: 98, scorers: [scorer("finish", 96)] },
    },
    {
      name: "deliver",
      specialists: [run("pay", { effects: "external" }), run("fragile", { depends_on: ["pay"] })],
      restart: { max_attempts: 1, otherwise: "rollback" },
    },
    { name: "doubt", specialists: [run("fog")] },
    { name: "narrow", specialists: [scripted("thin"), run("steady")] },
  ],
  output: { kept: "{{ draft.output.pass }}" },
};

function prepare(): CommandPlace {
  const place = openPlace();
  place.write("step.mjs", STEP);
  place.write("workflow.json", JSON.stringify(WORKFLOW));
  return place;
}

const show = async (place: CommandPlace) => (await place.run(["show", "t", "--json"])).json<TaskView>();

interface Kill {
  /** Which owner is killed: the first runs the task, the others go on after what was asked is answered. */
  readonly owner: number;
  readonly point: string;
  /** Whether each run of the tests has it: in memory the task is cut after every event (engine/cut-anywhere). */
  readonly isUsual?: true;
}

const KILLS: readonly Kill[] = [
  { owner: 0, point: "intent:1" },
  { owner: 0, point: "failure:1" },
  { owner: 0, point: "question:1", isUsual: true },
  { owner: 1, point: "score:3" },
  { owner: 1, point: "decision:4" },
  { owner: 1, point: "done:12" },
  { owner: 1, point: "rolled_back:1", isUsual: true },
  { owner: 2, point: "spawned:1", isUsual: true },
  { owner: 3, point: "scope:2" },
];

async function own(place: CommandPlace, owner: number, kill?: Kill): Promise<number | null> {
  if (owner !== kill?.owner) {
    const args = owner === 0 ? ["run", "workflow.json", "--task", "t"] : ["resume", "t"];
    return (await place.run(args)).code;
  }
  const args = owner === 0 ? ["run", "workflow.json", "t"] : ["resume", "t"];
  const killed = await runKilledAt(place, kill.point, args);
  expect([kill, killed.signal]).toEqual([kill, "SIGKILL"]);
  return null;
}

/** Low confidence proceeds, what was done before a roll-back is kept, an unknown outcome runs again. */
async function answerAll(place: CommandPlace): Promise<void> {
  for (const question of (await show(place)).questions.filter(({ status }) => status === "open")) {
    const answer = { low_confidence: "proceed", repeat_step: "done" }[question.kind] ?? "rerun";
    await place.run(["answer", "t", question.id, answer, "--by", "ann"]);
  }
}

/** Goes on until the task is over. */
async function settle(place: CommandPlace, kill?: Kill): Promise<number | null> {
  for (let owner = 0; owner < OWNERS_MAX; owner += 1) {
    const code = await own(place, owner, kill);
    if (code === 0 || code === 3 || code === 4) return code;
    // What is asked after a kill is asked of the next owner.
    if (code !== null) await answerAll(place);
  }
  throw new Error("the task does not end");
}

/** Without answers about steps: a crash in the midst of one asks another question about it. */
async function tell(place: CommandPlace, code: number | null) {
  const view = await show(place);
  const aboutSteps = new Set(view.questions.filter(({ step }) => step !== undefined).map(({ id }) => id as unknown));
  const decisions = view.decisions
    .filter(({ facts }) => !aboutSteps.has((facts as { question?: unknown } | undefined)?.question))
    .map(({ agent, type, description, confidence }) => JSON.stringify([agent, type, description, confidence]));
  const events = (await place.run(["events", "t", "--json"])).json<{ type: string; event: JsonObject }[]>();
  const scores = events
    .filter(({ type }) => type === "score_recorded" || type === "evaluation_completed")
    .map(({ event: { path, iteration, dimension, score, verdict } }) =>
      JSON.stringify([path, iteration, dimension ?? verdict, score]),
    );
  return {
    code,
    output: view.output,
    rollbacks: events.filter(({ type }) => type === "rolled_back").length,
    decisions: decisions.sort(),
    scores: scores.sort(),
    draft: place.read("outputs/t/phases/phase2/draft.md"),
    report: place.read("outputs/t/final/report.md"),
  };
}

describe("a task in which every rule acts", () => {
  const calm: { story?: Awaited<ReturnType<typeof tell>> } = {};
  async function calmStory() {
    const place = prepare();
    calm.story ??= await tell(place, await settle(place));
    return calm.story;
  }

  it("makes every kind of choice and comes to the end the rules say", async () => {
    const wanted = await calmStory();
    expect(wanted).toMatchObject({ code: 3, rollbacks: 1, output: { kept: 2 }, draft: "draft 2", report: "author 1" });
    const types = new Set(wanted.decisions.map((line) => (JSON.parse(line) as string[]).slice(0, 2).join(" ")));
    for (const type of [
      "atlas spawn_specialists",
      "atlas restart_specialist",
      "atlas go_on_without",
      "atlas proceed_flagged",
      "atlas roll_back",
      "atlas halt",
      "atlas spawn_specialist",
      "apollo iterate",
      "apollo keep_best",
      "apollo approve",
      "person:ann answer",
    ])
      expect(types).toContain(type);
  });

  it.each(selectCases(KILLS, ({ isUsual }) => isUsual === true))(
    "tells the same story when owner $owner is killed at $point",
    async (kill) => {
      const place = prepare();
      expect(await tell(place, await settle(place, kill))).toEqual(await calmStory());
    },
  );

  it("killed between two scorers, scores only the other one again", async () => {
    const place = prepare();
    expect(await own(place, 0)).toBe(20);
    await answerAll(place);
    await own(place, 1, { owner: 1, point: "done:3" });
    const scored = () => place.ledger().filter((line) => /^(quality|speed) 1$/.test(line));
    expect(scored()).toEqual(["quality 1"]);
    await own(place, 2);
    expect(scored()).toEqual(["quality 1", "speed 1"]);
  });
});
