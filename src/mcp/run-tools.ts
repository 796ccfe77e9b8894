/** Tools that start tasks, wait for them, and end or steer them. */
import { basename, extname, relative } from "node:path";
import { SplashdownError } from "../base/errors.js";
import type { JsonObject } from "../base/json.js";
import { canonicalJson } from "../base/json-encoding.js";
import { LIMITS } from "../base/limits.js";
import { computeKeyedName } from "../runtime/tasks/task-name.js";
import type { StartOutcome } from "../runtime/platform/background-starts.js";
import { isUnderWay, readStatus, STARTING, reportStatus } from "./task-status.js";
import { ASKS, defineTool, RUNS, READS, TASK, text, type ToolContext, type Tool, type ToolAnswer } from "./tool.js";
import { waitForTask } from "./waiting.js";
import { partSchema, viewSchema } from "./view-schema.js";
import { requireWorkflowFile } from "./workflow-files.js";

/** A row of `list`; the name alone, of a task that is being started. */
const STANDING: JsonObject = {
  anyOf: [
    partSchema("summary"),
    { type: "object", additionalProperties: false, required: ["task"], properties: { task: { type: "string" } } },
  ],
};

export function createRunTools(context: ToolContext): Tool[] {
  return [
    createRun(context),
    createWait(context),
    createResume(context),
    ...createRequests(context),
    createGuide(context),
  ];
}

interface RunInput {
  readonly file?: string;
  readonly goal?: string;
  readonly inputs?: JsonObject;
  readonly task?: string;
  readonly key?: string;
  readonly provider?: string;
  readonly model?: string;
}

function createRun(context: ToolContext): Tool {
  return defineTool<RunInput>({
    name: "run_workflow",
    title: "Start a workflow",
    description:
      "Starts a workflow as a background task and returns its name and id at once; the task outlives this connection. " +
      "Then call wait_for_task. Give `file` (a workflow below the server's folder) or `goal` (a model plans the phases). " +
      "The same arguments, or the same `key`, never start a second task: the first one is told, and resumed if it " +
      "crashed. An unfinished run of the same that others began is named; another `key` starts it again on purpose.",
    fields: {
      file: text("path of the workflow file, YAML or JSON, below the server's folder"),
      goal: text("instead of a file: what is wanted, in words", 20_000),
      inputs: { type: "object", description: "the workflow's inputs by name; validate_workflow tells which there are" },
      key: text("stands for this one run: any text that you use for no other", 1_000),
      task: text("name of the task's folder, instead of one made from the key", LIMITS.taskNameBytesMax),
      provider: text("model provider for steps that name none", 100),
      model: text("model for steps that name none", 200),
    },
    result: STANDING,
    hints: RUNS,
    call: async (input) => {
      const { name, words } = await readStart(context, input);
      const outcome = await context.starts.start(name, words, JSON.stringify(input.inputs ?? {}));
      return tellStart(context, name, outcome);
    },
  });
}

/** Errors: USAGE_INVALID, WORKFLOW_OUTSIDE, WORKFLOW_MODULE, WORKFLOW_NOT_FOUND. */
async function readStart(
  { root, mayLoadModules }: ToolContext,
  input: RunInput,
): Promise<{ name: string; words: string[] }> {
  const { file, goal, key, task, provider, model } = input;
  if ((file === undefined) === (goal === undefined))
    throw new SplashdownError("USAGE_INVALID", "give file or goal, one of the two");
  if (key !== undefined && task !== undefined)
    throw new SplashdownError("USAGE_INVALID", "give key or task, not both: either names the one task");
  const path = file === undefined ? undefined : await requireWorkflowFile(root, file, mayLoadModules);
  const flags = Object.entries({ goal, provider, model }).filter(([, value]) => value !== undefined);
  const name = task ?? nameOf({ ...input, ...(path === undefined ? {} : { file: relative(root, path) }) });
  const words = [
    "run",
    ...(path === undefined ? [] : [path]),
    ...flags.map(([flag, value]) => `--${flag}=${value ?? ""}`),
    // Named by its arguments alone, it is no twin of what somebody began in another way.
    `--${task === undefined && key === undefined ? "sole-task" : "task"}=${name}`,
    "--inputs=-",
  ];
  return { name, words };
}

/** Of the key, or else of everything that the task is made of. */
function nameOf(input: RunInput): string {
  const { key, file, goal = "" } = input;
  if (key !== undefined) return computeKeyedName(key, key);
  return computeKeyedName(file === undefined ? goal : basename(file, extname(file)), canonicalJson({ ...input }));
}

async function tellStart(context: ToolContext, name: string, outcome: StartOutcome): Promise<ToolAnswer> {
  if (outcome === "late") {
    const standing = await readStatus(context, name).catch(() => undefined);
    if (standing === undefined || !isUnderWay(standing)) return { result: { task: name }, next: STARTING };
  }
  const told = await reportStatus(context, name);
  if (outcome !== "nothing") return told;
  return { ...told, next: `nothing had to be started; ${told.next ?? ""}` };
}

