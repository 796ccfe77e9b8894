import { describe, expect, it } from "vitest";
import type { ModelStep } from "../../../src/definition/model/step.js";
import { faultsOf, loadText } from "../../support/workflow-files.js";

async function optionsOf(runtime: string, step = ""): Promise<ModelStep["options"]> {
  const text = `workflow: {name: w, entry_point: a, runtime: {${runtime}}}
agents:
  - {name: a, prompt: hello${step === "" ? "" : `, ${step}`}}`;
  return (await modelOf(text)).options;
}

async function modelOf(text: string, environment = {}): Promise<ModelStep> {
  const { definition } = await loadText(text, { environment });
  return (definition.root.children as readonly ModelStep[])[0] as ModelStep;
}

describe("options of model steps", () => {
  it("are absent where nothing is said", async () => {
    expect(await optionsOf("provider: openai")).toBeUndefined();
  });

  it("carry the keys of runtime, in the names of the file", async () => {
    expect(
      await optionsOf(
        "provider: openai, temperature: 0.2, max_tokens: 900, timeout: 30, max_session_seconds: 60, max_agent_iterations: 7, " +
          "default_reasoning_effort: high, default_context_tier: long_context, working_dir: sub, skills: [s], plugins: [p]",
      ),
    ).toEqual({
      temperature: 0.2,
      max_tokens: 900,
      timeout: 30,
      max_agent_iterations: 7,
      reasoning: { effort: "high" },
      context_tier: "long_context",
      working_dir: "sub",
      skills: ["s"],
      plugins: ["p"],
    });
  });

  it("prefer what the step says itself", async () => {
    const options = await optionsOf(
      "provider: openai, default_reasoning_effort: high, max_agent_iterations: 7, skills: [s]",
      "reasoning: {effort: low}, max_agent_iterations: 2, skills: [], session_key: ' one '",
    );
    expect(options).toEqual({
      reasoning: { effort: "low" },
      max_agent_iterations: 2,
      skills: [],
      session_key: "one",
    });
  });

  it("fill the defaults of tool_output and validator", async () => {
    expect(await optionsOf("provider: openai, tool_output: {max_chars: 2000}", "validator: {criteria: short}")).toEqual(
      {
        tool_output: { enabled: true, max_chars: 2000, spill_to_file: true },
        validator: { criteria: "short", max_retries: 1 },
      },
    );
  });

  it("carry the provider's settings, and none of another provider's", async () => {
    const runtime = "provider: {name: openai, base_url: 'http://x/v1'}, max_tokens: 9";
    expect(await optionsOf(runtime)).toEqual({
      provider: { name: "openai", base_url: "http://x/v1" },
      max_tokens: 9,
    });
    expect(await optionsOf(runtime, "provider: claude")).toEqual({ max_tokens: 9 });
  });

  it("never hold a key: ${NAME} stays where secrets may stand and is filled elsewhere", async () => {
    const model = await modelOf(
      `workflow:
  name: w
  entry_point: a
  runtime:
    provider: {name: openai, base_url: "\${URL}?key=\${SECRET}", api_key: "\${SECRET}", headers: {x: "\${SECRET}"}}
    mcp_servers:
      git: {command: "\${URL}", args: ["\${SECRET}"], env: {TOKEN: "\${SECRET}"}}
      far: {type: http, url: "\${URL}/\${SECRET}"}
agents: [{name: a, prompt: hello}]`,
      { URL: "http://x", SECRET: "canary-5531" },
    );
    expect(JSON.stringify(model)).not.toContain("canary-5531");
    expect(model.options).toEqual({
      provider: { name: "openai", base_url: "${URL}?key=${SECRET}", api_key: "${SECRET}", headers: { x: "${SECRET}" } },
    });
    expect(model.tools).toMatchObject([
      { reach: { by: "stdio", command: ["http://x", "${SECRET}"], environment: { TOKEN: "${SECRET}" } } },
      { reach: { by: "http", url: "${URL}/${SECRET}" } },
    ]);
  });

  it("bound all turns of an attempt by max_session_seconds, unless the step has a timeout", async () => {
    const timeoutOf = async (runtime: string, step: string) =>
      (await modelOf(`workflow: {name: w, runtime: {${runtime}}}\nsteps: [{name: a, prompt: x${step}}]`)).timeoutMs;
    expect(await timeoutOf("max_session_seconds: 60", "")).toBe(60_000);
    expect(await timeoutOf("max_session_seconds: 60", ", max_session_seconds: 5")).toBe(5_000);
    expect(await timeoutOf("max_session_seconds: 60", ", timeout: 7s")).toBe(7_000);
  });

  it("try a provider that stumbles three times where nothing is said of retries, and follow what is said", async () => {
    const retryOf = async (step: string) =>
      (await modelOf(`workflow: {name: w}\nsteps: [{name: a, prompt: x${step}}]`)).retry;
    expect(await retryOf("")).toMatchObject({ maxAttempts: 3, delayMs: 2_000, on: ["provider_error", "timeout"] });
    expect(await retryOf(", retry: {max_attempts: 2}")).not.toHaveProperty("on");
    expect(await retryOf(", retry: {max_attempts: 2, retry_on: [timeout]}")).toMatchObject({
      maxAttempts: 2,
      on: ["timeout"],
    });
  });

  it("change what a step does, so its fingerprint", async () => {
    const text = (temperature: number): string =>
      `workflow: {name: w, runtime: {temperature: ${temperature}}}\nsteps: [{name: a, prompt: hello}]`;
    expect((await modelOf(text(1))).fingerprint).not.toBe((await modelOf(text(0))).fingerprint);
  });
});

