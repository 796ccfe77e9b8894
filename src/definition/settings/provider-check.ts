/**
 * Checks the settings of providers and tool servers: which field belongs to which provider, and what it needs.
 *
 * Source: CONDUCTOR-YAML 1.3.
 */
import type { McpServer, Provider, Runtime } from "../../schema/generated/workflow.js";
import type { FaultList, FaultPath } from "../faults/fault.js";

/** Fields that belong to one provider, or one kind of them; the others (base_url, api_key, headers, …) are for all. */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  copilot: ["runtime_url", "runtime_token"],
  claude: ["auth_token"],
  "claude-agent-sdk": ["auth_token"],
  hermes: ["hermes_home", "hermes_toolsets", "hermes_skip_memory", "hermes_skip_context_files"],
  aca: [
    ...(["pool_endpoint", "api_version", "inner_provider", "identifier_scope"] as const),
    ...(["egress", "lifecycle", "auth"] as const),
  ],
};
const OWNED = new Set(Object.values(FIELDS).flat());

/** Adds a fault for each field in the wrong place and each that is missing. */
export function checkProviders(runtime: Runtime | undefined, faults: FaultList): void {
  const provider = runtime?.provider;
  if (typeof provider === "object") checkProvider(provider, faults);
  for (const [name, server] of Object.entries(runtime?.mcp_servers ?? {})) {
    checkServer(server, ["workflow", "runtime", "mcp_servers", name], faults);
  }
}

function checkProvider(provider: Exclude<Provider, string>, faults: FaultList): void {
  const at = ["workflow", "runtime", "provider"];
  const own = Object.hasOwn(FIELDS, provider.name) ? (FIELDS[provider.name] ?? []) : [];
  for (const key of Object.keys(provider)) {
    if (!OWNED.has(key) || own.includes(key)) continue;
    const owners = Object.keys(FIELDS).filter((name) => FIELDS[name]?.includes(key));
    faults.add({
      code: "misplaced_key",
      path: [...at, key],
      message: `${key} has no meaning for the provider ${provider.name}`,
      suggestion: `it belongs to: ${owners.join(", ")}`,
      atKey: true,
    });
  }
  if (provider.runtime_token !== undefined && provider.runtime_url === undefined) {
    const message = "runtime_token needs runtime_url";
    faults.add({
      code: "missing_key",
      path: [...at, "runtime_token"],
      message,
      suggestion: "add runtime_url",
      atKey: true,
    });
  }
  if (provider.name === "aca" && provider.pool_endpoint === undefined) {
    const message = "the provider aca has no pool_endpoint";
    faults.add({ code: "missing_key", path: at, message, suggestion: "add pool_endpoint: https://…", atKey: true });
  }
}

function checkServer(server: McpServer, at: FaultPath, faults: FaultList): void {
  const type = server.type ?? "stdio";
  const needed = type === "stdio" ? "command" : "url";
  if (server[needed] === undefined) {
    const message = `the tool server ${String(at.at(-1))} of type ${type} has no ${needed}`;
    const isOther = type === "stdio" && server.url !== undefined;
    faults.add({
      code: "missing_key",
      path: at,
      message,
      suggestion: isOther ? "write type: http" : `add ${needed}`,
      atKey: true,
    });
  }
}
