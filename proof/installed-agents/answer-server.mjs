/**
 * A server that answers installed agents in the wire forms of their vendors (aimock): first a call of the tool that reads
 * a file, then the answer; or a failure; or nothing, until the agent is gone.
 *
 * Agents also ask for titles, routes and the like beside their work: a request without tools is such a one, but for those
 * that ask for a report.
 */
import { LLMock } from "@copilotkit/aimock";

/** What each request of an agent's work costs by the server's word, in the names of all wires. */
export const USAGE = {
  input_tokens: 100,
  prompt_tokens: 100,
  promptTokenCount: 100,
  output_tokens: 20,
  completion_tokens: 20,
  candidatesTokenCount: 20,
};
/** Names of tools that read a file, and what each is given. */
const READERS = {
  Read: (file) => ({ file_path: file }),
  read_file: (file) => ({ file_path: file }),
  view: (file) => ({ path: file }),
  exec_command: (file) => ({ cmd: `cat ${file}` }),
  shell_command: (file) => ({ command: `cat ${file}` }),
  shell: (file) => ({ command: ["cat", file] }),
};

/** By which an agent is asked for a report. */
const REPORT_WORDS = "# How to answer";
const part = 0.9;
const report = (output) =>
  JSON.stringify({
    output,
    confidence: { knowledge: part, information: part, implementation: part, validation: part },
    factors: ["the file was read"],
    uncertainties: ["who calls it"],
    assumptions: [],
    blockers: [],
    milestones: [],
  });

/**
 * `file`: what the agents are let read. `output`: their answer, in a report where they are asked for one.
 *
 * How it behaves is set by `behave`: "answer"; "hold", which says nothing once the tool was called; "words once", a first
 * answer that is no JSON; or `{status, message}`.
 */
export async function openAnswerServer({ file, output }) {
  const mock = new LLMock({ port: 0, logLevel: "silent" });
  const room = { mode: "answer", works: [], file, output };
  mock.on({}, (request) => answerTo(request, room));
  const url = await mock.start();
  return {
    url,
    /** Requests of the agents' work, in order: every text that each holds. */
    works: room.works,
    behave: (mode) => {
      room.mode = mode;
    },
    paths: () => [...new Set(mock.getRequests().map(({ path }) => path.split("?")[0]))].sort(),
    close: () => mock.stop(),
  };
}

function answerTo({ messages, tools = [] }, room) {
  const text = messages.map(({ content }) => textOf(content)).join("\n");
  if (tools.length === 0 && !text.includes(REPORT_WORDS)) return { content: "Reading a file", usage: USAGE };
  room.works.push(text);
  const { mode, file } = room;
  if (mode.status !== undefined) return failure(mode);
  const reader = tools.map((tool) => tool.function?.name ?? tool.name).find((name) => Object.hasOwn(READERS, name));
  if (reader !== undefined && !isToolCalled(messages))
    return { toolCalls: [{ name: reader, arguments: JSON.stringify(READERS[reader](file)) }], usage: USAGE };
  if (mode === "hold") return new Promise(() => undefined);
  return { content: finalText(text, room), usage: USAGE };
}

/** What follows a call is its result, and may be a user's message after it: agents add reminders. */
const isToolCalled = (messages) => messages.findLast(({ role }) => role === "assistant")?.tool_calls?.length > 0;

function finalText(text, room) {
  if (room.mode === "words once") {
    room.mode = "answer";
    return "I would rather say it in words.";
  }
  return text.includes(REPORT_WORDS) ? report(room.output) : JSON.stringify(room.output);
}

const textOf = (content) => (typeof content === "string" ? content : JSON.stringify(content ?? ""));
const failure = ({ status, message }) => ({ error: { message, type: "mock_error" }, status, retryAfter: 1 });
