/**
 * The sanitiser of a task: knows which values of the environment are secret, and marks them with the task's keyed digest.
 */
import { isAbsolute } from "node:path";
import type { JsonValue } from "../../base/json.js";
import { listCliVariables } from "../../agents/installed-agents/profiles.js";
import { listAddressSecrets, listVariables } from "../../agents/outcome/variables.js";
import { createRedactor } from "../../base/redact.js";
import { isSecretName } from "../../base/secret-shapes.js";
import { isToolServer, type ServerReach } from "../../definition/model/tool-definition.js";
import type { NodeDefinition } from "../../definition/model/workflow.js";
import type { StepDefinition } from "../../definition/model/step.js";
import type { Sanitiser } from "../../engine/model/ports.js";
import type { TaskVault } from "../../vault/contract.js";
import type { Services } from "../services/services.js";

const MARK_BYTES = 4;

/** The shell's word for the folder it is in; elsewhere the same name may well hold a password. */
const WORKING_FOLDER = "PWD";

/** Every variable whose name says that it is secret counts, and every one that a step of the workflow names. */
export function createSanitiser(
  services: Pick<Services, "environment" | "keys" | "models" | "settings">,
  vault: Pick<TaskVault, "keyedDigest" | "encrypted">,
  root: NodeDefinition,
): Sanitiser {
  // Without encryption the digest's key is public, and a short secret could be found from it by trying: no mark tells it then.
  const redactor = createRedactor((secret) =>
    vault.encrypted ? vault.keyedDigest("redaction", secret).subarray(0, MARK_BYTES) : Buffer.alloc(MARK_BYTES),
  );
  const named = new Set([
    ...listSecrets(root),
    ...listCliVariables(services.settings.cli_agents),
    ...services.keys.secretVariables,
    ...services.models.secretVariables,
  ]);
  const mentioned = new Set(listArgumentVariables(root));
  for (const [name, value] of Object.entries(services.environment.all)) {
    const isSecret = named.has(name) || (mentioned.has(name) && !isPlace(value));
    if (isSecret || (isSecretName(name) && name !== WORKING_FOLDER)) redactor.register(value, "env");
  }
  services.models.onSecret((secret) => redactor.register(secret, "command"));
  return {
    clean: (value: JsonValue) => redactor.redactJson(value),
    cleanText: (text) => redactor.redactText(text),
  };
}

function listSecrets(root: NodeDefinition): string[] {
  return listSteps(root).flatMap((step) => [...step.secrets, ...reachesOf(step).flatMap(listServerVariables)]);
}

function listSteps(node: NodeDefinition): StepDefinition[] {
  if (node.node === "step") return [node];
  const children: readonly NodeDefinition[] = node.children;
  return children.flatMap(listSteps);
}

function reachesOf(step: StepDefinition): ServerReach[] {
  const tools = step.kind === "model" ? (step.tools ?? []) : [];
  return tools.filter(isToolServer).map(({ reach }) => reach);
}

/** Variables that fill the environment, the headers and the more telling parts of the address of a tool server. */
function listServerVariables(reach: ServerReach): string[] {
  if (reach.by === "stdio") return Object.values(reach.environment).flatMap(listVariables);
  return [...Object.values(reach.headers).flatMap(listVariables), ...listAddressSecrets(reach.url)];
}

/** An argument may be a key, a folder or anything else. */
function listArgumentVariables(root: NodeDefinition): string[] {
  return listSteps(root)
    .flatMap(reachesOf)
    .flatMap((reach) => (reach.by === "stdio" ? reach.command.flatMap(listVariables) : []));
}

function isPlace(value: string): boolean {
  return isAbsolute(value) || URL.canParse(value);
}
