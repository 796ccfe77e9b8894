/** `questions`: what waits for an answer over all tasks, the oldest first. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { QuestionsView } from "../../../src/runtime/contract.js";
import { openKeyboard, type Keyboard } from "../../support/typed-command.js";
import { expectView } from "../../support/view-schemas.js";

const ASKING = (name: string, prompt: string) => `workflow: {name: ${name}, entry_point: gate}
agents:
  - {name: gate, type: human_gate, prompt: "${prompt}", options: [{label: "Yes", value: "yes", route: $end}, {label: "No", value: "no", route: $end}]}
`;
const DONE = "workflow: {name: quiet}\nsteps: [{name: a, type: set, value: 1}]\n";

/** `b` asks first, `a` afterwards; `c` has ended. */
async function openAsking(store?: "folder"): Promise<Keyboard> {
  const keyboard = await openKeyboard({}, store === undefined ? {} : { store });
  await keyboard.type(["run", keyboard.write("b.yaml", ASKING("send", "Send it?")), "--task", "b"]);
  await keyboard.type(["run", keyboard.write("a.yaml", ASKING("pay", "Pay?")), "--task", "a"]);
  await keyboard.type(["run", keyboard.write("c.yaml", DONE), "--task", "c"]);
  return keyboard;
}

const read = async ({ type }: Keyboard, ...words: string[]): Promise<QuestionsView> =>
  JSON.parse((await type(["questions", ...words, "--json"])).out) as QuestionsView;
const tasksOf = ({ questions }: QuestionsView): string => questions.map(({ task }) => task).join();

describe("questions", () => {
  it("of all tasks come with their workflow and the command that answers them, the oldest first", async () => {
    const keyboard = await openAsking();
    const view = await read(keyboard);
    expectView("questions", view);
    expect(view).toMatchObject({
      questions: [
        { task: "b", workflow: "send", question: { text: "Send it?", status: "open" } },
        { task: "a", workflow: "pay", question: { text: "Pay?" } },
      ],
      passed_over: [],
    });
    const { out } = await keyboard.type(["questions"]);
    expect(out).toMatch(
      /^b {2}workflow send, main\/gate@1\.1 {2}asked .*\n {2}\? Send it\?\n {6}yes: Yes\n {6}no: No\n {4}answer with: splashdown answer b \S+ yes\n\na {2}workflow pay/,
    );
  });

  it("of one task are its own, and what was answered is no question any more", async () => {
    const keyboard = await openAsking();
    expect(tasksOf(await read(keyboard, "a"))).toBe("a");
    await keyboard.type(["answer", "b", "yes"]);
    expect(tasksOf(await read(keyboard))).toBe("a");
    await keyboard.type(["answer", "a", "no"]);
    expect((await keyboard.type(["questions"])).out).toBe("nothing waits for an answer\n");
    expect((await keyboard.type(["questions", "c"])).out).toBe("nothing waits for an answer\n");
  });

  it("of the others stand there where one task cannot be read, which is named", async () => {
    const keyboard = await openAsking("folder");
    rmSync(join(keyboard.folder, "outputs", "b", "checkpoints", "keyring-1.json"));
    const view = await read(keyboard);
    expectView("questions", view);
    expect(tasksOf(view)).toBe("a");
    expect(view.passed_over.map(({ task }) => task)).toEqual(["b"]);
    expect((await keyboard.type(["questions"])).out).toContain("\n\nb could not be read: ");
  });

  it("of a task that is not there is an error that names it", async () => {
    const { type } = await openAsking();
    await expect(type(["questions", "nobody"])).rejects.toMatchObject({ code: "TASK_NOT_FOUND" });
  });
});
