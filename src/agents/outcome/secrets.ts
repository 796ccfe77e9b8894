/**
 * Fills in secrets at the moment of use.
 *
 * The engine renders `{{ secrets.NAME }}` to itself, so that no event, snapshot or hash holds a secret, and lists the
 * places where a template did so. Here, where the work is handed to a program, a function or a model, the variable of
 * that name takes those places. The same characters in an output, an input, an answer or a page are data and stay.
 * What a set step stores keeps the placeholder.
 * Source: STORAGE 1.13: secrets are filled in again at use, never restored from disk.
 */
import { SplashdownError } from "../../base/errors.js";
import { isJsonObject } from "../../base/json.js";
import { fillPlaces } from "../../definition/templates/secret-marks.js";
import type { StepWork } from "../../engine/model/ports.js";
import type { PerformerDeps } from "./contract.js";

/** All names of ours begin so; those that hold keys among them. */
const OWN_PREFIXES = ["SPLASHDOWN_", "WORKFLOW_CHECKPOINT_"];

/** True for a variable of ours, which no step may name (A5). */
export function isOwnVariable(name: string): boolean {
  return OWN_PREFIXES.some((prefix) => name.startsWith(prefix));
}

/** The step's secrets by name. Errors: INPUT_INVALID, not to be retried, for one that is not set or is ours. */
export function requireSecrets(deps: PerformerDeps, work: StepWork): ReadonlyMap<string, string> {
  const secrets = new Map<string, string>();
  for (const name of work.definition.secrets) {
    const details = { secret: name, step: work.step.path };
    if (isOwnVariable(name)) {
      const text = `step ${work.step.path} names the secret ${name}, which is splashdown's own and is handed to nobody`;
      throw new SplashdownError("INPUT_INVALID", text, { details });
    }
    const value = deps.environment[name];
    if (value === undefined) {
      const text = `step ${work.step.path} needs the secret ${name}: set the environment variable of that name, then resume`;
      throw new SplashdownError("INPUT_INVALID", text, { details });
    }
    secrets.set(name, value);
  }
  return secrets;
}

/** The work with the secrets in the places that its own templates named, and in no other. Errors: INPUT_INVALID. */
export function fillSecrets(deps: PerformerDeps, work: StepWork): StepWork {
  if (work.definition.secrets.length === 0) return work;
  const secrets = requireSecrets(deps, work);
  const rendered = fillPlaces({ ...work.rendered, input: work.input }, work.secretPlaces, secrets);
  return { ...work, rendered, input: isJsonObject(rendered["input"]) ? rendered["input"] : work.input };
}
