/**
 * A server that answers like an OpenAI chat interface, by what it is asked alone: three tool calls, then the answer as a
 * report. One specialist answers in plain words, and says how sure it is when it is asked for that.
 *
 * Its journal names specialist and turn of every request that came, in order.
 */
import { createServer } from "node:http";

const TOOL_TURNS = 3;
const CHUNK_PAUSE_MS = 4;

export async function openAnswerServer() {
  const journal = [];
  const server = createServer((request, response) => {
    let text = "";
    request.setEncoding("utf8").on("data", (part) => (text += part));
    request.on("end", () => void reply(JSON.parse(text), response, journal));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/v1`,
    journal,
    reset: () => (journal.length = 0),
    close: () => new Promise((resolve) => (server.close(resolve), server.closeAllConnections())),
  };
}

async function reply({ messages }, response, journal) {
  const asked = messages.find((message) => message.role === "user");
  const specialist = /I am (\w+)/.exec(textOf(asked?.content))?.[1] ?? "?";
  const turn = messages.filter((message) => message.role === "assistant").length + 1;
  journal.push({ specialist, turn });
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const chunk of chunksOf(specialist, turn, messages)) {
    await new Promise((resolve) => setTimeout(resolve, CHUNK_PAUSE_MS));
    response.write(
      `data: ${JSON.stringify({ id: "x", object: "chat.completion.chunk", model: "test-model", ...chunk })}\n\n`,
    );
  }
  response.end("data: [DONE]\n\n");
}

const textOf = (content) => (typeof content === "string" ? content : JSON.stringify(content ?? ""));

const PLAIN = "beta";
/** Its tools are those of a server. */
const SERVED = "gamma";
const part = 0.9;
const CONFIDENCE = { knowledge: part, information: part, implementation: part, validation: part };

function finalText(specialist, turn, words) {
  if (specialist === PLAIN && turn === TOOL_TURNS + 1) return words;
  const output = specialist === "author" ? { report: words } : words;
  const report = { confidence: CONFIDENCE, uncertainties: [] };
  return JSON.stringify(specialist === PLAIN ? report : { output, ...report });
}

function chunksOf(specialist, turn, messages) {
  const choice = (delta, finish = null) => ({ choices: [{ index: 0, delta, finish_reason: finish }] });
  const usage = { choices: [], usage: { prompt_tokens: 10 * turn, completion_tokens: turn, total_tokens: 11 * turn } };
  if (turn <= TOOL_TURNS) {
    const call = {
      index: 0,
      id: `call_${turn}`,
      type: "function",
      function: { name: specialist === SERVED ? "numbers__again" : "look_up", arguments: JSON.stringify({ n: turn }) },
    };
    return [choice({ role: "assistant", tool_calls: [call] }), choice({}, "tool_calls"), usage];
  }
  const found = messages
    .filter((message) => message.role === "tool")
    .map((message) => textOf(message.content))
    .join(" ");
  const words = `${specialist} found ${found}`;
  const text = finalText(specialist, turn, words);
  const parts = text.match(/.{1,12}/gs) ?? [];
  return [...parts.map((content) => choice({ content })), choice({}, "stop"), usage];
}
