/** Canaries that come back from tool servers, agents and their failures, in a task that is not even sealed. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { copyFileSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { PROJECT_FOLDER } from "../../support/built-program.js";
import { CommandPlace } from "../../support/command-place.js";
import { openModelPlace, RUN_FLOW } from "../../support/model-place.js";
import { answer, goodAnswer, toolAnswer } from "../../support/raw-server.js";

const CANARY = "canary-7f3a9c1e55d2";
const EVERYTHING = join(PROJECT_FOLDER, "node_modules/@modelcontextprotocol/server-everything/dist/index.js");

/** Files below a folder that hold the canary, plain or in base64. */
function holding(folder: string): { readonly names: readonly string[]; readonly looked: number } {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const names = files.filter((entry) => {
    const bytes = readFileSync(join(entry.parentPath, entry.name)).toString("latin1");
    return bytes.includes(CANARY) || bytes.includes(Buffer.from(CANARY).toString("base64"));
  });
  return { names: names.map(({ name }) => name), looked: files.length };
}

describe("FAULTS 15: secrets of tool servers and agents", () => {
  it("are in no file and no output, though a server tells its environment and an agent repeats its prompt", async () => {
    const place = new CommandPlace({ SERVER_WORD: CANARY, AGENT_WORD: CANARY });
    copyFileSync(join(PROJECT_FOLDER, "examples/agent-review/stand-in.mjs"), join(place.folder, "stand-in.mjs"));
    place.write(
      "splashdown.config.yaml",
      "cli_agents: {claude: {command: [node, stand-in.mjs, claude]}}\ncheckpoint_config: {encryption: false}\n",
    );
    place.write(
      "flow.yaml",
      `workflow:
  name: leaks
  on_failure: continue
  runtime:
    provider: scripted
    scripted_answers:
      told: [{calls: [{tool: every__get-env}]}, {say: end}]
      broken: [{calls: [{tool: gone__any}]}]
    mcp_servers:
      every: {command: ${process.execPath}, args: [${EVERYTHING}, stdio], env: {WORD: "\${SERVER_WORD}"}}
      gone: {command: sh, args: [-c, 'echo "refused for $WORD" >&2; exit 1'], env: {WORD: "\${SERVER_WORD}"}}
  entry_point: told
agents:
  - {name: told, prompt: go, tools: [every__get-env], routes: [{to: broken}]}
  - {name: broken, prompt: go, tools: [gone__any], retry: {max_attempts: 1}, routes: [{to: repeated}]}
  - {name: repeated, cli: claude, prompt: "say {{ secrets.AGENT_WORD }}", secrets: [AGENT_WORD], effects: none, routes: [{to: refused}]}
  - {name: refused, cli: claude, prompt: "fail {{ secrets.AGENT_WORD }}", secrets: [AGENT_WORD], effects: none, routes: [{to: $end}]}
`,
    );
    const ended = await place.run(["run", "flow.yaml", "--task", "t", "--debug"]);
    const events = await place.run(["events", "t", "--json"]);
    const shown = await place.run(["show", "t", "--json"]);
    expect(events.stdout).toContain("every__get-env");
    expect(ended.stderr).toContain("refused for [redacted");
    expect(shown.stdout).toContain("the model refused");
    for (const { stdout, stderr } of [ended, events, shown]) expect(stdout + stderr).not.toContain(CANARY);
    const { names, looked } = holding(place.folder);
    expect(looked).toBeGreaterThan(5);
    expect(names).toEqual([]);
  });
});

/** A tool server over HTTP that tells its address and headers: in a result, and as what went wrong. */
async function openTellingServer(): Promise<{ readonly url: string; readonly heard: string[] }> {
  const heard: string[] = [];
  const server = createServer((request, reply) => {
    let text = "";
    request.on("data", (chunk: Buffer) => (text += chunk.toString()));
    request.on("end", () => {
      const { id, method, params } = JSON.parse(text === "" ? "{}" : text) as McpMessage;
      const told = `${request.url ?? ""} ${JSON.stringify(request.headers)}`;
      heard.push(told);
      const result = RESULTS[method ?? ""]?.(told);
      if (params?.name === "breaks") return void reply.writeHead(500).end(`broken at ${told}`);
      if (result === undefined) return void reply.writeHead(method === undefined ? 405 : 202).end();
      reply.writeHead(200, { "content-type": "application/json" });
      reply.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, heard };
}

interface McpMessage {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly name?: string };
}

const tool = (name: string) => ({ name, inputSchema: { type: "object" }, annotations: { readOnlyHint: true } });
const RESULTS: Readonly<Record<string, (told: string) => object>> = {
  initialize: () => ({
    protocolVersion: "2025-06-18",
    capabilities: { tools: {} },
    serverInfo: { name: "far", version: "1" },
  }),
  "tools/list": () => ({ tools: [tool("tells"), tool("breaks")] }),
  "tools/call": (told) => ({ content: [{ type: "text", text: told }] }),
};

describe("FAULTS 15: secrets of models and far servers", () => {
  it("are in no file, picture, report or output: not of a prompt, an address, a header, an answer or a failure", async () => {
    const far = await openTellingServer();
    const base64 = Buffer.from(CANARY).toString("base64");
    const part = 0.9;
    const confidence = { knowledge: part, information: part, implementation: part, validation: part };
    const report = { output: `it is ${CANARY}, or ${base64}`, confidence, uncertainties: [`is it ${CANARY}?`] };
    const { place, server } = await openModelPlace({
      replies: [
        toolAnswer("far__tells"),
        toolAnswer("far__breaks"),
        goodAnswer(JSON.stringify(report)),
        (socket) => answer(socket, 400, {}, `{"error":{"message":"what is ${CANARY}?"}}`),
      ],
      settings: "checkpoint_config: {encryption: false}\n",
      environment: { FAR: far.url, PATH_WORD: CANARY, HEADER_WORD: CANARY, PROMPT_WORD: CANARY },
      flow: `workflow:
  name: leaks
  on_failure: continue
  runtime:
    provider: local
    default_model: m
    mcp_servers:
      far: {type: http, url: "\${FAR}/\${PATH_WORD}?key=\${PATH_WORD}", headers: {x-word: "\${HEADER_WORD}"}}
phases:
  - name: ask
    confidence: 0
    specialists: [{name: told, prompt: "it is {{ secrets.PROMPT_WORD }}", secrets: [PROMPT_WORD]}]
  - name: fail
    confidence: 0
    specialists: [{name: refused, prompt: "it is {{ secrets.PROMPT_WORD }}", secrets: [PROMPT_WORD], retry: {max_attempts: 1}}]
`,
    });
    const ended = await place.run([...RUN_FLOW, "--debug"]);
    expect(server.requests[0]).toContain(CANARY);
    expect(far.heard.at(-1)).toMatch(new RegExp(`/${CANARY}\\?key=${CANARY} .*"x-word":"${CANARY}"`));
    const said = [ended];
    for (const verb of [
      ["events", "t"],
      ["show", "t", "--confidence"],
      ["checkpoints", "export", "t", "--redacted", "--to", "report.json"],
    ])
      said.push(await place.run(verb));
    expect(said.map(({ code }) => code)).toEqual([3, 0, 0, 0]);
    expect(said[1]?.stdout).toContain("far__breaks");
    for (const { stdout, stderr } of said) expect(stdout + stderr).not.toContain(CANARY);
    expect(place.read("outputs/t/final/confidence.svg")).toContain("<svg");
    const { names, looked } = holding(place.folder);
    expect(looked).toBeGreaterThan(5);
    expect(names).toEqual([]);
  });
});
