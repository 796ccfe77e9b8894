/** `show --at N`: a task as it stood after any of its events. */
import { describe, expect, it } from "vitest";
import type { EventView, TaskView } from "../../../src/runtime/contract.js";
import { openKeyboard, type Keyboard } from "../../support/typed-command.js";
import { expectView } from "../../support/view-schemas.js";

const WORKFLOW = `workflow: {name: letter, entry_point: write}
agents:
  - {name: write, type: set, value: {text: Dear}, routes: [{to: gate}]}
  - {name: gate, type: human_gate, prompt: "Send it?", options: [{label: "Yes", value: "yes", route: send}]}
  - {name: send, type: set, value: sent, routes: [{to: $end}]}
output: {text: "{{ write.output.text }}"}
`;

async function openAnswered(): Promise<Keyboard> {
  const keyboard = await openKeyboard();
  await keyboard.type(["run", keyboard.write("w.yaml", WORKFLOW), "--task", "t"]);
  await keyboard.type(["answer", "t", "yes"]);
  await keyboard.type(["resume", "t"]);
  return keyboard;
}

const at = async ({ type }: Keyboard, n: number): Promise<TaskView> =>
  JSON.parse((await type(["show", "t", "--at", String(n), "--json"])).out) as TaskView;
const eventsOf = async ({ type }: Keyboard): Promise<readonly EventView[]> =>
  JSON.parse((await type(["events", "t", "--json"])).out) as EventView[];
const numberOf = (events: readonly EventView[], type: string): number =>
  events.find((event) => event.type === type)?.n ?? Number.NaN;

describe("show --at", () => {
  it("tells of each event what had been done, asked and decided by then, and nothing later", async () => {
    const keyboard = await openAnswered();
    const events = await eventsOf(keyboard);
    const last = events.at(-1)?.n ?? 0;
    let done = 0;
    for (const { n, type } of events) {
      const view = await at(keyboard, n);
      expectView("show", view);
      if (type === "step_completed") done += 1;
      expect(view).toMatchObject({ as_of: { event: n, of: last }, steps_done: done });
    }
    expect(done).toBe(3);
  });

  it("shows a question open that was answered since, and the task running that has ended since", async () => {
    const keyboard = await openAnswered();
    const events = await eventsOf(keyboard);
    const asked = await at(keyboard, numberOf(events, "question_opened"));
    expect(asked).toMatchObject({
      status: "running",
      open_questions: 1,
      questions: [{ text: "Send it?", status: "open" }],
    });
    expect(asked.output).toBeUndefined();
    const now = await at(keyboard, events.at(-1)?.n ?? 0);
    expect(now).toMatchObject({ status: "done", open_questions: 0, output: { text: "Dear" } });
    const { out } = await keyboard.type(["show", "t", "--at", "3"]);
    expect(out).toContain(`as it stood after event 3 of ${events.length}`);
  });

  it.each([
    [["--at", "0"], "--at takes the number of an event, from 1"],
    [["--at", "first"], "--at takes the number of an event, from 1"],
    [["--at", "99"], /^t has events 1 to \d+, and no event 99$/],
    [["--at", "2", "--timeline"], "--at goes with no --timeline"],
    [["write", "--at", "2"], "--at is about a whole task"],
  ])("refuses %j", async (flags, message) => {
    const { type } = await openAnswered();
    await expect(type(["show", "t", ...flags])).rejects.toThrow(message);
    await expect(type(["show", "t", ...flags])).rejects.toMatchObject({ code: "USAGE_INVALID" });
  });
});
