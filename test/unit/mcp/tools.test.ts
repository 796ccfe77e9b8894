/** The tools, over tasks in memory that run in this process as if it were another one. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { describe, expect, it } from "vitest";
import { LIMITS } from "../../../src/base/limits.js";
import type { Background } from "../../../src/runtime/platform/background-starts.js";
import type { Splashdown } from "../../../src/runtime/contract.js";
import { createEnvironment } from "../../../src/runtime/platform/environment.js";
import { openSplashdown } from "../../../src/runtime/open.js";
import { openTalk, type McpTalk } from "../../support/mcp-talk.js";
import { until } from "../../support/real-clock.js";
import { openFolder } from "../../support/temporary-folder.js";

const GATED = `workflow: {name: gated, input: {n: {type: number, default: 0, required: false}}}
steps:
  - {name: one, type: set, value: "{{ workflow.input.n }}"}
  - name: review
    type: human_gate
    prompt: "Publish?"
    depends_on: [one]
    options: [{value: approve, label: Yes}, {value: revise, label: No, prompt_for: why}]
  - {name: two, type: set, value: "{{ review.output }}", depends_on: [review]}
`;

interface Place {
  readonly talk: McpTalk;
  readonly folder: string;
  /** What was started in the background, in words. */
  readonly begun: string[][];
}

async function openPlace({ mayAnswer = false } = {}): Promise<Place> {
  const folder = openFolder();
  writeFileSync(join(folder, "gated.yaml"), GATED);
  writeFileSync(join(folder, "short.yaml"), "workflow: {name: short}\nsteps: [{name: a, type: set, value: 7}]\n");
  const all = { HOME: folder, SPLASHDOWN_KEY: Buffer.alloc(32, 7).toString("base64") };
  const splashdown = await openSplashdown({ store: "memory:", environment: createEnvironment(all, folder) });
  const begun: string[][] = [];
  const background = runHere(splashdown, begun);
  const talk = await openTalk(folder, { splashdown, background, mayAnswer });
  await talk.greet("claude-code\u0007");
  return { talk, folder, begun };
}

/** Runs to the end before it is told, as a process that nothing holds up. */
function runHere(splashdown: Splashdown, begun: string[][]): Background {
  return {
    start: async (words, input) => {
      begun.push([...words]);
      const [verb, file = ""] = words;
      const task = words.find((word) => /^--(?:sole-)?task=/.test(word))?.replace(/^[^=]*=/, "") ?? words.at(-1) ?? "";
      try {
        const inputs = JSON.parse(input ?? "{}") as Record<string, never>;
        const view =
          verb === "run" ? await splashdown.run({ workflow: file, task, inputs }) : await splashdown.resume({ task });
        return { status: 0, answer: JSON.stringify(view), said: "" };
      } catch (error) {
        return { status: 2, answer: "", said: JSON.stringify({ error }) };
      }
    },
  };
}

interface ListedTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Record<string, unknown>;
  readonly outputSchema: Record<string, unknown>;
  readonly annotations: Record<string, unknown>;
}

const bodyOf = async (talk: McpTalk, name: string, input: object = {}) => (await talk.call(name, input)).body;

describe("the list of tools", () => {
  it("has schemas that stand alone, in strict form, hints, and words", async () => {
    const { talk } = await openPlace();
    const { result } = await talk.request("tools/list");
    const tools = result?.["tools"] as ListedTool[];
    const ajv = new Ajv2020({ strict: true, allowUnionTypes: true });
    addFormats.default(ajv);
    for (const { name, description, inputSchema, outputSchema, annotations } of tools) {
      expect(() => ajv.compile(inputSchema), name).not.toThrow();
      expect(() => ajv.compile(outputSchema), name).not.toThrow();
      expect(inputSchema["additionalProperties"]).toBe(false);
      expect(Object.keys(annotations)).toHaveLength(5);
      expect(description.length).toBeGreaterThan(40);
    }
    const readOnly = tools.filter(({ annotations }) => annotations["readOnlyHint"] === true);
    expect(readOnly.map(({ name }) => name)).toEqual([
      "wait_for_task",
      "list_questions",
      "list_tasks",
      "show_task",
      "task_result",
      "validate_workflow",
      "list_checkpoints",
      "diff_checkpoints",
    ]);
    expect(JSON.stringify(tools).length).toBeLessThan(40_000);
  });
});

