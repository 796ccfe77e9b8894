/** What a request carries stays with the origin that it was addressed to, in steps and with model providers. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { checkProvider } from "../../../src/agents/providers/provider-check.js";
import { findProvider, type ProviderConfig } from "../../../src/agents/providers/provider-config.js";
import { loadSdk, loadSdkModel } from "../../../src/agents/providers/sdk-loading.js";
import { SdkModel } from "../../../src/agents/providers/sdk-model.js";
import { ownOriginFetch } from "../../../src/agents/providers/own-origin-fetch.js";
import type { ModelRequest } from "../../../src/agents/outcome/contract.js";
import type { JsonObject } from "../../../src/base/json.js";
import { openPerformerRoom, type PerformerRoom } from "../../support/performer-room.js";
import { realClock } from "../../support/real-clock.js";
import { createStepWork } from "../../support/step-work.js";

interface Seen {
  readonly line: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

interface Place {
  readonly server: Server;
  readonly origin: string;
  readonly seen: Seen[];
}

let room: PerformerRoom;
let near: Place;
let far: Place;
let answer: (response: ServerResponse, seen: Seen) => void;

async function openPlace(reply: (response: ServerResponse, seen: Seen) => void): Promise<Place> {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (part: Buffer) => (body += part.toString("utf8")));
    request.on("end", () => {
      const one = { line: `${request.method ?? ""} ${request.url ?? ""}`, headers: request.headers, body };
      seen.push(one);
      reply(response, one);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { server, seen, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

beforeEach(async () => {
  room = openPerformerRoom();
  near = await openPlace((response, seen) => answer(response, seen));
  far = await openPlace((response) => response.end("stolen"));
});
afterEach(async () => {
  for (const { server } of [near, far]) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  await room.close();
});

const sendTo = (status: number, location: string) => (response: ServerResponse) =>
  void response.writeHead(status, { location }).end();

/** To `/b` of the same origin, once. */
const sendOn = (status: number, location = "/b") => {
  answer = (response, { line }) =>
    line.endsWith("/a") ? sendTo(status, location)(response) : void response.end("arrived");
};

const HEADERS = { authorization: "Bearer s3cret-9", "x-api-key": "s3cret-9", "private-token": "s3cret-9" };
const perform = (rendered: JsonObject, definition: object = {}) =>
  room.perform(
    createStepWork("http", {
      rendered: { method: "GET", url: `${near.origin}/a`, query: {}, headers: HEADERS, ...rendered },
      definition,
    }),
  );
const refused = (message: string) => ({
  status: "failed",
  error: { code: "HTTP_REDIRECT_REFUSED", retryable: false, message: expect.stringContaining(message) as string },
});

