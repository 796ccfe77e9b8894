/** What the performers get of the real world: processes, the environment without our keys, functions, models. */
import { createModelSource } from "../../agents/models/scripted-model.js";
import type { ConnectionDeps } from "../../agents/tools/servers/server-connection.js";
import { createToolServers } from "../../agents/tools/servers/server-pool.js";
import type { PerformerDeps, SchemaCheck } from "../../agents/outcome/contract.js";
import type { ToolServers } from "../../agents/outcome/connected-server.js";
import { chooseProvider } from "../../definition/settings/provider-map.js";
import type { LoadedWorkflow } from "../../definition/model/loaded-workflow.js";
import { compileSchema } from "../../schema/compile.js";
import { childEnvironmentOf } from "../platform/environment.js";
import type { Services } from "../services/services.js";

/** What belongs to the task. */
interface OfTask extends Pick<PerformerDeps, "outputFolder" | "functionGuard"> {
  readonly toolServers: ToolServers;
}

export function createPerformerDeps(services: Services, workflow: LoadedWorkflow, ofTask: OfTask): PerformerDeps {
  const { clock, random, log, environment, keys, settings } = services;
  const { pricing } = services.settingsOf(workflow.definition);
  return {
    clock,
    random,
    log,
    processes: services.processes(),
    environment: childEnvironmentOf(environment, keys.secretVariables),
    functions: workflow.functions,
    ...ofTask,
    cliAgents: settings.cli_agents,
    checkSchema,
    modelOf: createModelSource(workflow.definition.scriptedAnswers ?? settings.scripted_answers, clock, (provider) =>
      services.models.modelOf(provider, pricing),
    ),
    chooseProvider: (provider, model) => chooseProvider(settings.provider_map, provider, model),
  };
}

const checkSchema: SchemaCheck = async (schema, value) => {
  const compiled = await compileSchema(schema);
  if (!compiled.ok) return compiled.defects;
  const verdict = compiled.validate(value);
  return verdict.ok ? [] : verdict.defects;
};

/** Processes are opened when a server is a program. */
export function openToolServers(
  { clock, processes, version, log }: Services,
  recordOf: ConnectionDeps["recordOf"],
): ToolServers {
  return createToolServers({
    clock,
    processes,
    recordOf,
    version,
    debug: (text) => log.debug(text),
    warn: (text) => log.warn(text),
  });
}
