import { describe, expect, it } from "vitest";
import { createEnvironment } from "../../../src/runtime/platform/environment.js";
import { createSanitiser } from "../../../src/runtime/session/sanitiser.js";
import type { Services } from "../../../src/runtime/services/services.js";
import { command, machine } from "../../support/workflow-builder.js";

function sanitise(text: string, variables: Record<string, string>): string {
  const keys = { secretVariables: ["MY_KEY"] } as unknown as Services["keys"];
  const models = {
    secretVariables: ["GATEWAY"],
    onSecret: (listener: (secret: string) => void) => (listener("printed-by-a-command"), () => true),
  } as unknown as Services["models"];
  const settings = { cli_agents: { mine: { variables: ["AGENT_PASS"] } } } as unknown as Services["settings"];
  const services = { environment: createEnvironment(variables, "/work/project"), keys, models, settings };
  const vault = { encrypted: true, keyedDigest: () => Buffer.from([1, 2, 3, 4]) };
  return createSanitiser(services, vault, machine("main", [command("a", { secrets: ["PLAIN"] })])).cleanText(text);
}

describe("the sanitiser", () => {
  it("takes out values of variables that sound secret, that a step names, and that hold our keys", () => {
    const variables = {
      DB_PASSWORD: "hunter22hunter",
      PLAIN: "named-by-a-step",
      MY_KEY: "key-of-ours-1234",
      LANG: "en_GB.UTF-8",
    };
    expect(sanitise("hunter22hunter named-by-a-step key-of-ours-1234 en_GB.UTF-8", variables)).toBe(
      "[redacted:env:01020304] [redacted:env:01020304] [redacted:env:01020304] en_GB.UTF-8",
    );
  });

  it("takes out keys of models: of variables that the settings name, and what a key command printed", () => {
    expect(sanitise("gateway-key-77 printed-by-a-command", { GATEWAY: "gateway-key-77" })).toBe(
      "[redacted:env:01020304] [redacted:command:01020304]",
    );
  });

  it("takes out what the settings have an agent given", () => {
    expect(sanitise("the-word-of-the-agent", { AGENT_PASS: "the-word-of-the-agent" })).toBe("[redacted:env:01020304]");
  });

  it("leaves the folder alone that a shell calls PWD", () => {
    expect(sanitise("audit of /work/project", { PWD: "/work/project" })).toBe("audit of /work/project");
  });
});