describe("a redirect to another origin", () => {
  it("[security M1] gets no header, no idempotency key and no body of an http step, and is named", async () => {
    answer = sendTo(307, `${far.origin}/collect?q=1`);
    const outcome = await perform({ method: "POST", body: { secret: "s3cret-9" } });
    expect(outcome).toMatchObject(refused(`${far.origin}/collect, another origin`));
    expect(far.seen).toEqual([]);
    expect(near.seen).toHaveLength(1);
  });

  it("[security M1 kin] gets no header of a GET either, whatever the status", async () => {
    for (const status of [301, 302, 303, 307, 308]) {
      answer = sendTo(status, `${far.origin}/`);
      expect(await perform({})).toMatchObject(refused("another origin"));
    }
    expect(far.seen).toEqual([]);
  });

  it("[security M1 kin] gets nothing at the second redirect, where the first stayed within the origin", async () => {
    answer = (response, { line }) => sendTo(307, line.endsWith("/a") ? "/b" : `${far.origin}/`)(response);
    expect(await perform({ method: "POST", body: "s3cret-9" })).toMatchObject(refused("another origin"));
    expect(near.seen.map(({ line }) => line)).toEqual(["POST /a", "POST /b"]);
    expect(far.seen).toEqual([]);
  });

  it("[security M1 kin] gets no key and no prompt of a model provider, which is not asked again", async () => {
    answer = sendTo(307, `${far.origin}/v1/messages`);
    for (const name of ["anthropic", "openai"]) {
      const config = providerAt(name, near.origin);
      const model = new SdkModel({
        clock: realClock,
        provider: name,
        isStructured: false,
        load: (id) => loadSdkModel(config, id, "/"),
        computeCost: () => undefined,
        debug: () => undefined,
      });
      await loadSdk();
      const ends = { signal: new AbortController().signal, onText: () => undefined, onActivity: () => undefined };
      const failure: unknown = await model.call(REQUEST, ends).catch((error: unknown) => error);
      expect(failure).toMatchObject({ code: "HTTP_REDIRECT_REFUSED", details: { retryable: false } });
      expect((failure as Error).message).toContain(`redirected to ${far.origin}/v1/messages, another origin`);
    }
    expect(near.seen).toHaveLength(2);
    expect(far.seen).toEqual([]);
  });

  it("[security M1 kin] gets no key from the look at a provider", async () => {
    answer = sendTo(302, `${far.origin}/models`);
    const finding = await checkProvider(providerAt("openai", near.origin), realClock);
    expect(finding).toMatchObject({ ok: false, text: expect.stringContaining("another origin") as string });
    expect(far.seen).toEqual([]);
  });

  it("[public G] is an answer like another for a step that judges the status itself", async () => {
    answer = sendTo(302, `${far.origin}/`);
    const outcome = await perform({ method: "POST", body: "x" }, { failOnStatus: false });
    expect(outcome).toMatchObject({
      status: "completed",
      output: { status: 302, headers: { location: `${far.origin}/` } },
    });
    expect(far.seen).toEqual([]);
  });

  it("[public G kin] is one where only the port, the scheme or the name of the host differs", async () => {
    const { port } = new URL(near.origin);
    for (const place of [
      `https://127.0.0.1:${port}/b`,
      `http://localhost:${port}/b`,
      `//127.0.0.1:${Number(port) + 1}/b`,
    ]) {
      sendOn(307, place);
      expect(await perform({})).toMatchObject(refused("another origin"));
    }
    expect(near.seen.map(({ line }) => line)).toEqual(["GET /a", "GET /a", "GET /a"]);
  });
});

describe("a redirect within the origin", () => {
  it("[public G kin] keeps method, headers, key and body where it asks for that", async () => {
    sendOn(308);
    const outcome = await perform({ method: "PUT", body: "all of it" });
    expect(outcome).toMatchObject({ status: "completed", output: { status: 200, body: "arrived" } });
    expect(near.seen[1]).toMatchObject({ line: "PUT /b", body: "all of it", headers: HEADERS });
    expect(near.seen[1]?.headers["idempotency-key"]).toBe(near.seen[0]?.headers["idempotency-key"]);
  });

  it.each([301, 302, 303])("[public G kin] makes no GET of a POST: %i", async (status) => {
    sendOn(status);
    expect(await perform({ method: "POST", body: "x" })).toMatchObject(refused("the POST is not done there"));
    expect(near.seen.map(({ line }) => line)).toEqual(["POST /a"]);
  });

  it("is followed five times and not without end", async () => {
    sendOn(302);
    expect(await perform({})).toMatchObject({ status: "completed", output: { body: "arrived" } });
    answer = sendTo(302, "/a");
    expect(await perform({})).toMatchObject(refused("the 6th redirect in a row"));
  });

  it("sends the body of a request object again", async () => {
    sendOn(307);
    const response = await ownOriginFetch(new Request(`${near.origin}/a`, { method: "POST", body: "twice" }));
    expect(await response.text()).toBe("arrived");
    expect(near.seen.map(({ body }) => body)).toEqual(["twice", "twice"]);
  });
});

function providerAt(name: string, origin: string): ProviderConfig {
  const variables: Record<string, string> = {
    ANTHROPIC_BASE_URL: origin,
    ANTHROPIC_API_KEY: "s3cret-9",
    OPENAI_BASE_URL: `${origin}/v1`,
    OPENAI_API_KEY: "s3cret-9",
  };
  const found = findProvider(
    {
      environment: (variable) => variables[variable],
      settings: {},
      learn: () => undefined,
      runKeyCommand: () => Promise.resolve(""),
      readSystemKey: () => Promise.resolve(""),
    },
    name,
  );
  if (found === undefined) throw new Error(`no provider ${name}`);
  return found;
}

const REQUEST: ModelRequest = {
  step: { name: "ask", path: "main/ask", visit: 1, attempt: 1 },
  turn: 1,
  idempotencyKey: "key",
  model: "m",
  messages: [{ role: "user", text: "s3cret-9 prompt" }],
  tools: [],
  options: {},
};
