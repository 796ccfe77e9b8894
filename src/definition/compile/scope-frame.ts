import type { MachineScope } from "../model/workflow.js";

/** What a scope is called and where it goes on. */
export type ScopeFrame = Pick<
  MachineScope,
  "node" | "name" | "path" | "description" | "dependsOn" | "startsOn" | "when" | "routes" | "onError"
>;
