/** How sure a task is of what it found: the report as a view, with its text for people. */
import { describeTaskConfidence } from "../../../engine/reports/confidence-report.js";
import { formatConfidence } from "../../../engine/reports/confidence-text.js";
import type { ConfidenceView } from "../../views/face-views.js";
import { findTask } from "../../tasks/finding.js";
import { openTask, readState, whileOpen } from "../../tasks/reading.js";
import type { Services } from "../../services/services.js";

/** Errors: TASK_NOT_FOUND, those of reading. */
export async function readConfidence(services: Services, reference: string): Promise<ConfidenceView> {
  const task = await findTask(services, reference, "read");
  return whileOpen(task, async () => {
    const { vault } = await services.audit.watch({ task, verb: "show" }, openTask(services, task));
    await services.audit.note({ task, vault }, { event: "read", verb: "show", details: { confidence: true } });
    const { folded } = await readState(services, task);
    const report = describeTaskConfidence(folded.state);
    return { task: task.name, ...report, text: formatConfidence(report) };
  });
}
