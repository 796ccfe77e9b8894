/** One call of a tool of a server. */
import type { McpStep } from "../model/step.js";
import type { FileKind } from "./kind.js";
import { chooseTool } from "./tool-builder.js";

export const MCP: FileKind<McpStep> = {
  types: ["mcp"],
  signs: ["server", "tool"],
  keys: ["server", "tool"],
  onlyInFiles: true,
  // What the tool may do is known, and recorded, with its call: the step does nothing but make it.
  effects: "none",
  endedBy: "performer",
  isWork: true,
  build: (step, { common, site }) => {
    const { tools, faults } = site.context;
    return { ...common, kind: "mcp", effects: "none", ...chooseTool(tools, { step, at: site.at, faults }) };
  },
  render: (node) => ({ server: node.server.server, tool: node.tool }),
};
