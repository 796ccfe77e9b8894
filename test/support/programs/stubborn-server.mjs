// An MCP server over stdio with one tool, `act`, that begins at once and ends when the file $GO is there, both written to
// $LEDGER. It outlives its input and every signal but KILL; as `escaped` a child in a session of its own acts for it.
import { spawn } from "node:child_process";
import { appendFileSync, existsSync } from "node:fs";
import { createInterface } from "node:readline";

const [manner = "deaf"] = process.argv.slice(2);
const { LEDGER, GO } = process.env;
const note = (text) => appendFileSync(LEDGER, `${text}\n`);
const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);

function act() {
  note(`begin ${process.pid}`);
  const timer = setInterval(() => {
    if (!existsSync(GO)) return;
    clearInterval(timer);
    note("end");
  }, 20);
}

if (manner === "acts") act();
else {
  for (const signal of ["SIGTERM", "SIGHUP", "SIGINT"]) if (manner !== "plain") process.on(signal, () => undefined);
  // What nobody reads any more is lost.
  process.stdout.on("error", () => undefined);
  setInterval(() => undefined, 1_000);
  createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method, params } = JSON.parse(line);
    const server = { name: "stubborn", version: "1" };
    if (method === "initialize")
      say({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: server } });
    if (method === "tools/list") say({ id, result: { tools: [{ name: "act", inputSchema: { type: "object" } }] } });
    if (method !== "tools/call") return;
    if (manner === "escaped")
      spawn(process.execPath, [process.argv[1], "acts"], { detached: true, stdio: "ignore" }).unref();
    else act();
  });
}
