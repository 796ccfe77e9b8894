/** Tools that only look: at tasks, results, checkpoints and workflow files. */
import { writeCommand } from "../base/command-text.js";
import type { JsonObject } from "../base/json.js";
import { LIMITS } from "../base/limits.js";
import type { TaskView } from "../runtime/contract.js";
import { describeNext, readStatus } from "./task-status.js";
import { defineTool, READS, RUNS, TASK, text, type ToolContext, type Tool } from "./tool.js";
import { pickFields, viewSchema } from "./view-schema.js";
import { isModule, requireWorkflowFile } from "./workflow-files.js";

export function createReadingTools(context: ToolContext): Tool[] {
  return [
    createList(context),
    createShow(context),
    createResult(context),
    createValidate(context),
    createCheckpoints(context),
    createDiff(context),
  ];
}

const ROWS: JsonObject = {
  type: "integer",
  minimum: 1,
  maximum: 1_000,
  description: `how many at most; ${LIMITS.mcpRowsMax} without a number`,
};

function createList({ splashdown }: ToolContext): Tool {
  return defineTool<{ readonly status?: string; readonly limit?: number }>({
    name: "list_tasks",
    title: "List tasks",
    description: "The tasks with their status and what each waits for; those that did something last come first.",
    fields: {
      status: text("only those that are: running, waiting, paused, crashed, failed, done, …", 50),
      limit: ROWS,
    },
    result: viewSchema("list"),
    hints: READS,
    call: async ({ status, limit = LIMITS.mcpRowsMax }) => {
      const all = (await splashdown.list()).filter((row) => status === undefined || row.status === status);
      const rows = all.toSorted((a, b) => compareText(b.last_event_at ?? "", a.last_event_at ?? ""));
      return { result: rows.slice(0, limit), ...tellRest(all.length, limit), command: writeCommand("list") };
    },
  });
}

function compareText(left: string, right: string): number {
  return left < right ? -1 : Number(left > right);
}

function tellRest(count: number, limit: number): { leftOut?: readonly string[] } {
  return count <= limit ? {} : { leftOut: [`${count - limit} of ${count}; give a larger limit`] };
}

function createShow(context: ToolContext): Tool {
  return defineTool<{ readonly task: string }>({
    name: "show_task",
    title: "Show a task",
    description:
      "One task in full: phases, steps with their errors, decisions with their reasons, questions, costs, output, files. " +
      "Long; wait_for_task and task_result are shorter.",
    fields: { task: TASK },
    required: ["task"],
    result: viewSchema("show"),
    hints: READS,
    call: async ({ task }) => ({ result: await readTask(context, task), command: commandOf("show", task) }),
  });
}

const RESULT_FIELDS = [
  "task",
  "workflow_id",
  "workflow",
  "status",
  "reason",
  "output",
  "deliverables",
  "folder",
  "damage",
  "next",
] as const;

function createResult(context: ToolContext): Tool {
  return defineTool<{ readonly task: string }>({
    name: "task_result",
    title: "Result of a task",
    description:
      "What a task has brought: output, files (in its folder), why it ended as it did. Of one that has not ended yet it " +
      "tells how it stands; nothing of it is ever lost, ask again at any time, over any connection.",
    fields: { task: TASK },
    required: ["task"],
    result: pickFields("show", RESULT_FIELDS),
    hints: READS,
    call: async ({ task }) => {
      const view = await readTask(context, task);
      const standing = { ...view, open_questions: view.questions.filter(({ status }) => status === "open").length };
      return {
        result: Object.fromEntries(RESULT_FIELDS.map((field) => [field, view[field]])),
        command: commandOf("show", task),
        ...(hasEnded(view) ? {} : { next: describeNext(standing, context) }),
      };
    },
  });
}

function hasEnded({ status }: TaskView): boolean {
  return ["done", "partial", "failed"].includes(status);
}

/** Errors: TASK_NOT_FOUND; why its start failed. */
async function readTask(context: ToolContext, task: string): Promise<TaskView> {
  const standing = await readStatus(context, task);
  return context.splashdown.show(standing?.task ?? task);
}

function commandOf(verb: "show", task: string): string {
  return writeCommand(verb, [task], { "--json": true });
}

/** A module is run to be read: then the tool does not merely look. */
function createValidate({ splashdown, root, mayLoadModules, checkModule }: ToolContext): Tool {
  const modules = mayLoadModules ? "Loading a module runs its code, in a process of its own." : "Modules are refused.";
  return defineTool<{ readonly file: string }>({
    name: "validate_workflow",
    title: "Check a workflow file",
    description:
      "Checks a workflow file: every fault with line and column, the inputs it takes. YAML and JSON are only read. " +
      modules,
    fields: { file: text("path of the workflow file, below the server's folder") },
    required: ["file"],
    result: viewSchema("validate"),
    hints: mayLoadModules ? RUNS : READS,
    call: async ({ file }) => {
      const path = await requireWorkflowFile(root, file, mayLoadModules);
      const result = isModule(path) ? await checkModule(path) : await splashdown.validate(path);
      return { result, command: writeCommand("validate", [file]) };
    },
  });
}

function createCheckpoints({ splashdown }: ToolContext): Tool {
  return defineTool<{ readonly task: string; readonly limit?: number }>({
    name: "list_checkpoints",
    title: "Checkpoints of a task",
    description: "The checkpoints of a task, the newest first: number, phase, what they were taken for.",
    fields: { task: TASK, limit: ROWS },
    required: ["task"],
    result: viewSchema("checkpoint-list"),
    hints: READS,
    call: async ({ task, limit = LIMITS.mcpRowsMax }) => {
      const all = await splashdown.checkpoints.list(task);
      return {
        result: all.toReversed().slice(0, limit),
        ...tellRest(all.length, limit),
        command: writeCommand("checkpoints list", [task]),
      };
    },
  });
}

interface DiffInput {
  readonly task: string;
  readonly from: string;
  readonly to: string;
}

function createDiff({ splashdown }: ToolContext): Tool {
  const checkpoint = "a checkpoint of it: number (seq), id, phaseN or latest";
  return defineTool<DiffInput>({
    name: "diff_checkpoints",
    title: "Compare two checkpoints",
    description: "What changed in a task between two of its checkpoints, the first difference first.",
    fields: { task: TASK, from: text(checkpoint, 200), to: text(checkpoint, 200) },
    required: ["task", "from", "to"],
    result: viewSchema("diff-checkpoints"),
    hints: READS,
    call: async ({ task, from, to }) => ({
      result: await splashdown.debug.diffCheckpoints(from, to, { task }),
      command: writeCommand("debug diff-checkpoints", [], { "--from": from, "--to": to, "--task": task }),
    }),
  });
}