function createWait(context: ToolContext): Tool {
  const secondsMax = LIMITS.mcpWaitMs / 1_000;
  return defineTool<{ readonly task: string; readonly seconds?: number }>({
    name: "wait_for_task",
    title: "Wait for a task",
    description:
      `Waits until a task ends, asks something that you were not told of, or the time is over (at most ${secondsMax} s, ` +
      `${LIMITS.mcpWaitDefaultMs / 1_000} s without a number), and tells how it stands. While it runs, call it again ` +
      "and again. Ending the call ends the waiting only, never the task.",
    fields: {
      task: TASK,
      seconds: { type: "number", minimum: 0, maximum: secondsMax, description: "how long to wait at most" },
    },
    required: ["task"],
    result: STANDING,
    hints: READS,
    call: async ({ task, seconds }, call) => {
      const limitMs = seconds === undefined ? LIMITS.mcpWaitDefaultMs : seconds * 1_000;
      await waitForTask(context, { task, limitMs, call });
      return reportStatus(context, task);
    },
  });
}

function createResume(context: ToolContext): Tool {
  return defineTool<{ readonly task: string; readonly checkpoint?: string }>({
    name: "resume_task",
    title: "Resume a task",
    description:
      "Resumes in the background a task that nobody runs: crashed, paused, stopped, failed, or answered. What is " +
      "done is not done again. It answers no question.",
    fields: {
      task: TASK,
      checkpoint: { type: "string", description: "id to go back to" },
    },
    required: ["task"],
    result: STANDING,
    hints: RUNS,
    call: async ({ task, checkpoint }) => resumeInBackground(context, task, checkpoint),
  });
}

/** Errors: TASK_NOT_FOUND; TASK_NEW_HERE for what a person has to resume; why it cannot go on. */
export async function resumeInBackground(context: ToolContext, task: string, checkpoint?: string): Promise<ToolAnswer> {
  const name = (await readStatus(context, task))?.task ?? task;
  await requireKnownHere(context, name);
  const outcome = await context.starts.start(name, [
    "resume",
    ...(checkpoint === undefined ? [] : [`--from=${checkpoint}`]),
    "--",
    name,
  ]);
  return tellStart(context, name, outcome);
}

/** An agent is no person: what this machine never ran waits for one, unless the settings say otherwise. */
async function requireKnownHere({ splashdown }: ToolContext, name: string): Promise<void> {
  const [summary] = await splashdown.list(name);
  if (summary?.new_here === undefined) return;
  const { settings } = await splashdown.config();
  if (settings.some(({ key, value }) => key === "recovery_config.new_here" && value === "resume")) return;
  throw new SplashdownError("TASK_NEW_HERE", `task ${name}: this machine never ran it; only a person may resume it`, {
    details: { task: name },
  });
}

function createRequests(context: ToolContext): Tool[] {
  const kinds = [
    ["pause", "Pause a task", "lets the steps under way finish"],
    ["stop", "Stop a task", "ends the steps under way now; this is how a run is cancelled"],
  ] as const;
  return kinds.map(([kind, title, how]) =>
    defineTool<{ readonly task: string; readonly note?: string }>({
      name: `${kind}_task`,
      title,
      description:
        `Asks a running task to leave: it ${how}, saves a checkpoint and ends. Nothing is lost; resume_task continues. ` +
        "wait_for_task tells when it has left.",
      fields: { task: TASK, note: text("why; kept with the checkpoint", 1_000) },
      required: ["task"],
      result: viewSchema("request"),
      hints: { ...ASKS, destructiveHint: kind === "stop" },
      call: async ({ task, note }, { by }) => ({
        result: await context.splashdown.request(task, kind, { by, ...(note === undefined ? {} : { note }) }),
        next: "wait_for_task tells when it has left",
      }),
    }),
  );
}

function createGuide(context: ToolContext): Tool {
  return defineTool<{ readonly task: string; readonly text: string; readonly step?: string }>({
    name: "guide_task",
    title: "Tell a task something",
    description:
      "Says something to a task under way: what begins afterwards takes it into account. For information and wishes; it " +
      "answers no question and changes no limit.",
    fields: {
      task: TASK,
      text: text("what is to be told", LIMITS.guidanceCharsMax),
      step: text("for this step only, by path or name", 1_000),
    },
    required: ["task", "text"],
    result: viewSchema("guide"),
    hints: { ...ASKS, idempotentHint: false },
    call: async ({ task, text: said, step }, { by }) => ({
      result: await context.splashdown.guide({ task, text: said, by, ...(step === undefined ? {} : { step }) }),
    }),
  });
}
