/** The task of the loop: four specialists in parallel, each over another wire, then an author; tools of both kinds. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SPECIALISTS } from "./answer-server.mjs";

const TOOL_SERVER = join(import.meta.dirname, "..", "..", "test", "support", "programs", "strange-server.mjs");
const LEDGERS = ["ledger.jsonl", "server.jsonl"];
export const KEY_VARIABLE = "MODEL_KEY";

function specialist(name) {
  const { provider, tools, hasReport } = SPECIALISTS[name];
  const output = hasReport ? ", output: {report: {type: string}}" : "";
  const prompt = `"I am ${name}. Work it out."`;
  return `      - {name: ${name}, provider: ${provider}, prompt: ${prompt}, tools: [${tools.join(", ")}]${output}}\n`;
}

const flowOf = (place) => `workflow:
  name: inquiry
  runtime:
    default_model: test-model
    mcp_servers:
      numbers:
        command: ${process.execPath}
        args: [${JSON.stringify(TOOL_SERVER)}, good]
        env: {LEDGER: ${JSON.stringify(join(place, "work", "server.jsonl"))}}
tools:
  - {name: numbers__again, approve: never}
  - {name: look_up, description: looks a number up, function: "./tools.mjs#lookUp", input: {n: {type: integer}}, effects: idempotent}
phases:
  - name: research
    confidence: 0
    specialists:
${["alpha", "beta", "gamma", "delta"].map(specialist).join("")}  - name: write
    confidence: 0
    specialists:
${specialist("author")}`;

const TOOLS = `import { appendFileSync } from "node:fs";
export function lookUp({ input, idempotencyKey, path }) {
  appendFileSync(new URL("./ledger.jsonl", import.meta.url), JSON.stringify({ path, n: input.n, key: idempotencyKey }) + "\\n");
  return { found: input.n * 11 };
}
`;

/** Kills before any turn would park a step after three of them, which is right and not asked about here. */
const settingsOf = (url) => `providers:
  local: {type: openai-compatible, base_url: "${url}/v1"}
  ollama: {base_url: "${url}/v1"}
  anthropic: {base_url: "${url}", key_variable: ${KEY_VARIABLE}}
  openai-responses: {base_url: "${url}/v1", key_variable: ${KEY_VARIABLE}}
recovery_config: {max_recovery_attempts: 100}
`;

export function makePlace(place, url) {
  for (const inner of ["config", "state", "work"]) mkdirSync(join(place, inner), { recursive: true });
  const write = (name, text) => writeFileSync(join(place, "work", name), text);
  write("flow.yaml", flowOf(place));
  write("tools.mjs", TOOLS);
  for (const ledger of LEDGERS) write(ledger, "");
  write("splashdown.config.yaml", settingsOf(url));
  return place;
}

/** What the functions of the workflow and its tool server were called with. */
export function readLedger(place) {
  const [own, served] = LEDGERS.map((name) => readLines(join(place, "work", name)));
  // The server is told no step: the key of a call names its specialist.
  return [...own, ...served.map(({ name, input, key }) => ({ path: `${name} of ${ownerOf(key)}`, n: input.n, key }))];
}

const ownerOf = (key) => key.slice(0, key.lastIndexOf("/"));

function readLines(path) {
  return readFileSync(path, "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}
