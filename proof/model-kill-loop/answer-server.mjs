/**
 * A server that answers by what it is asked alone, in the forms of four providers (aimock): some turns of tool calls, then
 * the answer as a report. One specialist answers in plain words, and says how sure it is when it is asked for that.
 *
 * Its journal names specialist, turn and address of every request that came, in order.
 */
import { LLMock } from "@copilotkit/aimock";

export const TOOL_TURNS = 4;
const CHUNK_CHARS = 12;
const CHUNK_PAUSE_MS = 4;

/** Who does what: over which wire, with which tools in one turn. */
export const SPECIALISTS = {
  alpha: { provider: "local", tools: ["look_up"] },
  beta: { provider: "anthropic", tools: ["look_up"], isPlain: true },
  gamma: { provider: "openai-responses", tools: ["numbers__again"] },
  delta: { provider: "ollama", tools: ["look_up", "numbers__again"] },
  author: { provider: "local", tools: ["look_up"], hasReport: true },
};

export async function openAnswerServer() {
  const journal = [];
  const mock = new LLMock({ port: 0, logLevel: "silent", chunkSize: CHUNK_CHARS, latency: CHUNK_PAUSE_MS });
  mock.on({}, (request) => answerTo(request, journal));
  const url = await mock.start();
  return {
    url,
    journal,
    /** Addresses that were asked. */
    paths: () => [...new Set(mock.getRequests().map(({ path }) => path))].sort(),
    reset: () => {
      journal.length = 0;
    },
    close: () => mock.stop(),
  };
}

function answerTo({ messages }, journal) {
  const asked = messages.find(({ role }) => role === "user");
  const name = /I am (\w+)/.exec(textOf(asked?.content))?.[1] ?? "?";
  const { tools, isPlain, hasReport } = SPECIALISTS[name];
  const results = messages.filter(({ role }) => role === "tool").map(({ content }) => textOf(content));
  const said = messages.filter(({ role, tool_calls: calls }) => role === "assistant" && !(calls?.length > 0));
  const turn = results.length / tools.length + said.length + 1;
  journal.push({ specialist: name, turn });
  const usage = { prompt_tokens: 10 * turn, completion_tokens: turn, input_tokens: 10 * turn, output_tokens: turn };
  if (turn <= TOOL_TURNS) return { toolCalls: tools.map((tool) => callOf(tool, turn)), usage };
  const words = `${name} found ${results.join(" ")}`;
  return { content: isPlain ? plainAnswer(turn, words) : report(hasReport ? { report: words } : words), usage };
}

const textOf = (content) => (typeof content === "string" ? content : JSON.stringify(content ?? ""));
const callOf = (name, turn) => ({ id: `call_${name}_${turn}`, name, arguments: JSON.stringify({ n: turn }) });

const part = 0.9;
const SURE = {
  confidence: { knowledge: part, information: part, implementation: part, validation: part },
  uncertainties: [],
};
const report = (output) => JSON.stringify({ output, ...SURE });
const plainAnswer = (turn, words) => (turn === TOOL_TURNS + 1 ? words : JSON.stringify(SURE));
