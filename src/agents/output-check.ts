/** Holds a step's output against the schema its definition declares. */
import type { JsonValue } from "../base/json.js";
import type { StepWork } from "../engine/ports.js";
import type { PerformerDeps, SchemaFault } from "./contract.js";
import { outputInvalid } from "./failure.js";
import { formatPlainValue } from "./plain-value.js";

/** Errors: STEP_OUTPUT_INVALID with the faults and the output, cut. */
export async function requireDeclaredOutput(deps: PerformerDeps, work: StepWork, output: JsonValue): Promise<void> {
  const { outputSchema } = work.definition;
  if (outputSchema === undefined) return;
  const plain = formatPlainValue(output);
  const faults = await deps.checkSchema(outputSchema, plain);
  if (faults.length === 0) return;
  throw outputInvalid(
    `the output is not what the step declares: ${faults.map(formatFault).join("; ")}`,
    JSON.stringify(plain),
  );
}

/** `/path message`, with a word for the whole. */
export function formatFault(fault: SchemaFault): string {
  return `${fault.path === "" ? "the value" : fault.path} ${fault.message}`;
}
