/** What a call of a model used counts, whatever became of its answer. */
import { afterEach, describe, expect, it } from "vitest";
import { SplashdownError } from "../../../../src/base/errors.js";
import type { Model, ModelAnswer } from "../../../../src/agents/outcome/contract.js";
import { usageOfError } from "../../../../src/agents/outcome/failure.js";
import { keepEnds, openModels, requestOf } from "../../../support/model-room.js";
import { openPerformerRoom, type PerformerRoom } from "../../../support/performer-room.js";
import { endStream, openRawServer, stream, textChunk, type RawServer } from "../../../support/raw-server.js";
import { createRecordingSink } from "../../../support/recording-sink.js";
import { createStepWork } from "../../../support/step-work.js";

const servers: RawServer[] = [];
const rooms: PerformerRoom[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
  await Promise.all(rooms.splice(0).map((room) => room.close()));
});

const PRICES = { "local/test-model": { input: 1, output: 2 } };
const end = (reason: string) =>
  `data: ${JSON.stringify({ id: "1", choices: [{ index: 0, delta: {}, finish_reason: reason }], usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } })}\n\ndata: [DONE]\n\n`;

/** One call of a server in OpenAI's form that ends so; the error. */
async function askEnding(reason: string, text = "half"): Promise<unknown> {
  const server = await openRawServer((socket) => (stream(socket, textChunk(text), end(reason)), endStream(socket)));
  servers.push(server);
  const settings = { type: "openai-compatible", base_url: server.url } as const;
  const model = openModels({ providers: { local: settings }, prices: PRICES })("local");
  return model.call(requestOf(), keepEnds()).then(
    () => undefined,
    (error: unknown) => error,
  );
}

describe("the tokens of an answer that is none", () => {
  it("[public P] count where the provider's filter ended it", async () => {
    expect(usageOfError(await askEnding("content_filter"))).toEqual({
      calls: 1,
      tokensIn: 10,
      tokensOut: 5,
      costMicroUsd: 20,
    });
  });

  const answered: ModelAnswer = { say: "fine", factors: [], usage: { calls: 1, tokensIn: 1, tokensOut: 1 } };
  const failing = (details: object): Model => ({
    call: () => Promise.reject(new SplashdownError("MODEL_FAILED", "refused", { details: details as never })),
  });
  const spent = { called: true, usage: { calls: 1, tokensIn: 10, tokensOut: 5 } };
  const perform = (models: Readonly<Record<string, Model>>, sink = createRecordingSink()) => {
    const room = openPerformerRoom({ modelOf: (name) => models[name] });
    rooms.push(room);
    const definition = { provider: "first", options: { fallback: [{ provider: "second", model: "m" }] } };
    return room.perform(createStepWork("model", { definition, rendered: { prompt: "go" } }), { sink });
  };

  it("[public P kin] count where another model has answered instead", async () => {
    const sink = createRecordingSink();
    await perform({ first: failing(spent), second: { call: () => Promise.resolve(answered) } }, sink);
    expect(sink.of("turn")[0]?.[1]).toEqual({ calls: 2, tokensIn: 11, tokensOut: 6 });
    expect(sink.begun).toEqual(["first", "second/m"]);
  });

  it("[public P kin] count of all models where none has answered", async () => {
    const outcome = await perform({ first: failing(spent), second: failing(spent) });
    expect(outcome).toMatchObject({ status: "failed", usage: { calls: 2, tokensIn: 20, tokensOut: 10 } });
  });

  it("[public P kin] count beside a call of which nothing is known", async () => {
    const outcome = await perform({ first: failing(spent), second: failing({ called: true }) });
    expect(outcome).toMatchObject({ status: "failed", usage: { calls: 2, tokensIn: 10, tokensOut: 5 } });
  });

  it("are none where the provider was not asked", async () => {
    expect(await perform({ first: failing({}), second: failing({}) })).not.toHaveProperty("usage");
  });

  it.each([
    [5_000, 2_000],
    [2_000, 5_000],
  ])("[reliability A01] waits for the earliest of the providers that ask to wait: %d and %d", async (one, other) => {
    const limited = (atMs: number): Model => ({
      call: () => Promise.reject(new SplashdownError("MODEL_RATE_LIMITED", "wait", { details: { retry_at_ms: atMs } })),
    });
    const outcome = await perform({ first: limited(one), second: limited(other) });
    expect(outcome).toMatchObject({ status: "failed", error: { code: "MODEL_RATE_LIMITED", retryAtMs: 2_000 } });
  });

  it("[reliability A01] waits for the one that asks to wait, and not for one that failed", async () => {
    const limited = new SplashdownError("MODEL_RATE_LIMITED", "wait", { details: { retry_at_ms: 2_000 } });
    const outcome = await perform({ first: { call: () => Promise.reject(limited) }, second: failing({}) });
    expect(outcome).toMatchObject({ error: { code: "MODEL_RATE_LIMITED", retryAtMs: 2_000 } });
  });
});