describe("run_workflow", () => {
  it("runs once for one key, whatever is repeated, and refuses the key for anything else", async () => {
    const { talk } = await openPlace();
    const input = { file: "gated.yaml", key: "Run of Monday", inputs: { n: 1 } };
    const [first, second] = await Promise.all([
      bodyOf(talk, "run_workflow", input),
      bodyOf(talk, "run_workflow", input),
    ]);
    const third = await bodyOf(talk, "run_workflow", { ...input, file: "./gated.yaml" });
    const tasks = [first, second, third].map(({ result }) => (result as { task: string }).task);
    expect(new Set(tasks)).toEqual(new Set([expect.stringMatching(/^run-of-monday_[0-9a-f]{16}$/)]));
    expect((await bodyOf(talk, "wait_for_task", { task: tasks[0] }))["result"]).toMatchObject({
      status: "waiting",
      waits_for: { text: "Publish?" },
    });
    expect((await bodyOf(talk, "list_tasks"))["result"]).toHaveLength(1);
    const other = await talk.call("run_workflow", { ...input, inputs: { n: 2 } });
    expect(other).toMatchObject({ isError: true, body: { error: { code: "WORKFLOW_MISMATCH" } } });
  });

  it("takes the same arguments for the same run, others for another one", async () => {
    const { talk } = await openPlace();
    const names: unknown[] = [];
    for (const input of [{}, {}, { inputs: {} }, { key: "again" }, { task: "mine" }]) {
      const { result } = await bodyOf(talk, "run_workflow", { file: "short.yaml", ...input });
      names.push((result as { task: string }).task);
    }
    expect(new Set(names).size).toBe(4);
    expect(names[0]).toBe(names[1]);
    expect(names[4]).toBe("mine");
    expect(names[0]).toMatch(/^short_[0-9a-f]{16}$/);
  });

  it("gives words and flags that can be taken for no others, and the inputs on stdin", async () => {
    const { talk, begun, folder } = await openPlace();
    await talk.call("run_workflow", { goal: "--help me", task: "t", provider: "scripted", model: "-m" });
    await talk.call("run_workflow", { file: "short.yaml", task: "-x" });
    expect(begun).toEqual([
      ["run", "--goal=--help me", "--provider=scripted", "--model=-m", "--task=t", "--inputs=-"],
      ["run", join(folder, "short.yaml"), "--task=-x", "--inputs=-"],
    ]);
  });

  it.each([
    [{}, "give file or goal, one of the two"],
    [{ file: "short.yaml", goal: "x" }, "give file or goal, one of the two"],
    [{ file: "short.yaml", key: "k", task: "t" }, "give key or task, not both: either names the one task"],
    [{ file: 7 }, "run_workflow: arguments/file must be string"],
    [{ file: "short.yaml", answers: {} }, "run_workflow: arguments must NOT have additional properties"],
  ])("refuses %j", async (input, message) => {
    const { talk, begun } = await openPlace();
    expect(await talk.call("run_workflow", input)).toMatchObject({
      isError: true,
      body: { error: { code: "USAGE_INVALID", message } },
    });
    expect(begun).toEqual([]);
  });
});

describe("a question", () => {
  it("is listed with the command of a person, and not answered by an agent", async () => {
    const { talk, begun } = await openPlace();
    await talk.call("run_workflow", { file: "gated.yaml", task: "t" });
    await talk.call("wait_for_task", { task: "t" });
    const listed = await bodyOf(talk, "list_questions");
    expect(listed).toMatchObject({
      result: [
        {
          task: "t",
          questions: [{ text: "Publish?", status: "open", command: expect.stringContaining("splashdown answer t") }],
        },
      ],
      next: "only a person may answer here: tell them the command",
    });
    expect(await bodyOf(talk, "list_questions", { task: "t" })).toEqual(listed);
    expect(await talk.call("answer_question", { task: "t", answer: "revise", text: "be kinder" })).toMatchObject({
      isError: true,
      body: { error: { code: "ANSWER_NOT_ALLOWED", hint: "splashdown answer t revise 'be kinder'" } },
    });
    await talk.call("resume_task", { task: "t" });
    await talk.call("wait_for_task", { task: "t" });
    expect((await bodyOf(talk, "list_questions", { task: "t" }))["result"]).toEqual(listed["result"]);
    expect(begun.at(-1)).toEqual(["resume", "--", "t"]);
  });

  it("FAULTS 8: is answered where it is allowed, under a name that says through whom, and the task goes on by itself", async () => {
    const { talk, begun } = await openPlace({ mayAnswer: true });
    await talk.call("run_workflow", { file: "gated.yaml", task: "t" });
    await talk.call("wait_for_task", { task: "t" });
    const answered = await bodyOf(talk, "answer_question", { task: "t", answer: "revise", text: "be kinder" });
    expect(answered).toMatchObject({
      result: { answer: "revise", by: "ada through claude-code\\u0007", owner_alive: false },
      next: expect.stringMatching(/^recorded, and nobody ran it, so it was resumed; now: it (?:is|has)/),
    });
    expect(answered["result"]).not.toHaveProperty("command");
    expect(begun).toHaveLength(2);
    await talk.call("wait_for_task", { task: "t" });
    const { result } = await bodyOf(talk, "task_result", { task: "t" });
    expect(result).toMatchObject({
      status: "done",
      output: { two: { additional_input: { why: "be kinder" } } },
    });
    const late = await talk.call("answer_question", { task: "t", question: "review", answer: "approve" });
    expect(late).toMatchObject({
      isError: true,
      body: { error: { code: "QUESTION_CLOSED", message: expect.stringContaining("by ada through claude-code") } },
    });
    const lost = await talk.call("answer_question", { task: "none", answer: "approve" });
    expect(lost).toMatchObject({ isError: true, body: { error: { code: "TASK_NOT_FOUND" } } });
  });
});

