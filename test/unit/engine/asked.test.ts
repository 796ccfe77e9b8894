/** Everything that is put to a person is bound: another value of any field is another question. */
import { describe, expect, it } from "vitest";
import type { Question } from "../../../src/engine/model/question.js";
import { digestQuestion } from "../../../src/engine/rules/questions/asked.js";

const ASKED = {
  id: "unknown_outcome:main/pay@1.1:1" as never,
  kind: "unknown_outcome",
  text: "main/pay may or may not have acted; run it again?",
  options: [
    { value: "rerun", label: "run it again" },
    { value: "done", label: "it is done" },
  ],
  step: "main/pay@1.1" as never,
  phase: "main",
  openedAtMs: 1_000,
  expiresAtMs: 5_000,
  onExpire: "rerun",
  items: [],
  allow: { back: true } as never,
  offered: { paid: 5 },
  about: { kind: "call", call: "1.1", tool: "charge", identity: "id of the tool" },
  facts: { process: 44 },
} as const satisfies Question;

const OTHER: { readonly [Field in keyof typeof ASKED]: Question[Field] } = {
  id: "unknown_outcome:main/pay@1.1:2" as never,
  kind: "repeat_step",
  text: "main/pay may or may not have acted; run it again ?",
  options: [
    { value: "rerun", label: "it is done" },
    { value: "done", label: "run it again" },
  ] as never,
  step: "main/pay@2.1" as never,
  phase: "other",
  openedAtMs: 1_001,
  expiresAtMs: 5_001,
  onExpire: "done",
  items: [{ id: "q1", text: "?" }] as never,
  allow: { back: false } as never,
  offered: { paid: 6 },
  about: { kind: "call", call: "1.1", tool: "charge", identity: "id of another tool" },
  facts: { process: 45 },
};

describe("what an answer is bound to", () => {
  it.each(Object.keys(OTHER))("[security M4 kin] has the %s in it", (field) => {
    const other = { ...ASKED, [field]: OTHER[field as keyof typeof OTHER] };
    expect(digestQuestion(other as Question)).not.toBe(digestQuestion(ASKED as never));
  });

  it("has no more in it than what was asked: what became of it, and the order of fields, change nothing", () => {
    const turned = Object.fromEntries(Object.entries({ ...ASKED, status: "open", reminders: 3 }).reverse());
    expect(digestQuestion(turned as never)).toBe(digestQuestion(ASKED as never));
  });
});
