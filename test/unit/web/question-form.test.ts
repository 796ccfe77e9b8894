import { describe, expect, it } from "vitest";
import type { QuestionView } from "../../../src/runtime/contract.js";
import {
  buildAnswer,
  findFieldFault,
  formatAnswerCommand,
  itemAsked,
  listChoices,
} from "../../../web/model/question-form.js";

const question = (fields: Partial<QuestionView>): QuestionView => ({
  id: "gate:main/look@1.1:1",
  kind: "gate",
  text: "Send this?",
  options: [],
  opened_at: "2026-01-01T00:00:00Z",
  status: "open",
  command: "",
  ...fields,
});

const GATE = question({
  options: [
    { value: "send", label: "Send it", takes_value: false },
    { value: "revise", label: "Anew", takes_value: false, prompt_for: "wish", multiline: true },
  ],
});
const LIMIT = question({
  kind: "limit",
  id: "limit:task:1",
  options: [
    { value: "extend", label: "raise the limit, e.g. max_iterations=10", takes_value: true, prompt_for: "amount" },
    { value: "stop", label: "end the task here", takes_value: false },
  ],
});
const UNKNOWN = question({
  kind: "unknown_outcome",
  options: [
    { value: "rerun", label: "run it again", takes_value: false },
    { value: "done", label: "it has acted", takes_value: true },
  ],
});
const WIZARD = question({
  kind: "questions",
  at: "who",
  options: [
    { value: "answer", label: "answers by id", takes_value: true },
    { value: "skip", label: "go on", takes_value: false },
  ],
  items: [
    { id: "who", text: "Who?", choices: [], allow_free_text: true, required: true, multiline: false, status: "open" },
  ],
});

const answer = (of: QuestionView, at: number, text: string) => {
  const choice = listChoices(of)[at];
  if (choice === undefined) throw new Error("no such choice");
  return buildAnswer(of, choice, text);
};

describe("the form of a question", () => {
  it("has the choices of a gate, with the text that may go with one", () => {
    expect(listChoices(GATE)).toEqual([
      { value: "send", label: "Send it" },
      { value: "revise", label: "Anew", field: { label: "wish", kind: "lines", required: false } },
    ]);
    expect(answer(GATE, 1, "be kinder")).toEqual({ question: GATE.id, answer: "revise", more: "be kinder" });
    expect(answer(GATE, 0, "left over")).toEqual({ question: GATE.id, answer: "send" });
  });

  it("wants an amount for a limit, and begins with the engine's example", () => {
    const [extend] = listChoices(LIMIT);
    expect(extend?.field).toEqual({ label: "amount", kind: "text", required: true, sample: "max_iterations=10" });
    expect(findFieldFault(extend?.field, " ")).toMatch(/wanted/);
    expect(formatAnswerCommand("poll", answer(LIMIT, 0, "max_iterations=10"))).toBe(
      "splashdown answer poll limit:task:1 extend max_iterations=10",
    );
  });

  it("wants the output of a step that acted as JSON", () => {
    const field = listChoices(UNKNOWN)[1]?.field;
    expect(findFieldFault(field, "{")).toMatch(/no JSON/);
    expect(findFieldFault(field, '{"receipt":"R-1"}')).toBeUndefined();
    expect(formatAnswerCommand("pay", answer(UNKNOWN, 1, '{"receipt":"it\'s"}'))).toBe(
      String.raw`splashdown answer pay gate:main/look@1.1:1 done --output '{"receipt":"it'\''s"}'`,
    );
  });

  it("asks the item of a wizard that is next, beside the ways out of it", () => {
    expect(itemAsked(WIZARD)?.text).toBe("Who?");
    expect(listChoices(WIZARD).map(({ value }) => value)).toEqual(["skip"]);
  });
});
