// An MCP server over stdio whose tools and answers stand in the JSON file of its argument: a list of tools, each as it is
// told, with `answer` (a result) or `error` beside it. It writes the names of the tools that were called to $LEDGER.
import { appendFileSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const listed = JSON.parse(readFileSync(process.argv[2], "utf8"));
const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const tell = ({ answer: _answer, error: _error, ...told }) => ({ inputSchema: { type: "object" }, ...told });
const okay = { content: [{ type: "text", text: "ok" }] };

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === "initialize") {
    const { protocolVersion } = params;
    say({ id, result: { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "listed", version: "1" } } });
  }
  if (method === "tools/list") say({ id, result: { tools: listed.map(tell) } });
  if (method !== "tools/call") return;
  appendFileSync(process.env.LEDGER, `${params.name}\n`);
  const tool = listed.find(({ name }) => name === params.name);
  say({ id, ...(tool?.error ? { error: tool.error } : { result: tool?.answer ?? okay }) });
});
