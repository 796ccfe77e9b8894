/** Holds values against schemas: a step's output against what its definition declares, a tool's against its server's. */
import { SplashdownError } from "../../base/errors.js";
import type { JsonObject, JsonValue } from "../../base/json.js";
import type { StepWork } from "../../engine/model/ports.js";
import type { PerformerDeps, SchemaFault } from "./contract.js";
import { outputInvalid } from "./failure.js";
import { formatPlainValue } from "../../base/plain-value.js";

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

/** Before anything is done or paid for. Errors: WORKFLOW_INVALID, in vain again, for a schema that nothing can be held against. */
export async function requireUsableSchema(
  { checkSchema }: PerformerDeps,
  { definition, step }: StepWork,
): Promise<void> {
  const { outputSchema } = definition;
  if (outputSchema === undefined) return;
  const fault = (await checkSchema(outputSchema, null)).find(({ keyword }) => keyword === "schema");
  if (fault === undefined) return;
  throw new SplashdownError(
    "WORKFLOW_INVALID",
    `the output that ${step.path} declares cannot be used: ${fault.message}`,
    {
      details: { faults: [], retryable: false },
    },
  );
}

/** Schemas of others that were told of as faulty. */
const toldOf = new WeakSet<JsonObject>();

/** By the schema of a server: what cannot be checked here is let through and told once, as the server checks it itself. */
export async function checkAgainst(
  { checkSchema, log }: PerformerDeps,
  schema: JsonObject,
  value: JsonValue,
): Promise<readonly SchemaFault[]> {
  const faults = await checkSchema(schema, value);
  const ofSchema = faults.find(({ keyword }) => keyword === "schema");
  if (ofSchema === undefined) return faults;
  if (!toldOf.has(schema)) log.warn(`a schema of a tool cannot be used and is not checked: ${ofSchema.message}`);
  toldOf.add(schema);
  return [];
}

/** `/path message`, with a word for the whole. */
export function formatFault(fault: SchemaFault): string {
  return `${fault.path === "" ? "the value" : fault.path} ${fault.message}`;
}
