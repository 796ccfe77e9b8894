/**
 * The engine behind an interface like OpenAI's chat: real tokens, sampled with the temperature that is asked for, held to
 * the form that is asked for. Ends a generation when nobody listens any more.
 *
 *   node server.mjs MODEL.gguf      the first line it prints is its port; GET /stats tells what it did
 */
import { createServer } from "node:http";
import { getLlama, LlamaCompletion, TokenBias } from "node-llama-cpp";

const CONTEXT_TOKENS = 4_096;
const TOKENS_USUAL = 64;
const TEMPERATURE_USUAL = 0.8;

// One thread: more of them wait for each other on a busy machine, and the model is tiny.
const llama = await getLlama({ gpu: false, build: "never", progressLogs: false, maxThreads: 1 });
const model = await llama.loadModel({ modelPath: process.argv[2] });
const context = await model.createContext({ contextSize: CONTEXT_TOKENS, sequences: 4, threads: 1 });
const endless = new TokenBias(model.tokenizer).set(model.tokens.eos, "never");
const stats = { asked: 0, active: 0, aborted: 0, tokens: 0 };

const server = createServer((request, response) => {
  let text = "";
  request.setEncoding("utf8").on("data", (part) => (text += part));
  request.on("end", () => void route(request, text, response));
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));

async function route({ url }, text, response) {
  const sendJson = (value) =>
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value));
  if (url === "/stats") return sendJson(stats);
  if (url === "/v1/models") return sendJson({ data: [{ id: "tiny" }] });
  if (url === "/v1/chat/completions") return complete(JSON.parse(text), response);
  return response.writeHead(404).end();
}

async function complete(body, response) {
  const gone = new AbortController();
  response.on("close", () => gone.abort());
  stats.asked += 1;
  stats.active += 1;
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = (chunk) => response.write(`data: ${JSON.stringify({ id: "x", model: "tiny", ...chunk })}\n\n`);
  const choice = (delta, reason = null) => send({ choices: [{ index: 0, delta, finish_reason: reason }] });
  const sequence = context.getSequence();
  try {
    const { usage, reason } = await generate(body, {
      sequence,
      signal: gone.signal,
      onText: (content) => choice({ content }),
    });
    choice({}, reason);
    send({ choices: [], usage });
    response.end("data: [DONE]\n\n");
  } catch (error) {
    stats.aborted += 1;
    response.destroy(gone.signal.aborted ? undefined : error);
  } finally {
    stats.active -= 1;
    await sequence.dispose();
  }
}

async function generate(body, { sequence, signal, onText }) {
  const {
    messages,
    max_tokens: maxTokens = TOKENS_USUAL,
    temperature = TEMPERATURE_USUAL,
    response_format: form,
  } = body;
  const schema = form?.json_schema?.schema;
  const prompt = model.tokenize(messages.map(({ role, content }) => `${role}: ${JSON.stringify(content)}`).join("\n"));
  let tokens = 0;
  const { metadata } = await new LlamaCompletion({ contextSequence: sequence }).generateCompletionWithMeta(prompt, {
    maxTokens,
    temperature,
    seed: Math.floor(Math.random() * 2 ** 31),
    signal,
    onTextChunk: onText,
    onToken: (made) => {
      tokens += made.length;
      stats.tokens += made.length;
    },
    // A model of random weights would end anywhere: in a form the form ends it, else the number of tokens.
    ...(schema === undefined ? { tokenBias: endless } : { grammar: await llama.createGrammarForJsonSchema(schema) }),
  });
  return {
    reason: metadata.stopReason === "maxTokens" ? "length" : "stop",
    usage: { prompt_tokens: prompt.length, completion_tokens: tokens, total_tokens: prompt.length + tokens },
  };
}
