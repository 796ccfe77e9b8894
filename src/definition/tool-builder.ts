/** Builds the tools of a workflow. */
import type { Tool } from "../schema/generated/workflow.js";
import type { FaultList } from "./fault.js";
import { buildOutputSchema, optional, optionalMs } from "./plain-parts.js";
import type { ToolDefinition } from "./tool-definition.js";

/** Shape: by name, in the order of the file; a tool that is only named is `undefined`. */
export function buildTools(
  tools: readonly Tool[],
  codeDigests: ReadonlyMap<string, string>,
  faults: FaultList,
): ReadonlyMap<string, ToolDefinition | undefined> {
  const built = new Map<string, ToolDefinition | undefined>();
  for (const [index, tool] of tools.entries()) {
    const name = typeof tool === "string" ? tool : tool.name;
    if (built.has(name)) faults.add({ path: ["tools", index], message: `there are two tools ${name}` });
    built.set(name, typeof tool === "string" ? undefined : buildTool(tool, codeDigests));
  }
  return built;
}

function buildTool(tool: Exclude<Tool, string>, codeDigests: ReadonlyMap<string, string>): ToolDefinition {
  return {
    name: tool.name,
    ...optional("description", tool.description),
    function: tool.function,
    parameters: buildOutputSchema(tool.input ?? {}),
    effects: tool.effects ?? "external",
    ...optionalMs("timeoutMs", tool.timeout),
    ...optional("code", codeDigests.get(tool.function.split("#")[0] ?? "")),
  };
}
