import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/base/json.js";
import { LIMITS } from "../../../src/base/limits.js";
import { FakeClock } from "../../support/fake-clock.js";
import { openPerformerRoom, type PerformerRoom } from "../../support/performer-room.js";
import { createStepWork } from "../../support/step-work.js";

interface Seen {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

let room: PerformerRoom;
let server: Server;
let origin: string;
let seen: Seen[];
let answer: (response: ServerResponse, request: Seen) => void;

beforeEach(async () => {
  room = openPerformerRoom();
  seen = [];
  answer = (response) => response.end();
  server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const { method, url, headers } = request;
      const one = { method, url, headers, body: Buffer.concat(parts).toString("utf8") };
      seen.push(one);
      answer(response, one);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await room.close();
});

const perform = (rendered: JsonObject, definition: object = {}, signal?: AbortSignal) =>
  room.perform(
    createStepWork("http", {
      rendered: { method: "GET", url: `${origin}/a`, query: {}, headers: {}, ...rendered },
      definition,
      step: { idempotencyKey: "key-1" },
    }),
    signal === undefined ? {} : { signal },
  );

describe("an http step", () => {
  it("gives status, headers and the body as a value where it is JSON", async () => {
    answer = (response) => {
      response.writeHead(201, { "content-type": "application/json; charset=utf-8", "x-one": "1" });
      response.end('{"a": [1, null]}');
    };
    expect(await perform({})).toMatchObject({
      status: "completed",
      output: { status: 201, headers: { "x-one": "1" }, body: { a: [1, null] } },
    });
  });

  it("gives other bodies as text, and none as null", async () => {
    answer = (response, { url }) => response.end(url === "/a" ? "héllo" : undefined);
    expect(await perform({})).toMatchObject({ output: { body: "héllo" } });
    expect(await perform({ url: `${origin}/none` })).toMatchObject({ output: { body: null } });
  });

  it("sends method, query, headers, the body as JSON, and the idempotency key of the step", async () => {
    await perform({ method: "POST", query: { q: "a b" }, headers: { "X-Token": "t" }, body: { n: 1 } });
    expect(seen).toMatchObject([
      {
        method: "POST",
        url: "/a?q=a+b",
        body: '{"n":1}',
        headers: { "x-token": "t", "idempotency-key": "key-1", "content-type": "application/json" },
      },
    ]);
  });

  it("sends a text as it is, and leaves headers that the step names alone", async () => {
    const headers = { "idempotency-key": "mine", "content-type": "text/csv" };
    await perform({ method: "PUT", headers, body: "a,b" });
    expect(seen).toMatchObject([{ body: "a,b", headers }]);
  });

  it.each([
    [404, false],
    [400, false],
    [500, true],
    [408, true],
  ])("fails on an answer of %i; another attempt may mend it: %s", async (status, retryable) => {
    answer = (response) => response.writeHead(status).end("no such thing");
    expect(await perform({ url: `${origin}/a?token=secret#x` })).toEqual({
      status: "failed",
      error: {
        code: "STEP_FAILED",
        message: `GET ${origin}/a was answered with ${status}`,
        retryable,
        details: { status, body: "no such thing", retryable },
      },
    });
  });

  it("takes such an answer as a result where the step says so", async () => {
    answer = (response) => response.writeHead(404).end();
    expect(await perform({}, { failOnStatus: false })).toMatchObject({ status: "completed", output: { status: 404 } });
  });

  it("waits as long as it is told: HTTP_RATE_LIMITED with the time, in seconds or as a date", async () => {
    const clock = new FakeClock();
    const limited = openPerformerRoom({ clock });
    const work = createStepWork("http", { rendered: { method: "GET", url: `${origin}/a` } });
    const asked = ["120", new Date(clock.nowMs() + 7_200_000).toUTCString()];
    for (const [index, waitMs] of [120_000, 7_200_000].entries()) {
      answer = (response) => response.writeHead(429, { "retry-after": asked[index] }).end();
      const outcome = await limited.perform(work);
      expect(outcome).toMatchObject({ status: "failed", error: { code: "HTTP_RATE_LIMITED", retryable: true } });
      const atMs = outcome.status === "failed" ? (outcome.error.retryAtMs ?? 0) : 0;
      expect(Math.abs(atMs - clock.nowMs() - waitMs)).toBeLessThan(1_000);
    }
    await limited.close();
  });

  it("fails when nobody listens, and names the address without its query", async () => {
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    expect(await perform({ url: `http://127.0.0.1:${port}/a?token=secret` })).toMatchObject({
      status: "failed",
      error: {
        code: "STEP_FAILED",
        message: expect.stringContaining(`GET http://127.0.0.1:${port}/a got no answer: connect ECONNREFUSED`),
      },
    });
    server.listen(0);
  });

  it("holds the body against the declared output", async () => {
    answer = (response) => response.writeHead(200, { "content-type": "application/json" }).end('{"b": 1}');
    const definition = { outputSchema: { type: "object", required: ["a"] } };
    expect(await perform({}, definition)).toMatchObject({ error: { code: "STEP_OUTPUT_INVALID" } });
  });

  it("cuts off an answer over the limit, which no other attempt mends", async () => {
    answer = (response) => {
      const part = Buffer.alloc(1024 * 1024, 120);
      const more = (): void => {
        while (response.write(part));
        response.once("drain", more);
      };
      more();
    };
    expect(await perform({})).toMatchObject({
      status: "failed",
      error: { code: "VALUE_TOO_LARGE", retryable: false, details: { limit: LIMITS.httpResponseBytesMax } },
    });
  });

  it("ends with its attempt: what was sent may have acted, what was never sent has not", async () => {
    const controller = new AbortController();
    answer = () => controller.abort();
    expect(await perform({ method: "POST" }, {}, controller.signal)).toEqual({ status: "cancelled" });
    expect(await perform({}, {}, controller.signal)).toEqual({ status: "cancelled", acted: false });
    expect(seen).toHaveLength(1);
  });

  it("ends after its own time where the step has no timeout", async () => {
    const clock = new FakeClock();
    const patient = openPerformerRoom({ clock });
    const work = createStepWork("http", { rendered: { method: "GET", url: `${origin}/a` } });
    answer = () => void clock.advance(LIMITS.httpTimeoutMs);
    const outcome = await patient.perform(work);
    expect(outcome).toMatchObject({
      error: { message: expect.stringContaining(`no answer within ${LIMITS.httpTimeoutMs} ms`) },
    });
    await patient.close();
  });

  it.each(["not an address", "ftp://x/y"])("fails for good with %s as its address", async (url) => {
    expect(await perform({ url })).toMatchObject({ status: "failed", error: { code: "STEP_FAILED" } });
  });
});
