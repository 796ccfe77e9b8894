/** Mercury as a command: a program that gets its work as JSON and reports as JSON. */
import type { StepOutcome, StepSink, StepWork } from "../../engine/model/ports.js";
import { exitError, requireCommand, runChild } from "./child-run.js";
import type { PerformerDeps } from "../outcome/contract.js";
import { judgeFinished } from "../outcome/failure.js";
import { formatJsonText } from "../../base/plain-value.js";
import { requireDeclaredOutput } from "../outcome/output-check.js";
import { parseReport } from "../outcome/report.js";
import { ControlChannel, formatRequest, parseStdout } from "./specialist-protocol.js";

export async function performCommand(
  deps: PerformerDeps,
  work: StepWork,
  { sink, signal }: { readonly sink: StepSink; readonly signal: AbortSignal },
): Promise<StepOutcome> {
  const refusal = new AbortController();
  const control = new ControlChannel(sink, deps.log, () => refusal.abort());
  const command = requireCommand(work.rendered["command"]);
  const result = await runChild(deps, {
    work,
    command,
    input: formatJsonText(formatRequest(work)),
    onControlLine: control.receive,
    onActivity: sink.alive,
    spawned: (process) => sink.spawned(process),
    signal: AbortSignal.any([signal, refusal.signal]),
  });
  await control.settled();
  if ("status" in result) return result;
  if (result.exitCode !== 0) throw exitError(command, result);
  return judgeFinished(async () => {
    const outcome = parseReport(parseStdout(result.stdout));
    await requireDeclaredOutput(deps, work, outcome.output);
    return result.stderrTail === "" ? outcome : { ...outcome, stderr: result.stderrTail };
  });
}
