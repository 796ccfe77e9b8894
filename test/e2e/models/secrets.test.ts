/** Canaries that come back from tool servers, agents and their failures, in a task that is not even sealed. */
import { copyFileSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { PROJECT_FOLDER } from "../../support/built-program.js";
import { CommandPlace } from "../../support/command-place.js";

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
