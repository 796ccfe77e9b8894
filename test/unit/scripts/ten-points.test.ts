import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { judgeRound } from "../../../proof/soak-rounds/ten-points.mjs";

const judge = judgeRound as (found: object) => string[];
const LEDGER = ["item-a", "item-b", "item-c", "last"];

/** A command that ended otherwise than well, and said so in its view. */
const refusalOf = (view: object) => ({ args: [], code: 4, stdout: JSON.stringify(view), stderr: "" });

/** What a round in which nothing was wrong found. */
function findGood() {
  const folder = mkdtempSync(join(tmpdir(), "splashdown-points-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "outputs/t/checkpoints/blob");
  mkdirSync(join(file, ".."), { recursive: true });
  writeFileSync(file, "sealed", { mode: 0o600 });
  const stand = { path: (...parts: string[]) => join(folder, ...parts), ledger: () => LEDGER };
  const output = { said: "[redacted:env:12ab]" };
  const question = { id: "q", status: "consumed" };
  return {
    file,
    stand,
    folders: [],
    calm: output,
    last: { said: "[redacted:env:34cd]" },
    view: { status: "done", steps: [{ step: "s", attempt: 2 }], metrics: { cost_usd: 0.5 }, questions: [question] },
    listed: [{ task: "t", status: "done" }],
    events: [
      { type: "step_intended", event: { step: "s" } },
      { type: "task_resumed", event: { epoch: 2 } },
      { type: "step_intended", event: { step: "s" } },
      { type: "turn_recorded", event: { usage: { costMicroUsd: 500_000 } } },
      { type: "question_answered", event: { question: "q" } },
      { type: "task_resumed", event: { epoch: 3 } },
    ],
    exitStatus: 0,
    said: "",
    refusals: [
      { args: [], code: 11, stdout: "", stderr: '{"error":{"code":"OWNER_ALIVE","message":"alive","hint":"list"}}' },
      refusalOf({
        tasks: [{ action: "left" }, { action: "failed", code: "STORE_FAILED", why: "EIO", hint: "doctor" }],
      }),
      refusalOf({ tasks: [{ action: "taken_up", result: { exit_status: 4, reason: "EIO", next: "resume" } }] }),
      refusalOf({ checks: [{ ok: true }, { ok: false, text: "EIO", hint: "doctor" }] }),
    ],
    unopened: [],
    untold: [],
  };
}

type Good = ReturnType<typeof findGood>;
const FAULTS: readonly [point: string, spoil: (good: Good) => object][] = [
  ["1", (good) => ({ stand: { ...good.stand, ledger: () => [...LEDGER, "last"] } })],
  ["1", (good) => ({ stand: { ...good.stand, ledger: () => LEDGER.slice(1) } })],
  ["2", () => ({ last: { said: "other" } })],
  ["3", ({ listed }) => ({ listed: [...listed, { task: "u", status: "running" }] })],
  ["3", ({ events }) => ({ events: [...events, { type: "task_resumed", event: { epoch: 3 } }] })],
  ["4", ({ view }) => ({ view: { ...view, metrics: { cost_usd: 0.25 } } })],
  ["4", ({ view }) => ({ view: { ...view, steps: [{ step: "s", attempt: 1 }] } })],
  ["4", ({ events }) => ({ events: [...events, { type: "question_answered", event: { question: "q" } }] })],
  ["5", () => ({ unopened: ["checkpoint 3: 14"] })],
  ["6", () => ({ said: "it is canary-7f3a9c-of-the-soak" })],
  ["6", ({ file }) => (writeFileSync(file, "canary-7f3a9c-of-the-soak"), {})],
  ["7", () => ({ untold: ["00000001-0000.jsonl is rotten"] })],
  ["8", () => ({ exitStatus: 4 })],
  ["9", ({ file }) => (chmodSync(file, 0o644), {})],
  ["10", () => ({ refusals: [{ args: [], code: 1, stdout: "", stderr: "TypeError: x is undefined" }] })],
  ["10", () => ({ refusals: [refusalOf({ tasks: [{ action: "failed", code: "STORE_FAILED", why: "EIO" }] })] })],
  ["10", () => ({ refusals: [refusalOf({ tasks: [{ action: "failed", code: "INTERNAL", why: "x", hint: "y" }] })] })],
  ["10", () => ({ refusals: [refusalOf({ tasks: [{ action: "taken_up", result: { exit_status: 4 } }] })] })],
  ["10", () => ({ refusals: [refusalOf({ checks: [{ ok: false, text: "EIO" }] })] })],
];

describe("the ten points", () => {
  it("say nothing of a round in which all was well", () => {
    expect(judge(findGood())).toEqual([]);
  });

  it.each(FAULTS)("name a fault of point %s, and no other", (point, spoil) => {
    const good = findGood();
    const found = judge({ ...good, ...spoil(good) });
    expect(found.map((text) => /^point (\d+):/.exec(text)?.[1])).toEqual([point]);
  });
});
