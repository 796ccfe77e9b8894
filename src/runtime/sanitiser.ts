/**
 * The sanitiser of a task: knows which values of the environment are secret, and marks them with the task's keyed digest.
 */
import type { JsonValue } from "../base/json.js";
import { listCliVariables } from "../agents/cli/profiles.js";
import { listVariables } from "../agents/variables.js";
import { createRedactor } from "../base/redact.js";
import { isSecretName } from "../base/secret-shapes.js";
import { isToolServer } from "../definition/tool-definition.js";
import type { ModelStep, NodeDefinition } from "../definition/workflow.js";
import type { Sanitiser } from "../engine/ports.js";
import type { TaskVault } from "../vault/contract.js";
import type { Services } from "./services.js";

const MARK_BYTES = 4;

/** The shell's word for the folder it is in; elsewhere the same name may well hold a password. */
const WORKING_FOLDER = "PWD";

/** Every variable whose name says that it is secret counts, and every one that a step of the workflow names. */
export function createSanitiser(
  services: Pick<Services, "environment" | "keys" | "models" | "settings">,
  vault: Pick<TaskVault, "keyedDigest">,
  root: NodeDefinition,
): Sanitiser {
  const redactor = createRedactor((secret) => vault.keyedDigest("redaction", secret).subarray(0, MARK_BYTES));
  const named = new Set([
    ...listSecrets(root),
    ...listCliVariables(services.settings.cli_agents),
    ...services.keys.secretVariables,
    ...services.models.secretVariables,
  ]);
  for (const [name, value] of Object.entries(services.environment.all)) {
    if (named.has(name) || (isSecretName(name) && name !== WORKING_FOLDER)) redactor.register(value, "env");
  }
  services.models.onSecret((secret) => redactor.register(secret, "command"));
  return {
    clean: (value: JsonValue) => redactor.redactJson(value),
    cleanText: (text) => redactor.redactText(text),
  };
}

function listSecrets(node: NodeDefinition): string[] {
  if (node.node === "step") return [...node.secrets, ...(node.kind === "model" ? listServerVariables(node) : [])];
  const children: readonly NodeDefinition[] = node.children;
  return children.flatMap(listSecrets);
}

/** Variables that fill the environment and the headers of tool servers. */
function listServerVariables({ tools = [] }: ModelStep): string[] {
  const texts = tools.filter(isToolServer).flatMap(({ reach }) => {
    return Object.values(reach.by === "stdio" ? reach.environment : reach.headers);
  });
  return texts.flatMap(listVariables);
}
