/**
 * One task in which every rule of Atlas and Apollo acts: all bands, several added specialists and a question, a halt, claims
 * that are lowered and flagged, the best iteration kept, an early stop, a restart, going on without, a roll-back with an
 * external step before it. What its steps do follows from where they stand, so crashes change nothing.
 */
import type { JsonValue } from "../../src/base/json.js";
import type { PhaseScope, WorkflowDefinition } from "../../src/definition/model/workflow.js";
import type { StepOutcome } from "../../src/engine/model/ports.js";
import type { QuestionEntry, StepEntry, TaskState } from "../../src/engine/model/state.js";
import { done, EngineHarness, failed } from "./engine-harness.js";
import { BANDS, command, model, phase, phases, scorer, workflow } from "./workflow-builder.js";

type PhaseOptions = Partial<Pick<PhaseScope, "confidence" | "evaluate" | "restart">>;
const at = (minimum: number): PhaseOptions => ({ confidence: { minimum, bands: BANDS, spawnMax: 2 } });
const restart = (otherwise: PhaseScope["restart"]["otherwise"]): PhaseOptions => ({
  restart: { maxAttempts: 1, otherwise },
});
const evaluate = (approve: number, weights: Readonly<Record<string, number>>): PhaseOptions => ({
  evaluate: {
    approve,
    reject: 50,
    maxIterations: 5,
    weights,
    scorers: Object.keys(weights).map((name) => scorer(name)),
  },
});

export function createEventfulWorkflow(): WorkflowDefinition {
  const draft = model("draft", { criticality: "critical", saveAs: { "draft.md": "text" }, prompt: "{{ feedback }}" });
  return workflow(
    phases("main", [
      phase(1, "gather", [model("unsure"), model("vague"), model("shaky")], restart("fail")),
      phase(2, "improve", [draft, model("boast"), model("lost")], {
        ...at(0.55),
        ...evaluate(90, { quality: 0.5, speed: 0.5 }),
        ...restart("continue"),
      }),
      phase(
        3,
        "polish",
        [model("author", { input: { draft: "{{ draft.output.pass }}" } })],
        evaluate(98, { finish: 1 }),
      ),
      phase(4, "deliver", [command("pay"), model("fragile", { dependsOn: ["pay"] })], restart("rollback")),
      phase(5, "doubt", [model("lost-in-fog")]),
      phase(6, "narrow", [model("thin"), model("steady")]),
    ]),
  );
}

const CONFIDENCE: Readonly<Record<string, number>> = {
  unsure: 0.6,
  vague: 0.6,
  shaky: 0.62,
  draft: 0.95,
  boast: 0.6,
  "lost-in-fog": 0.3,
  thin: 0.6,
  "thin-more": 0.8,
  steady: 0.8,
};
const SCORES: Readonly<Record<string, readonly number[]>> = {
  quality: [60, 75, 70, 60],
  speed: [60, 95, 90, 60],
  finish: [96],
};

/** What a step comes to. */
export function performEventfully(step: StepEntry): StepOutcome {
  const { name, visit, round, restarts } = step;
  if (step.kind === "scorer") {
    const score = SCORES[name]?.[visit - 1] ?? 0;
    return done({ score, feedback: `${name} of ${visit}`, issues: [] });
  }
  if (name === "shaky" && restarts === 0) return failed("shaky at first");
  if (name === "lost") return failed("never found");
  if (name === "fragile" && round === 1) return failed("fragile");
  const uncertainties = name === "unsure" || name === "vague" || name === "thin" ? [`what ${name} means`] : [];
  const output: JsonValue = { pass: visit, text: `${name} ${visit}` };
  return done(output, { confidence: CONFIDENCE[name] ?? 0.9, uncertainties });
}

/** What a person says: low confidence proceeds, what was done before a roll-back is kept, an unknown outcome runs again. */
function answerEventfully({ kind }: QuestionEntry): string {
  if (kind === "low_confidence") return "proceed";
  return kind === "repeat_step" ? "done" : "rerun";
}

/** Runs to the end, answering whatever is asked. */
export function settleEventfully(harness: EngineHarness): EngineHarness {
  for (let owner = 0; owner < 20; owner += 1) {
    harness.finish();
    if (harness.openQuestions.length === 0) return harness;
    harness.resume({ byPerson: false, crashed: true, by: "resume" });
    for (const question of harness.openQuestions) harness.answer(question, answerEventfully(question));
  }
  throw new Error("questions without end");
}

interface Story {
  readonly end: JsonValue;
  readonly decisions: readonly string[];
  readonly checkpoints: readonly string[];
  readonly scores: readonly string[];
  readonly files: readonly string[];
  readonly confidences: readonly JsonValue[];
}

/** What the task came to, without answers about steps: a crash in the midst of one asks another question about it. */
export function storyOf(state: TaskState, output: JsonValue): Story {
  const isAboutStep = (question: unknown): boolean =>
    typeof question === "string" && state.questions.get(question as never)?.step !== undefined;
  const decisions = state.decisions
    .filter(({ facts }) => !isAboutStep(facts?.["question"]))
    .map(({ agent, type, description, subject, confidence }) =>
      [agent, type, description, subject ?? "", confidence ?? ""].join(" | "),
    );
  const scores = state.evaluations.flatMap(({ path, iteration, scores: by, score, verdict }) => [
    ...Object.entries(by).map(([dimension, one]) => `${path} ${iteration} ${dimension} ${one.score}`),
    `${path} ${iteration} ${score ?? "?"} ${verdict ?? "?"}`,
  ]);
  return {
    end: [state.task?.status ?? "", state.round, output],
    decisions: decisions.sort(),
    checkpoints: state.checkpoints
      .filter(({ trigger, metadata }) => trigger !== "shutdown" && !isAboutStep(metadata?.["question"]))
      .map(({ trigger, phase: number, metadata }) => {
        const { memory_bytes: _memory, question, ...rest } = metadata ?? {};
        return [trigger, number, JSON.stringify(rest), question === undefined ? "" : "question"].join(" | ");
      })
      .sort(),
    scores: scores.sort(),
    files: [...state.deliverables.values()].map(({ file, sha256 }) => `${file} ${sha256}`).sort(),
    confidences: [...state.phases.values()].map(({ name, confidence, rollbacks }) => [
      name,
      confidence ?? null,
      rollbacks ?? 0,
    ]),
  };
}
