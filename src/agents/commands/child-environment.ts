/**
 * The environment of children: a minimal one by policy, what the step names, and what the protocol says.
 *
 * A5: whatever a step names, a variable that holds a key of ours is left out. All names of ours begin with SPLASHDOWN_ or
 * with WORKFLOW_CHECKPOINT_; of those a child sees only the five below.
 */
import { SplashdownError } from "../../base/errors.js";
import type { JsonObject } from "../../base/json.js";
import type { StepWork } from "../../engine/model/ports.js";
import type { PerformerDeps } from "../outcome/contract.js";
import { isVariableName } from "../../process/launcher.js";
import { isOwnVariable, requireSecrets } from "../outcome/secrets.js";

const INHERITED = ["PATH", "HOME", "LANG", "TZ", "TMPDIR", "USER", "SHELL", "TERM"];
const INHERITED_PREFIX = "LC_";

/** The few variables that every child gets. */
export function inheritedEnvironment(deps: Pick<PerformerDeps, "environment">): Record<string, string> {
  // A shell below us, so that bash never takes its stdin for a remote login and reads ~/.bashrc.
  const environment: Record<string, string> = { SHLVL: "1" };
  for (const [name, value] of Object.entries(deps.environment)) {
    const isInherited = INHERITED.includes(name) || name.startsWith(INHERITED_PREFIX);
    if (isInherited && value !== undefined) environment[name] = value;
  }
  return environment;
}

/** Shape: `environment` of the rendered step over the secrets it names over the inherited few; the protocol's own last. */
export function computeEnvironment(deps: PerformerDeps, work: StepWork): Record<string, string> {
  const environment = inheritedEnvironment(deps);
  for (const [name, value] of namedVariables(deps, work)) {
    requireVariableName(work, name);
    if (!isOwnVariable(name)) environment[name] = value;
    else deps.log.warn(`step ${work.step.path} names the variable ${name}, which is not handed to children`);
  }
  return {
    ...environment,
    SPLASHDOWN_TASK: work.task.name,
    SPLASHDOWN_STEP: work.step.path,
    SPLASHDOWN_ATTEMPT: String(work.step.attempt),
    SPLASHDOWN_OUTPUT_FOLDER: deps.outputFolder,
    SPLASHDOWN_IDEMPOTENCY_KEY: work.step.idempotencyKey,
  };
}

function namedVariables(deps: PerformerDeps, work: StepWork): [string, string][] {
  const named: [string, string][] = [...requireSecrets(deps, work)];
  const rendered = (work.rendered["environment"] ?? {}) as JsonObject;
  for (const [name, value] of Object.entries(rendered)) {
    if (value !== undefined && value !== null)
      named.push([name, typeof value === "string" ? value : JSON.stringify(value)]);
  }
  return named;
}

/** A variable that the definition names must arrive. Errors: VALUE_UNSUPPORTED. */
function requireVariableName(work: StepWork, name: string): void {
  if (isVariableName(name)) return;
  const text = `step ${work.step.path} names the variable ${JSON.stringify(name)}, and no shell can hand on that name`;
  throw new SplashdownError("VALUE_UNSUPPORTED", text, { details: { name, step: work.step.path } });
}
