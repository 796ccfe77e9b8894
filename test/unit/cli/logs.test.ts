/** `logs`: what happened and what steps printed, in order. */
import { describe, expect, it } from "vitest";
import { openKeyboard, type Keyboard } from "../../support/typed-command.js";
import { expectView } from "../../support/view-schemas.js";

const NODE = process.execPath;
const WORKFLOW = `workflow: {name: said}
steps:
  - {name: fetch, command: ["${NODE}", -e, "console.error('page 1'); console.error('page 2'); console.log('{}')"], effects: none}
  - {name: count, type: script, command: sh, args: [-c, "echo 3 prices; echo slow >&2"], depends_on: [fetch]}
  - {name: send, command: ["${NODE}", -e, "console.error('calling'); throw new Error('no network')"], effects: none, depends_on: [count]}
`;

async function runSaid(): Promise<Keyboard> {
  const keyboard = await openKeyboard();
  await keyboard.type(["run", keyboard.write("w.yaml", WORKFLOW), "--task", "t"]);
  return keyboard;
}

describe("logs", () => {
  it("tells what happened and what was printed, in order, without our bookkeeping", async () => {
    const { type } = await runSaid();
    const { out } = await type(["logs", "t"]);
    expect(out).toMatch(/^── \d{4}-\d\d-\d\d \S+ ──\n\d\d:\d\d:\d\d · task t started: workflow said\n/);
    expect(out).toMatch(
      /✓ fetch done in [\d.]+ s\n {9}\| page 1\n {9}\| page 2\n[\s\S]*✓ count done in [\d.]+ s\n {9}\| 3 prices\n {9}\| slow\n[\s\S]*✗ send failed after .*Error: no network/,
    );
    expect(out).toContain("         | calling\n");
    expect(out).not.toMatch(/checkpoint|runs as process/);
  });

  it("tells of one step alone", async () => {
    const { type } = await runSaid();
    const { out } = await type(["logs", "t", "fetch"]);
    expect(out).toContain("| page 2");
    expect(out).not.toMatch(/count|send|task t started/);
    await expect(type(["logs", "t", "fetsh"])).rejects.toMatchObject({
      code: "STEP_NOT_FOUND",
      message: "no step fetsh has begun in task t; did you mean fetch?",
    });
  });

  it("is a list of one shape, and with --follow one entry per line, which ends with the task", async () => {
    const { type } = await runSaid();
    const list = JSON.parse((await type(["logs", "t", "--json"])).out) as unknown[];
    expectView("logs", list);
    const { out } = await type(["logs", "t", "--json", "--follow"]);
    expect(
      out
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual(list);
  });
});
