// An MCP server over stdio that misbehaves as its argument says. It writes what it was called with to the file $LEDGER, and
// what it is told to give up beside it.
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [manner = "good"] = process.argv.slice(2);
const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const tool = (name, annotations) => ({
  name,
  inputSchema: { type: "object" },
  ...(annotations ? { annotations } : {}),
});
const TOOLS = [tool("act"), tool("read", { readOnlyHint: true }), tool("again", { idempotentHint: true })];

const late = [];
const MANNERS = {
  good: (id, text) => say({ id, result: { content: [{ type: "text", text }] } }),
  dies: () => {
    process.stderr.write("out of memory\n");
    process.exit(7);
  },
  silent: () => undefined,
  giant: (id) => say({ id, result: { content: [{ type: "text", text: "x".repeat(17 * 1024 * 1024) }] } }),
  // Answers when nobody waits any more, and only then; another call at once.
  late: (id, text) => {
    if (late.length === 0) late.push(() => MANNERS.good(id, `late ${text}`));
    else MANNERS.good(id, text);
  },
  endless: (id, _text, meta) => {
    const params = { progressToken: meta?.progressToken, progress: 1, message: "still at it" };
    setInterval(() => say({ method: "notifications/progress", params }), 10);
  },
  large: (id) => say({ id, result: { content: [{ type: "text", text: "y".repeat(600_000) }] } }),
  refuses: (id) => say({ id, error: { code: -32602, message: "no such repository" } }),
  fails: (id) => say({ id, result: { isError: true, content: [{ type: "text", text: "disk full" }] } }),
  twice: (id, text) => {
    MANNERS.good(id, text);
    MANNERS.good(id, "late");
  },
  garbage: (id, text) => {
    process.stdout.write("starting up…\n{half of a mess\n");
    // In a piece of its own, so that the noise has been judged before the answer comes.
    setTimeout(() => MANNERS.good(id, text), 50);
  },
  slow: (id, text, meta) => {
    let count = 0;
    const timer = setInterval(() => {
      count += 1;
      const params = { progressToken: meta?.progressToken, progress: count, message: `part ${count}` };
      say({ method: "notifications/progress", params });
      if (count < 8) return;
      clearInterval(timer);
      MANNERS.good(id, text);
    }, 500);
  },
};

if (manner === "mute") process.stdin.resume();
else if (manner === "noise") for (let line = 0; line < 200; line += 1) process.stdout.write("I am no server\n");
else
  createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method, params } = JSON.parse(line);
    if (method === "initialize")
      say({
        id,
        result: {
          protocolVersion: params.protocolVersion,
          capabilities: { tools: {} },
          serverInfo: { name: "strange", version: "1" },
        },
      });
    if (method === "tools/list") say({ id, result: { tools: TOOLS } });
    if (method === "notifications/cancelled") {
      if (process.env.LEDGER) appendFileSync(`${process.env.LEDGER}.given-up`, `${JSON.stringify(params)}\n`);
      for (const answer of late) answer();
    }
    if (method !== "tools/call") return;
    const { name, arguments: input, _meta: meta } = params;
    const key = meta?.["splashdown/idempotency-key"];
    if (process.env.LEDGER) appendFileSync(process.env.LEDGER, `${JSON.stringify({ name, input, key })}\n`);
    MANNERS[manner](id, `${name} ${JSON.stringify(input)}`, meta);
  });
