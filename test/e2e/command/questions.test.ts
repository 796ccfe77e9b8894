/** `answer` and the requests `checkpoint`, `pause` and `stop`, from other processes, while a task runs and after. */
import { describe, expect, it } from "vitest";
import type {
  AnswerView,
  CheckpointView,
  EventView,
  RequestView,
  RunView,
  TaskView,
} from "../../../src/runtime/contract.js";
import { openPlace, type CommandPlace } from "../../support/command-place.js";
import { crashAt, release, startHeld, writeHeldSteps } from "../../support/held-steps.js";
import { until } from "../../support/real-clock.js";

const STEPS = ["s1", "s2", "s3"];

/** A task that waits with a question of unknown outcome; nobody owns it. */
async function waitingTask(): Promise<CommandPlace> {
  const place = openPlace();
  await crashAt(place, "s2", ["run", writeHeldSteps(place, STEPS), "--task", "t"]);
  expect((await place.run(["resume", "t", "--quiet"])).code).toBe(22);
  return place;
}

/** Two branches: `ask` is unknown after the crash, `slow` is held again while the question stands open. */
async function askingTask(): Promise<{ place: CommandPlace; done: Promise<{ code: number | null }> }> {
  const place = openPlace();
  writeHeldSteps(place, ["ask"]);
  place.write(
    "both.yaml",
    `workflow: {name: both}
steps:
  - {name: ask, command: [sh, step.sh, ask]}
  - {name: slow, command: [sh, step.sh, slow], effects: none}
`,
  );
  place.write("hold-slow", "");
  await crashAt(place, "ask", ["run", "both.yaml", "--task", "t"]);
  const running = await startHeld(place, "slow", { args: ["resume", "t"] });
  await until("the question is open", () => running.stderr().includes("? question: "));
  return { place, done: running.done };
}

describe("answer", () => {
  it("after the owner left: records, names the resume command, and the task acts on it", async () => {
    const place = await waitingTask();
    const view = (await place.run(["answer", "t", "rerun", "--by", "ada", "--json"])).json<AnswerView>();
    expect(view).toMatchObject({
      task: "t",
      question: "unknown_outcome:main/s2@1.1:1",
      answer: "rerun",
      by: "ada",
      owner_alive: false,
      command: "splashdown resume t",
    });
    const shown = (await place.run(["show", "t", "--json"])).json<TaskView>();
    expect(shown).toMatchObject({ status: "waiting", open_questions: 0, next: "splashdown resume t" });
    expect(shown.questions).toMatchObject([{ status: "answered", answer: "rerun", answered_by: "ada" }]);
    expect((await place.run(["resume", "t"])).code).toBe(0);
    expect(place.ledger()).toEqual(["s1", "s2", "s2", "s3"]);
    const events = (await place.run(["events", "t", "--json"])).json<EventView[]>();
    expect(events.filter((event) => event.type === "question_answered")).toMatchObject([{ event: { by: "ada" } }]);
  });

  it("while the task runs: the owner takes it up and the task ends done", async () => {
    const { place, done } = await askingTask();
    const view = (await place.run(["answer", "t", "rerun", "--json"])).json<AnswerView>();
    expect(view.owner_alive).toBe(true);
    expect(view.command).toBeUndefined();
    await until("ask runs again", () => place.ledger().filter((line) => line === "ask").length === 2);
    release(place, "slow");
    expect((await done).code).toBe(0);
  });

  it("FAULTS 6: of eight processes at once exactly one wins; the others are told who and when", async () => {
    const place = await waitingTask();
    const answers = ["rerun", "skip", "fail", "rerun", "skip", "fail", "rerun", "skip"];
    const results = await Promise.all(
      answers.map((answer, index) => place.run(["answer", "t", answer, "--by", `p${index}`, "--json"])),
    );
    const winners = results.filter((result) => result.code === 0);
    expect(winners).toHaveLength(1);
    const won = winners[0]?.json<AnswerView>();
    const told = `question unknown_outcome:main/s2@1.1:1 was answered by ${won?.by ?? ""} at ${won?.at ?? ""} with ${won?.answer ?? ""}`;
    for (const loser of results.filter((result) => result.code !== 0)) {
      expect({ code: loser.code, stdout: loser.stdout }).toEqual({ code: 2, stdout: "" });
      expect(JSON.parse(loser.stderr)).toMatchObject({ error: { code: "QUESTION_CLOSED", message: told } });
    }
    expect((await place.run(["show", "t", "--json"])).json<TaskView>().questions).toMatchObject([
      { status: "answered", answered_by: won?.by, answer: won?.answer },
    ]);
  });

  it("refuses with 2 what is no option, with 10 what is no question, and names what there is", async () => {
    const place = await waitingTask();
    const wrong = await place.run(["answer", "t", "rerum"]);
    expect(wrong.code).toBe(2);
    expect(wrong.stderr).toContain("rerum is not one of rerun, done, skip, fail; did you mean rerun?");
    expect(wrong.stderr).toContain("→ splashdown show t\n");
    const bare = await place.run(["answer", "t", "done"]);
    expect(bare.stderr).toContain("done needs a value; give it with --output JSON [ANSWER_INVALID]");
    expect((await place.run(["answer", "t", "done", "--output", "{"])).code).toBe(2);
    const absent = await place.run(["answer", "t", "no-such", "rerun"]);
    expect(absent.code).toBe(10);
    expect(absent.stderr).toContain("task t has no question no-such [QUESTION_NOT_FOUND]");
    expect((await place.run(["answer", "none", "rerun"])).code).toBe(10);
    expect((await place.run(["answer", "t"])).code).toBe(2);
    expect((await place.run(["show", "t", "--json"])).json<TaskView>().open_questions).toBe(1);
  });
});