describe("instructions", () => {
  it("stand before the prompt, joined, as they are", async () => {
    const model = await modelOf(
      "workflow: {name: w, instructions: [Be brief., 'No {{ braces }} here.']}\nsteps: [{name: a, prompt: 'Say {{ workflow.name }}'}]",
    );
    expect(model.instructions).toBe("Be brief.\n\nNo {{ braces }} here.");
    expect(model.prompt).toBe("Say {{ workflow.name }}");
  });
});

describe("settings of providers", () => {
  const within = (runtime: string): string =>
    `workflow: {name: w, runtime: {${runtime}}}\nsteps: [{name: a, prompt: hello}]`;
  const TABLE = [
    [
      "provider: {name: openai, runtime_url: x}",
      "runtime_url has no meaning for the provider openai",
      "it belongs to: copilot",
    ],
    [
      "provider: {name: claude, pool_endpoint: 'https://x'}",
      "pool_endpoint has no meaning for the provider claude",
      "it belongs to: aca",
    ],
    [
      "provider: {name: copilot, auth_token: x}",
      "auth_token has no meaning for the provider copilot",
      "it belongs to: claude, claude-agent-sdk",
    ],
    ["provider: {name: copilot, runtime_token: x}", "runtime_token needs runtime_url", "add runtime_url"],
    ["provider: {name: aca}", "the provider aca has no pool_endpoint", "add pool_endpoint: https://…"],
    [
      "provider: {name: openai, bas_url: x}",
      'unknown key "bas_url" in workflow.runtime.provider',
      "did you mean base_url?",
    ],
    ["mcp_servers: {git: {args: [x]}}", "the tool server git of type stdio has no command", "add command"],
    ["mcp_servers: {git: {url: 'http://x'}}", "the tool server git of type stdio has no command", "write type: http"],
    ["mcp_servers: {git: {type: sse, command: x}}", "the tool server git of type sse has no url", "add url"],
  ] as const;
  it.each(TABLE)("%s is refused", async (runtime, message, suggestion) => {
    const [fault] = await faultsOf(within(runtime));
    expect(fault).toMatchObject({ message, suggestion, line: 1 });
  });

  it("of a provider nobody knows may be any", async () => {
    const { definition } = await loadText(within("provider: {name: mine, base_url: 'http://x'}"));
    expect(definition.root.children[0]).toMatchObject({
      provider: "mine",
      options: { provider: { base_url: "http://x" } },
    });
  });
});
