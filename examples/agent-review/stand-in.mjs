#!/usr/bin/env node
// Stands in for an installed agent: speaks the JSON lines of the one whose name is its first argument, as observed of
// claude 2.1.332, codex 0.171.0, gemini 0.61.0 and copilot 1.0.102.
// What it was called with goes to the file $CALLS, and how it behaves is said by the prompt: "fail", "limit", "die once",
// "json", "mute", "say no more". Asked for a report it gives one. It needs no network and no model.
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";

const [kind, ...args] = process.argv.slice(2);
const after = (name) => (args.includes(name) ? args[args.indexOf(name) + 1] : undefined);
const prompt = readFileSync(0, "utf8");
const session = after("--session-id") ?? after("--resume") ?? after("resume") ?? `${kind}-session-1`;
const given = Object.fromEntries(Object.entries(process.env).filter(([name]) => /KEY|TOKEN/.test(name)));
if (process.env.CALLS) appendFileSync(process.env.CALLS, `${JSON.stringify({ args, prompt, given })}\n`);

const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);
const LIMIT = "Claude AI usage limit reached|4102444800";
const failure = prompt.includes("limit") ? LIMIT : prompt.includes("fail") ? "the model refused" : undefined;
const isReported = prompt.includes("# How to answer") && !prompt.includes("say no more");
// Of a briefing, the step's own part.
const asked = /# Your part: [^\n]*\n\n([^\n]*)/.exec(prompt)?.[1] ?? prompt.split("\n").at(-1);
const report = {
  output: `answer to: ${asked}`,
  confidence: { knowledge: 0.9, information: 0.8, implementation: 0.9, validation: 0.8 },
  factors: ["the file was read"],
  uncertainties: kind === "codex" ? ["who calls it"] : [],
  assumptions: [],
  blockers: [],
  milestones: [],
};
const plain = prompt.includes("json") ? 'Here it is:\n```json\n{"score": 7}\n```' : report.output;
const text = isReported ? `That is what I found:\n\n${JSON.stringify(report)}` : plain;

const SPEECH = {
  claude: {
    begin: () => say({ type: "system", subtype: "init", session_id: session, tools: ["Read"], model: "sonnet" }),
    work: () =>
      say({
        type: "assistant",
        session_id: session,
        message: { content: [{ type: "text", text: "reading the files" }] },
      }),
    end: () =>
      say({
        type: "result",
        subtype: failure ? "error_during_execution" : "success",
        is_error: failure !== undefined,
        num_turns: 3,
        result: failure ?? text,
        session_id: session,
        total_cost_usd: 0.0123455,
        usage: { input_tokens: 10, cache_creation_input_tokens: 200, cache_read_input_tokens: 1000, output_tokens: 50 },
      }),
  },
  codex: {
    begin: () => say({ type: "thread.started", thread_id: session }),
    work: () => {
      say({ type: "turn.started" });
      say({ type: "item.completed", item: { id: "item_0", type: "reasoning", text: "reading the files" } });
    },
    end: () => {
      if (failure) return say({ type: "turn.failed", error: { message: failure } });
      say({ type: "item.completed", item: { id: "item_1", type: "agent_message", text } });
      return say({
        type: "turn.completed",
        usage: { input_tokens: 1210, cached_input_tokens: 1000, output_tokens: 50 },
      });
    },
  },
  gemini: {
    begin: () => say({ type: "init", timestamp: "t", session_id: session, model: "gemini-3" }),
    work: () => {
      say({ type: "message", role: "user", content: prompt });
      say({ type: "message", role: "assistant", content: "reading the files", delta: true });
      say({ type: "tool_use", tool_name: "read_file", tool_id: "1", parameters: {} });
      say({ type: "tool_result", tool_id: "1", status: "success", output: "…" });
    },
    end: () => {
      const half = Math.floor(text.length / 2);
      if (!failure)
        for (const part of [text.slice(0, half), text.slice(half)])
          say({ type: "message", role: "assistant", content: part, delta: true });
      const stats = {
        total_tokens: 1260,
        input_tokens: 1210,
        output_tokens: 50,
        cached: 1000,
        input: 210,
        duration_ms: 5,
        tool_calls: 1,
      };
      say({
        type: "result",
        status: failure ? "error" : "success",
        ...(failure ? { error: { type: "E", message: failure } } : {}),
        stats,
      });
    },
  },
  copilot: {
    begin: () => say({ type: "session.tools_updated", data: { model: "gpt-5" }, ephemeral: true }),
    work: () =>
      say({ type: "assistant.message", data: { messageId: "1", content: "reading the files", outputTokens: 20 } }),
    end: () => {
      if (!failure)
        say({ type: "assistant.message", data: { messageId: "2", content: `\n\n${text}`, outputTokens: 30 } });
      else say({ type: "session.error", data: { errorType: "query", message: failure, statusCode: 400 } });
      say({ type: "result", sessionId: session, exitCode: failure ? 1 : 0, usage: { premiumRequests: 1 } });
    },
  },
};

/** What each says, and ends with, where it is to go on in a session that is not there; copilot begins one of that name. */
const LOST = {
  claude: [{ errors: [`No conversation found with session ID: ${session}`] }, "", 1],
  codex: [undefined, `Error: thread/resume: thread/resume failed: no rollout found for thread id ${session}\n`, 1],
  gemini: [undefined, `Error resuming session: Invalid session identifier "${session}".\n`, 42],
};
if (process.env.LOST && LOST[kind] && (after("--resume") ?? after("resume"))) {
  const [line, words, status] = LOST[kind];
  const result = { type: "result", subtype: "error_during_execution", is_error: true, num_turns: 0, session_id: "new" };
  if (line) say({ ...result, ...line });
  process.stderr.write(words);
  process.exit(status);
}

process.stdout.write("a word for people\n");
const { begin, work, end } = SPEECH[kind];
begin();
work();
if (prompt.includes("die once") && !existsSync("died")) {
  writeFileSync("died", "");
  process.exit(9);
}
if (prompt.includes("hang")) await new Promise(() => setInterval(() => undefined, 1_000));
if (!prompt.includes("mute")) end();
if (failure && kind !== "gemini") process.exitCode = 1;