describe("a finished task", () => {
  it("is shown, compared and told at once by wait_for_task", async () => {
    const { talk } = await openPlace();
    await talk.call("run_workflow", { file: "short.yaml", task: "t" });
    expect(await bodyOf(talk, "wait_for_task", { task: "t" })).toMatchObject({
      result: { status: "done", steps_done: 1 },
      next: "it has ended: task_result",
    });
    expect(await bodyOf(talk, "run_workflow", { file: "short.yaml", task: "t" })).toMatchObject({
      next: "nothing had to be started; it has ended: task_result",
    });
    expect((await bodyOf(talk, "show_task", { task: "short" }))["result"]).toMatchObject({ task: "t", status: "done" });
    const checkpoints = (await bodyOf(talk, "list_checkpoints", { task: "t", limit: 1 }))["result"];
    expect(checkpoints).toMatchObject([{ seq: 1, trigger: "phase_completed" }]);
    expect((await bodyOf(talk, "diff_checkpoints", { task: "t", from: "1", to: "latest" }))["result"]).toMatchObject({
      equal: true,
    });
    expect((await bodyOf(talk, "validate_workflow", { file: "gated.yaml" }))["result"]).toMatchObject({ valid: true });
    const told = await talk.call("guide_task", { task: "t", text: "too late" });
    expect(told.isError).toBe(true);
    expect(await talk.call("pause_task", { task: "t" })).toMatchObject({
      body: { error: { code: "TASK_NOT_RUNNING" } },
    });
  });

  it("is listed by when it did something last, in a stated number of rows", async () => {
    const { talk } = await openPlace();
    for (const task of ["b", "a"]) {
      await talk.call("run_workflow", { file: "short.yaml", task });
      await talk.call("wait_for_task", { task });
    }
    const { result, left_out: leftOut } = await bodyOf(talk, "list_tasks", { limit: 1 });
    expect(result).toMatchObject([{ task: "a" }]);
    expect(leftOut).toEqual(["1 of 2; give a larger limit"]);
    expect((await bodyOf(talk, "list_tasks", { status: "running" }))["result"]).toEqual([]);
  });

  it("that nobody started is not found, by any tool", async () => {
    const { talk } = await openPlace();
    for (const name of ["wait_for_task", "task_result", "show_task", "resume_task", "list_checkpoints", "stop_task"])
      expect(await talk.call(name, { task: "none" }), name).toMatchObject({
        isError: true,
        body: { error: { code: "TASK_NOT_FOUND" } },
      });
  });
});

describe("calls under way", () => {
  it("are bounded: one too many is refused, and a cancelled one leaves its place", async () => {
    const folder = openFolder();
    const never = new Promise<never>(() => undefined);
    const talk = await openTalk(folder, { background: { start: () => never } });
    await talk.greet();
    writeFileSync(join(folder, "w.yaml"), readFileSync(new URL(import.meta.url)));
    for (let id = 1_000; id <= 1_000 + LIMITS.mcpCallsMax; id += 1)
      talk.sendMessage({ id, method: "tools/call", params: { name: "run_workflow", arguments: { file: "w.yaml" } } });
    await until("all were answered", () => talk.lines.length === LIMITS.mcpCallsMax + 2);
    const [first] = talk.messages().filter(({ id }) => id === 1_000);
    const told = first?.result?.["structuredContent"] as { result: { task: string } } | undefined;
    const task = told?.result.task;
    expect(await bodyOf(talk, "wait_for_task", { task, seconds: 0 })).toEqual({
      result: { task },
      next: "it is being started: wait_for_task tells how it continues",
    });
    const refused = talk.messages().filter(({ result }) => result?.["isError"] === true);
    expect(refused.map(({ id }) => id)).toEqual([1_000 + LIMITS.mcpCallsMax]);
    expect(refused[0]?.result).toMatchObject({
      structuredContent: { error: { code: "CALLS_TOO_MANY", retryable: true } },
    });
  });
});