describe("requests to a running task", () => {
  it("checkpoint: saves one and gives its id; the note stands with it", async () => {
    const place = openPlace();
    const running = await startHeld(place, "s2", { args: ["run", writeHeldSteps(place, STEPS), "--task", "t"] });
    const view = (await place.run(["checkpoint", "t", "--note", "before lunch", "--json"])).json<RequestView>();
    expect(view).toMatchObject({ task: "t", request: "checkpoint", owner: { pid: running.pid } });
    release(place, "s2");
    expect((await running.done).code).toBe(0);
    const list = (await place.run(["checkpoints", "list", "t", "--json"])).json<CheckpointView[]>();
    expect(list.find((checkpoint) => checkpoint.checkpoint_id === view.checkpoint_id)).toMatchObject({
      trigger: "user_requested",
      note: "before lunch",
    });
    expect(place.ledger()).toEqual(STEPS);
  });

  it("pause: lets the step finish, ends the run with 20, and resume goes on", async () => {
    const place = openPlace();
    const running = await startHeld(place, "s2", { args: ["run", writeHeldSteps(place, STEPS), "--task", "t"] });
    expect((await place.run(["pause", "t", "--note", "lunch"])).code).toBe(0);
    release(place, "s2");
    const { code, stdout } = await running.done;
    expect(code).toBe(20);
    expect(stdout).toContain("paused  t: paused by tester: lunch\n");
    expect(stdout).toContain("continue with: splashdown resume t\n");
    expect(place.ledger()).toEqual(["s1", "s2"]);
    expect((await place.run(["resume", "t"])).code).toBe(0);
    expect(place.ledger()).toEqual(STEPS);
  });

  it("stop: ends the step, ends the run with 143, and a later resume asks about the step", async () => {
    const place = openPlace();
    const running = await startHeld(place, "s2", { args: ["run", writeHeldSteps(place, STEPS), "--task", "t"] });
    expect((await place.run(["stop", "t"])).code).toBe(0);
    expect((await running.done).code).toBe(143);
    expect((await place.run(["list", "--json"])).json()).toMatchObject([{ task: "t", status: "stopped" }]);
    release(place, "s2");
    expect((await place.run(["resume", "t"])).code).toBe(22);
  });

  it.each(["checkpoint", "pause", "stop"])("%s of a task that nobody runs ends with 2", async (verb) => {
    const place = openPlace();
    await place.run(["run", writeHeldSteps(place, STEPS), "--task", "t"]);
    const { code, stderr } = await place.run([verb, "t"]);
    expect(code).toBe(2);
    expect(stderr).toContain("task t cannot be asked: nobody runs it [TASK_NOT_RUNNING]");
  });
});

describe("a run without a terminal", () => {
  it("FAULTS 22: never prompts, and the end of its input is no answer", async () => {
    const place = openPlace();
    await crashAt(place, "s2", ["run", writeHeldSteps(place, STEPS), "--task", "t"]);
    for (const input of ["", "y\n", "rerun\n"]) {
      const { code } = await place.run(["resume", "t"], { input });
      expect(code).toBe(22);
    }
    const view = (
      await place.run(["run", "steps.yaml", "--task", "t", "--json"], { env: { CI: "1" } })
    ).json<RunView>();
    expect(view.questions).toMatchObject([{ status: "open" }]);
    expect(place.ledger()).toEqual(["s1", "s2"]);
  });
});
