/** Attempts that did their work and whose result cannot be used, or that were begun and whose end is not known. */
import { createServer, type Server } from "node:net";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { StepKind } from "../../../src/definition/model/step.js";
import { openPerformerRoom, type PerformerRoom } from "../../support/performer-room.js";
import { createStepWork, type WorkParts } from "../../support/step-work.js";
import { errorOf } from "../../support/tool-talks.js";

const N = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
const sh = (script: string): WorkParts => ({ rendered: { command: ["sh", "-c", script] } });
const declared = (parts: WorkParts): WorkParts => ({ ...parts, definition: { outputSchema: N } });

let room: PerformerRoom;
let reply: string | undefined;
let server: Server;
let url: string;
beforeEach(async () => {
  const functions = new Map<string, (context: never) => unknown>([
    ["@seven", () => ({ n: "7" })],
    ["@code", () => ({ run: () => undefined })],
    ["@sure", () => ({ output: 1, confidence: 95 })],
    ["@throws", () => Promise.reject(new Error("declined"))],
  ]);
  room = openPerformerRoom({ functions });
  server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () => (reply === undefined ? socket.destroy() : socket.end(reply)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/charge`;
});
afterEach(async () => {
  await new Promise((resolve) => server.close(resolve));
  await room.close();
});

const perform = (kind: StepKind, parts: WorkParts) => room.perform(createStepWork(kind, parts));
const post = (): WorkParts => ({ rendered: { method: "POST", url, query: {}, headers: {} } });
const call = (name: string, definition: object = {}): WorkParts => ({
  definition: { function: `@${name}`, ...definition },
});

describe("an attempt that has done its work", () => {
  it.each<[string, StepKind, WorkParts]>([
    ["[public C kin] a command that exited with 0 and wrote no JSON", "command", sh("echo charged")],
    ["[public C kin] a command whose output is not the declared one", "command", declared(sh('echo \'{"n":"7"}\''))],
    ["[public C kin] a command with an impossible confidence", "command", sh(`echo '{"output":1,"confidence":95}'`)],
    ["[public C kin] a command whose output is no text", "command", sh("printf '\\377'")],
    ["[public C kin] a script without the declared object", "script", declared(sh("echo charged"))],
    ["[public C kin] a function whose result is not the declared one", "function", call("seven", { outputSchema: N })],
    ["[public C kin] a function whose result cannot be kept", "function", call("code")],
    ["[public C kin] a function with an impossible confidence", "function", call("sure")],
  ])("says so when its result cannot be used: %s", async (_title, kind, parts) => {
    expect(errorOf(await perform(kind, parts))?.details).toMatchObject({ acted: "yes" });
  });

  it("[public C kin] keeps what an http answer said", async () => {
    reply = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{"n":"7"}';
    const error = errorOf(await perform("http", { ...post(), definition: { outputSchema: N } }));
    expect(error).toMatchObject({ code: "STEP_OUTPUT_INVALID", details: { acted: "yes", raw: '{"n":"7"}' } });
  });
});

describe("a request whose answer did not come", () => {
  it("[public C kin] may have acted where it went out", async () => {
    reply = undefined;
    expect(errorOf(await perform("http", post()))?.details).toMatchObject({ acted: "maybe" });
  });

  it("[public C kin] may have acted where the answer was cut", async () => {
    reply = "HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\ncharged";
    expect(errorOf(await perform("http", post()))?.details).toMatchObject({ acted: "maybe" });
  });

  it("has not acted where nobody took it", async () => {
    await new Promise((resolve) => server.close(resolve));
    server.listen(0);
    const error = errorOf(await perform("http", post()));
    expect(error?.message).toContain("got no answer");
    expect(error?.details?.["acted"]).toBeUndefined();
  });
});

describe("an attempt that says itself that it failed", () => {
  it.each<[string, StepKind, WorkParts]>([
    ["a command", "command", sh("exit 3")],
    ["a function", "function", call("throws")],
  ])("is a failure and nothing more: %s", async (_title, kind, parts) => {
    const error = errorOf(await perform(kind, parts));
    expect(error?.code).toBe("STEP_FAILED");
    expect(error?.details?.["acted"]).toBeUndefined();
  });
});
