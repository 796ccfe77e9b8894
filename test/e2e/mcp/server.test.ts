/** The server as a client of any kind meets it: pure protocol on stdout, a clean end, and no crash. */
import { describe, expect, it } from "vitest";
import { openPlace } from "../../support/command-place.js";
import { until } from "../../support/real-clock.js";

const HELLO = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "1" } },
});

describe("splashdown mcp", () => {
  it("answers on stdout alone, goes on after garbage, and ends with 0 when its input does", async () => {
    const place = openPlace();
    const server = place.start(["mcp", "--debug"], { keepInput: true });
    server.child.stdin?.write(`${HELLO}\nnot JSON\n{"jsonrpc":"2.0","method":"notifications/initialized"}\n`);
    server.child.stdin?.write('{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"list_tasks"}}\n');
    await until("both were answered", () => server.stdout().split("\n").length === 4);
    server.child.stdin?.end();
    const { code, stdout, stderr } = await server.done;
    expect(code).toBe(0);
    const answers = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { id: unknown; error?: object });
    const byId = new Map(answers.map(({ id, error }) => [id, error === undefined]));
    expect(byId).toEqual(
      new Map<unknown, boolean>([
        [1, true],
        [null, false],
        [2, true],
      ]),
    );
    expect(stderr).toContain("mcp: a line of the client was refused: not JSON");
  });

  it("ends with 0 when it is asked to by a signal, and refuses a root that is no folder with 2", async () => {
    const place = openPlace();
    const server = place.start(["mcp"], { keepInput: true });
    server.child.stdin?.write(`${HELLO}\n`);
    await until("it is there", () => server.stdout() !== "");
    server.child.kill("SIGTERM");
    expect(await server.done).toMatchObject({ code: 0, signal: null });
    const refused = await place.run(["mcp", "--root", "none", "--json"]);
    expect(refused).toMatchObject({ code: 2, stdout: "" });
    expect(refused.stderr).toContain("USAGE_INVALID");
  });
});
