/** A step to be added, as a function or a command describes it. */
import { SplashdownError } from "../../base/errors.js";
import { isJsonObject, type JsonValue } from "../../base/json.js";
import { buildAddedStep, type AddedStep } from "../../definition/compile/added-step.js";

/** Errors: STEP_FAILED, not to be tried again, with all that is wrong. `said` names where it was said. */
export function requireAddedStep(value: JsonValue, said: string): AddedStep {
  const checked = isJsonObject(value) ? buildAddedStep(value) : { faults: ["it is not an object"] };
  if ("step" in checked) return checked.step;
  const name = isJsonObject(value) && typeof value["name"] === "string" ? ` ${value["name"]}` : "";
  const message = `the step${name} of ${said} cannot be added: ${checked.faults.join("; ")}`;
  throw new SplashdownError("STEP_FAILED", message, { details: { retryable: false } });
}
