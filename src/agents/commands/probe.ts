/**
 * Asks a step's probe what became of an attempt of unknown outcome.
 *
 * Shape: exit 0 is done, with the output on stdout, bare or in a report like the step's own; 3 is not done; anything
 * else, and no answer in time, is not known. The probe sees what the step saw: its environment with the same idempotency
 * key, and in its templates `workflow.input`, `input`, `step.idempotency_key` and the outputs it refers to.
 */
import { isErrorCode, messageOf } from "../../base/errors.js";
import type { JsonObject, JsonValue } from "../../base/json.js";
import { LIMITS } from "../../base/limits.js";
import { SecretMarks } from "../../definition/templates/secret-marks.js";
import { renderValue } from "../../definition/templates/templates.js";
import type { Performer, StepWork } from "../../engine/model/ports.js";
import { requireCommand, runChild } from "./child-run.js";
import type { PerformerDeps } from "../outcome/contract.js";
import { parseReport } from "../outcome/report.js";
import { fillSecrets } from "../outcome/secrets.js";
import { parseStdout } from "./specialist-protocol.js";

type ProbeAnswer = Awaited<ReturnType<Performer["probe"]>>;

const PROBE_DONE = 0;
const PROBE_NOT_DONE = 3;

/** Errors: none but a mistake of ours; a probe that cannot be run does not know. */
export async function askProbe(deps: PerformerDeps, work: StepWork, signal: AbortSignal): Promise<ProbeAnswer> {
  if (work.definition.probe === undefined) return undefined;
  const timeout = new AbortController();
  const cancelTimeout = deps.clock.schedule(LIMITS.probeTimeoutMs, () => timeout.abort());
  try {
    const filled = fillSecrets(deps, renderProbe(deps, work));
    const command = requireCommand(filled.rendered["probe"]);
    const result = await runChild(deps, {
      work: filled,
      command,
      input: "",
      signal: AbortSignal.any([signal, timeout.signal]),
    });
    if ("status" in result) return doesNotKnow(deps, work, "it did not end in time");
    if (result.exitCode === PROBE_NOT_DONE) return { done: false };
    if (result.exitCode === PROBE_DONE) return { done: true, output: parseReport(parseStdout(result.stdout)).output };
    return doesNotKnow(deps, work, `it exited with ${result.exitCode ?? result.signal ?? ""}`);
  } catch (error) {
    if (isErrorCode(error, "INTERNAL")) throw error;
    return doesNotKnow(deps, work, messageOf(error));
  } finally {
    cancelTimeout();
  }
}

function doesNotKnow(deps: PerformerDeps, work: StepWork, why: string): undefined {
  deps.log.warn(`the probe of step ${work.step.path} does not know: ${why}`);
  return undefined;
}

/** Errors: TEMPLATE_FAILED. */
function renderProbe({ random }: PerformerDeps, work: StepWork): StepWork {
  const marks = new SecretMarks(work.definition.secrets, random);
  const { step, inputs, input, outputs, phase, workflowFolder } = work;
  const known: JsonObject = {
    workflow: { input: inputs, dir: workflowFolder },
    input,
    phase: { name: phase.name, number: phase.number, iteration: phase.iteration },
    step: { name: step.name, path: step.path, visit: step.visit, idempotency_key: step.idempotencyKey },
    secrets: marks.values,
  };
  const scope = (name: string): JsonValue | undefined => {
    if (Object.hasOwn(known, name)) return known[name];
    return Object.hasOwn(outputs, name) ? { output: outputs[name] } : undefined;
  };
  const placed = Object.assign(scope, { locate: work.locate });
  const probe = renderValue(work.definition.probe ?? [], placed, { place: `${step.path}.probe` });
  const { value, places } = marks.settle({ probe });
  return { ...work, rendered: { ...work.rendered, ...value }, secretPlaces: [...work.secretPlaces, ...places] };
}
