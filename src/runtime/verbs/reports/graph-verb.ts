/** `graph`: a workflow file as a drawing. The file is loaded and checked as for a run; nothing runs. */
import type { GraphFormat, GraphView } from "../../views/face-views.js";
import { formatDot } from "./dot-text.js";
import { drawWorkflow, type Frame } from "./drawing.js";
import { formatMermaid } from "./mermaid-text.js";
import type { Services } from "../../services/services.js";
import { loadDefinition } from "../../tasks/workflow-loading.js";

const FORMATS: Readonly<Record<GraphFormat, (root: Frame) => string>> = { mermaid: formatMermaid, dot: formatDot };

/** Errors: WORKFLOW_NOT_FOUND, WORKFLOW_INVALID with every fault. */
export async function graphWorkflow(services: Services, file: string, format: GraphFormat): Promise<GraphView> {
  const definition = await loadDefinition(services, file);
  return { file, workflow: definition.name, format, text: FORMATS[format](drawWorkflow(definition)) };
}
