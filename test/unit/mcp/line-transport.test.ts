/** What a client may send that is no message: it is told so, and the server goes on. */
import { describe, expect, it } from "vitest";
import { LIMITS } from "../../../src/base/limits.js";
import { openTalk } from "../../support/mcp-talk.js";
import { until } from "../../support/real-clock.js";
import { openFolder } from "../../support/temporary-folder.js";

describe("a line that is no message", () => {
  it("is answered as JSON-RPC says, and the next one is taken", async () => {
    const talk = await openTalk(openFolder());
    await talk.greet();
    talk.send('{"jsonrpc": "2.0", "id": 7, "meth\n');
    talk.send("garbage \u0000\u001b[2J\n\r\n\n");
    talk.send('{"id": 8, "method": "tools/list"}\n');
    talk.send('[{"jsonrpc": "2.0", "id": 9, "method": "tools/list"}]\n"text"\n');
    await until("each was answered", () => talk.lines.length === 6);
    const refused = talk.messages().slice(1);
    expect(refused.map(({ id, error }) => [id, error?.code])).toEqual([
      [null, -32_700],
      [null, -32_700],
      [8, -32_600],
      [null, -32_600],
      [null, -32_600],
    ]);
    expect((await talk.request("tools/list")).result?.["tools"]).toHaveLength(14);
  });

  it("may be longer than any message: it is refused without being kept, also when it has no end", async () => {
    const talk = await openTalk(openFolder());
    await talk.greet();
    const piece = Buffer.alloc(LIMITS.mcpMessageBytesMax / 4, "x");
    for (let sent = 0; sent < 6; sent += 1) talk.send(piece);
    talk.send("\n");
    await until("it was refused", () => talk.lines.length === 2);
    expect(talk.messages()[1]?.error).toEqual({
      code: -32_600,
      message: `a message may have ${LIMITS.mcpMessageBytesMax} bytes, and this has more`,
    });
    expect((await talk.request("tools/list")).error).toBeUndefined();
    talk.send(piece);
    talk.hangUp();
    await talk.ended;
  });
});

describe("what goes out", () => {
  it("is a line a message, in which control characters are escaped and mean the same", async () => {
    const talk = await openTalk(openFolder());
    await talk.greet();
    const { error } = await talk.request("tools/call", { name: "none\u009b2J\u202e" });
    expect(error?.message).toBe("there is no tool none\u009b2J\u202e");
    expect(talk.lines.at(-1)).toContain("none\\u009b2J\\u202e");
  });

  it("ends with the client's end, and with a signal", async () => {
    const left = await openTalk(openFolder());
    await left.greet();
    left.hangUp();
    await left.ended;
    const stopped = await openTalk(openFolder());
    await stopped.greet();
    stopped.stop();
    await stopped.ended;
    expect(stopped.lines).toHaveLength(1);
  });
});
