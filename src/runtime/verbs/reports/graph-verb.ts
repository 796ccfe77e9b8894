/** `graph`: a workflow as a drawing. A file is loaded and checked as for a run; nothing runs. */
import type { WorkflowDefinition } from "../../../definition/model/workflow.js";
import { readTask } from "../../../recovery/fold.js";
import type { GraphFormat, GraphFrame, GraphView } from "../../views/face-views.js";
import { formatDot } from "./dot-text.js";
import { drawWorkflow } from "./drawing.js";
import { formatMermaid } from "./mermaid-text.js";
import type { Services } from "../../services/services.js";
import { findTask } from "../../tasks/finding.js";
import { explainEmpty, openTask, whileOpen } from "../../tasks/reading.js";
import { loadDefinition } from "../../tasks/workflow-loading.js";

const FORMATS: Readonly<Record<GraphFormat, (root: GraphFrame) => string>> = { mermaid: formatMermaid, dot: formatDot };

/** Errors: WORKFLOW_NOT_FOUND, WORKFLOW_INVALID with every fault. */
export async function graphWorkflow(services: Services, file: string, format: GraphFormat): Promise<GraphView> {
  return { file, ...drawAs(await loadDefinition(services, file), format) };
}

/** The definition that the task goes by now. Errors: TASK_NOT_FOUND, those of reading. */
export async function graphTask(services: Services, reference: string, format: GraphFormat): Promise<GraphView> {
  const task = await findTask(services, reference, "read");
  return whileOpen(task, async () => {
    const opened = await services.audit.watch({ task, verb: "graph" }, openTask(services, task));
    await services.audit.note(opened, { event: "read", verb: "graph" });
    const folded = await readTask(opened);
    if (folded.state.task === undefined) throw await explainEmpty(services, { ...opened, folded });
    return { task: task.name, ...drawAs(folded.state.task.definition, format) };
  });
}

function drawAs(
  definition: WorkflowDefinition,
  format: GraphFormat,
): Pick<GraphView, "workflow" | "format" | "text" | "root"> {
  const root = drawWorkflow(definition);
  return { workflow: definition.name, format, text: FORMATS[format](root), root };
}
