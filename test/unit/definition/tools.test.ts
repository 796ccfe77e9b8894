import { describe, expect, it } from "vitest";
import type { ModelStep } from "../../../src/definition/model/step.js";
import type { ToolServer } from "../../../src/definition/model/tool-definition.js";
import { faultsOf, loadText } from "../../support/workflow-files.js";

const SERVERS =
  "runtime: {mcp_servers: {git: {command: git-mcp, args: [-v, 3], tools: [log, diff]}, web: {type: http, url: 'http://x'}}}";

async function toolsOf(tools: string, step = "") {
  const text = `workflow: {name: w, ${SERVERS}}\n${tools}steps: [{name: a, prompt: hello${step}}]`;
  const { definition } = await loadText(text, { files: { "/work/f.mjs": "export const add = 1;" } });
  return (definition.root.children as readonly ModelStep[])[0]?.tools;
}

const allowedOf = (tools: Awaited<ReturnType<typeof toolsOf>>) =>
  (tools as readonly ToolServer[]).map(({ server, allowed }) => [server, allowed]);

describe("the tools of a step", () => {
  it("are all of its servers where nothing is named, within what each server may give", async () => {
    const tools = await toolsOf("");
    expect(tools).toMatchObject([
      { server: "git", reach: { by: "stdio", command: ["git-mcp", "-v", "3"], environment: {} } },
      { server: "web", reach: { by: "http", url: "http://x", headers: {} } },
    ]);
    expect(allowedOf(tools)).toEqual([
      ["git", [["log", "diff"]]],
      ["web", []],
    ]);
  });

  it("are those the workflow names, and of these those the step names", async () => {
    expect(allowedOf(await toolsOf("tools: [log, web__get]\n", ", tools: [log]"))).toEqual([
      ["git", [["log", "diff"], ["log", "web__get"], ["log"]]],
      ["web", [["log", "web__get"], ["log"]]],
    ]);
    expect(await toolsOf("", ", tools: []")).toBeUndefined();
  });

  it("are functions beside servers, each only where it is named", async () => {
    const both = "tools: [{name: add, function: ./f.mjs#add, approve: always}, log]\n";
    expect(await toolsOf(both)).toMatchObject([
      { name: "add", approve: "always" },
      { server: "git" },
      { server: "web" },
    ]);
    expect(await toolsOf(both, ", tools: [add]")).toMatchObject([{ name: "add" }]);
    expect(await toolsOf(both, ", tools: [log]")).toMatchObject([
      { server: "git", required: ["log"] },
      { server: "web" },
    ]);
  });

  it("carry what the file says of a tool of a server", async () => {
    const tools = await toolsOf("tools: [{name: git__log, effects: none, approve: once, timeout: 2s}]\n");
    expect(tools).toMatchObject([
      { policies: { git__log: { effects: "none", approve: "once", timeoutMs: 2_000 } } },
      { policies: { git__log: { effects: "none" } } },
    ]);
  });

  it("must be known where they can be, and a server describes its own", async () => {
    const faulty = (tools: string, step: string) =>
      faultsOf(`workflow: {name: w, ${SERVERS}}\n${tools}steps: [{name: a, prompt: hello, tools: [${step}]}]`);
    expect(await faulty("tools: [log]\n", "lgo")).toEqual([
      expect.objectContaining({
        message: "there is no tool lgo in the tools of the workflow",
        suggestion: "did you mean log?",
      }),
    ]);
    expect(await faulty("tools: [{name: log, description: x}]\n", "log")).toEqual([
      expect.objectContaining({
        message: expect.stringContaining("description belongs to a tool that is a function") as string,
      }),
    ]);
  });
});
