/** The programs that a workflow starts or calls, by name: what a person sees before a task from elsewhere goes on. */
import { isToolServer, type ToolDefinition, type ToolServer } from "../../definition/model/tool-definition.js";
import type { StepDefinition } from "../../definition/model/step.js";
import type { WorkflowDefinition } from "../../definition/model/workflow.js";
import { listPlannedSteps } from "./planned-steps.js";

/** Shape: one text each, without repetition, in the order of the file. */
export function listPrograms(definition: Pick<WorkflowDefinition, "root" | "hooks">): string[] {
  return [...new Set(listPlannedSteps(definition).flatMap(({ step }) => [...listOf(step), ...listProbe(step)]))];
}

function listProbe({ probe }: StepDefinition): string[] {
  return probe === undefined ? [] : [`command ${probe.join(" ")}`];
}

function listOf(step: StepDefinition): string[] {
  switch (step.kind) {
    case "command":
    case "script":
      return [`command ${step.command.join(" ")}`];
    case "function":
      return [`function ${step.function}`];
    case "model":
      return (step.tools ?? []).map(nameTool);
    case "cli":
      return [`agent ${[step.cli, ...step.arguments].join(" ")}`];
    case "http":
      return [`request ${step.method} ${step.url}`];
    case "mcp":
      return [nameServer(step.server)];
    case "scorer":
      return step.scorer.by === "command" ? [`command ${step.scorer.command.join(" ")}`] : [];
    default:
      return [];
  }
}

function nameTool(tool: ToolDefinition): string {
  return isToolServer(tool) ? nameServer(tool) : `function ${tool.function}`;
}

function nameServer({ server, reach }: ToolServer): string {
  return `tool server ${server}: ${reach.by === "stdio" ? reach.command.join(" ") : reach.url}`;
}
