/** Tool servers over HTTP: the public one in both of its forms, and some that are broken. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { findFreePort } from "../../../support/free-port.js";
import { until } from "../../../support/real-clock.js";
import { errorOf, packageOf, ToolTalks } from "../../../support/tool-talks.js";

const talks = new ToolTalks();

describe("the tools of a server over HTTP", () => {
  const served: ChildProcess[] = [];
  afterEach(async () => {
    for (const child of served.splice(0)) {
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
    }
  });

  /** The public server, listening; its port. */
  async function serve(kind: string, said: string): Promise<number> {
    const port = await findFreePort();
    const child = spawn(process.execPath, [packageOf("server-everything"), kind], {
      env: { PORT: String(port) },
      stdio: ["ignore", "ignore", "pipe"],
    });
    served.push(child);
    let text = "";
    child.stderr?.on("data", (chunk: Buffer) => (text += chunk.toString()));
    await until("the server listens", () => text.includes(said));
    return port;
  }

  it.each([
    { by: "http", kind: "streamableHttp", said: "listening on port", path: "mcp" },
    { by: "sse", kind: "sse", said: "running on port", path: "sse" },
  ] as const)("are called like those over stdio, and tell their progress: $by", async ({ by, kind, said, path }) => {
    const url = `http://127.0.0.1:${await serve(kind, said)}/${path}`;
    const { outcome, results, sink } = await talks.talk({
      servers: [{ server: "far", reach: { by, url, headers: {} }, allowed: [], policies: {} }],
      turns: [
        [
          { tool: "far__echo", input: { message: "over there" } },
          { tool: "far__get-sum", input: { a: 4, b: 5 } },
          { tool: "far__trigger-long-running-operation", input: { duration: 0.1, steps: 2 } },
        ],
      ],
    });
    expect(outcome.status).toBe("completed");
    expect(results).toEqual([
      { value: "Echo: over there" },
      { value: "The sum of 4 and 5 is 9." },
      { value: "Long running operation completed. Duration: 0.1 seconds, Steps: 2." },
    ]);
    expect(sink.of("progress")).toContainEqual([{ message: "trigger-long-running-operation is at work" }]);
  });

  it.each([
    ["refuses", (answer: ServerResponse) => void answer.writeHead(503).end("closed for today"), /503|closed for today/],
    [
      "answers with what is no message",
      (answer: ServerResponse) => void answer.writeHead(200, { "content-type": "application/json" }).end("<html>"),
      /JSON/,
    ],
    ["cuts the answer", (answer: ServerResponse) => void answer.destroy(), /fetch failed/],
  ])("fail the step by name when the server %s", async (_how, respond, text) => {
    const server = createServer((_request, answer) => respond(answer)).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const reach = { by: "http", url: `http://127.0.0.1:${port}/mcp`, headers: {} } as const;
    const { outcome } = await talks.talk({
      servers: [{ server: "far", reach, allowed: [], policies: {} }],
      turns: [[]],
    });
    server.close();
    expect(errorOf(outcome)).toMatchObject({ code: "TOOL_SERVER_FAILED", retryable: true });
    expect(errorOf(outcome)?.message).toMatch(text);
  });
});
