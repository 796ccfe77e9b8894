/** `show TASK STEP`: one step in full, in words and as a view. */
import { describe, expect, it } from "vitest";
import { openKeyboard, type Keyboard } from "../../support/typed-command.js";
import { expectView } from "../../support/view-schemas.js";

const NODE = process.execPath;
const WORKFLOW = `workflow: {name: shown, input: {item: {type: string, default: tea}}, runtime: {provider: scripted, scripted_answers: answers.yaml}}
steps:
  - {name: price, type: model, prompt: "What does {{ workflow.input.item }} cost?", output: {euros: {type: number}}}
  - name: note
    depends_on: [price]
    input: {euros: "{{ price.output.euros }}"}
    command: ["${NODE}", -e, "console.error('noting ' + process.env.API_TOKEN); console.log(JSON.stringify({output: {noted: true}, confidence: 0.8}))"]
    secrets: [API_TOKEN]
    environment: {API_TOKEN: "{{ secrets.API_TOKEN }}"}
    effects: none
    save_as: final/note.json
  - name: send
    depends_on: [note]
    retry: {max_attempts: 2, delay_seconds: 0}
    command: ["${NODE}", -e, "console.error('calling'); throw new Error('no network')"]
    effects: none
`;

async function runShown(): Promise<Keyboard> {
  const keyboard = await openKeyboard({ API_TOKEN: "token-4711-of-the-test" });
  keyboard.write("answers.yaml", "price: [{say: {euros: 3}}]\n");
  await keyboard.type(["run", keyboard.write("w.yaml", WORKFLOW), "--task", "t"]);
  return keyboard;
}

describe("show with a step", () => {
  it("tells a model's prompt, turns, output, and that nobody knows the cost", async () => {
    const { type } = await runShown();
    const { out } = await type(["show", "t", "price"]);
    expect(out).toContain("main/price@1.1  completed\n  model, effects none");
    expect(out).toContain("\nprompt\n  What does tea cost?\n");
    expect(out).toContain("turn 1, 1 model call, tokens unknown, cost unknown");
    expect(out).toContain('\noutput\n  {\n    "euros": 3\n  }\n');
    expect(out).not.toContain("$0");
  });

  it("tells a program's command, input, stderr, files and confidence, without a secret", async () => {
    const { type } = await runShown();
    const { out } = await type(["show", "t", "main/note"]);
    expect(out).toMatch(/command, effects none, \d.*, confidence 80 %/);
    expect(out).toContain('\ninput\n  {\n    "euros": 3\n  }\n');
    expect(out).toMatch(/\nstderr\n {2}noting \[redacted:env:[0-9a-f]{8}\]\n/);
    expect(out).toMatch(/\nfiles\n {2}final\/note\.json {2}\d+ B\n/);
    const json = await type(["show", "t", "main/note", "--json"]);
    expect(`${out}${json.out}`).not.toContain("token-4711");
  });

  it("tells each attempt of a step that failed, and what its program said last", async () => {
    const { type } = await runShown();
    const { out } = await type(["show", "t", "main/send@1.1"]);
    expect(out).toContain(`main/send@1.1  failed: ${NODE} exited with 1: Error: no network`);
    expect(out).toMatch(/\nattempts\n {2}1 failed, .*Error: no network \(tried again at .*\)\n {2}2 failed, /);
    expect(out).toContain("\nstderr\n  calling\n");
  });

  it.each(["price", "note", "send"])("is a view of one shape for all kinds (%s)", async (step) => {
    const { splashdown } = await runShown();
    const view = await splashdown.showStep("t", step);
    expectView("step", view);
    expect(view).toMatchObject({ task: "t", step: `main/${step}@1.1`, path: `main/${step}` });
  });

  it("names the step that was meant, and refuses what is about a whole task", async () => {
    const { type } = await runShown();
    await expect(type(["show", "t", "pricee"])).rejects.toMatchObject({
      code: "STEP_NOT_FOUND",
      message: "no step pricee has begun in task t; did you mean price?",
    });
    await expect(type(["show", "t", "price", "--timeline"])).rejects.toMatchObject({ code: "USAGE_INVALID" });
  });

  it("names the places where several are called so", async () => {
    const { type, write } = await openKeyboard();
    const file = `workflow: {name: two}
steps:
  - {name: l, type: dag, steps: [{name: a, type: set, value: 1}]}
  - {name: r, type: dag, steps: [{name: a, type: set, value: 2}]}
`;
    await type(["run", write("two.yaml", file), "--task", "two"]);
    await expect(type(["show", "two", "a"])).rejects.toMatchObject({
      code: "USAGE_INVALID",
      message: "several steps of task two are called a: main/l/a, main/r/a",
    });
  });
});
