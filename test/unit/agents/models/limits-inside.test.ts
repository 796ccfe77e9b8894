/** A limit that is told inside an answer which began with 200, as OpenRouter and others do. */
import { afterEach, describe, expect, it } from "vitest";
import { FakeClock } from "../../../support/fake-clock.js";
import { keepEnds, openModels, requestOf } from "../../../support/model-room.js";
import { endStream, openRawServer, stream, textChunk, type RawServer } from "../../../support/raw-server.js";
import { WIRE_FORMS } from "../../../support/wire-forms.js";

const servers: RawServer[] = [];
afterEach(() => Promise.all(servers.splice(0).map((server) => server.close())));

const form = WIRE_FORMS[0];

async function ask(said: object): Promise<unknown> {
  if (form === undefined) throw new Error("there is no wire form");
  const event = `data: ${JSON.stringify({ id: "1", ...said })}\n\n`;
  const server = await openRawServer((socket) => (stream(socket, textChunk("half "), event), endStream(socket)));
  servers.push(server);
  const { provider, settings, environment } = form;
  const models = openModels({ providers: { [provider]: settings(server.url) }, environment, clock: new FakeClock() });
  return models(provider)
    .call(requestOf(), keepEnds())
    .then(
      () => "an answer",
      (error: unknown) => error,
    );
}

const choices = [{ index: 0, delta: { content: "" }, finish_reason: "error" }];

describe("a refusal inside a stream", () => {
  it("[public J] is a limit for the code 429, told in its own words", async () => {
    expect(await ask({ error: { code: 429, message: "Rate limit exceeded" }, choices })).toMatchObject({
      code: "MODEL_RATE_LIMITED",
      message: expect.stringMatching(/429: Rate limit exceeded$/) as string,
      details: { status: 429 },
    });
  });

  it.each([503, 529])("[public J kin] is a limit for the code %i, whatever its words", async (code) => {
    expect(await ask({ error: { code, message: "provider is down" }, choices })).toMatchObject({
      code: "MODEL_RATE_LIMITED",
      details: { status: code },
    });
  });

  it("[public J kin] is a limit for a code of digits in a text", async () => {
    expect(await ask({ error: { code: "429", message: "slow" }, choices })).toMatchObject({
      code: "MODEL_RATE_LIMITED",
      details: { status: 429 },
    });
  });

  it("[public J kin] has the time that its words name", async () => {
    const error = await ask({ error: { code: 429, message: "slow down, try again in 20s" } });
    expect(error).toMatchObject({ details: { retry_at_ms: new FakeClock().nowMs() + 20_000 } });
  });

  it("[public J kin] may go well later for 502, and never for 400", async () => {
    expect(await ask({ error: { code: 502, message: "bad upstream" } })).toMatchObject({
      code: "MODEL_FAILED",
      details: { status: 502, retryable: true },
    });
    expect(await ask({ error: { code: 400, message: "no such field" } })).toMatchObject({
      code: "MODEL_FAILED",
      details: { status: 400, retryable: false },
    });
  });

  it("[public J kin] is no limit for a used-up balance", async () => {
    expect(await ask({ error: { code: 402, message: "Insufficient credits" } })).toMatchObject({
      code: "MODEL_FAILED",
      details: { retryable: false },
    });
  });
});
