import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { isRunning } from "../../../support/process-probe.js";
import { until } from "../../../support/real-clock.js";
import type { RecordingSink } from "../../../support/recording-sink.js";
import { errorOf, packageOf, STRANGE_SERVER as STRANGE, ToolTalks } from "../../../support/tool-talks.js";

const talks = new ToolTalks();
const effectsOf = (sink: RecordingSink) =>
  sink.of("toolIntended").map(([, intent]) => (intent as { effects: string }).effects);

describe("the tools of a public server over stdio", () => {
  it("are told to the model with their schemas, called, and recorded each by itself", async () => {
    const { outcome, sink, results, requests } = await talks.talk({
      servers: [talks.everything()],
      turns: [
        [{ tool: "every__echo", input: { message: "hello" } }],
        [{ tool: "every__get-sum", input: { a: 2, b: 3 } }],
      ],
    });
    expect(outcome).toMatchObject({ status: "completed", output: { result: "done" } });
    const names = requests[0]?.tools.map(({ name }) => name) ?? [];
    expect(names).toEqual(expect.arrayContaining(["every__echo", "every__get-sum", "every__get-env"]));
    expect(requests[0]?.tools.find(({ name }) => name === "every__get-sum")?.parameters).toMatchObject({
      type: "object",
      required: ["a", "b"],
    });
    expect(results).toEqual([{ value: "Echo: hello" }, { value: "The sum of 2 and 3 is 5." }]);
    expect(sink.of("toolIntended").map(([call]) => call)).toEqual(["1.1", "2.1"]);
    expect(requests[1]?.messages.at(-1)).toMatchObject({
      role: "tool",
      replies: [{ text: "Echo: hello", isError: false }],
    });
  });

  it("get the environment that policy allows and nothing of ours but the mark of its group", async () => {
    const { results } = await talks.talk({
      servers: [
        talks.everything({ reach: { ...talks.everything().reach, environment: { TOKEN: "${MINE}" } } as never }),
      ],
      turns: [[{ tool: "every__get-env" }]],
      environment: { MINE: "handed", OTHER: "kept", SPLASHDOWN_KEY: "kept" },
    });
    const seen = JSON.parse(String(results[0]?.value)) as Record<string, string>;
    expect(seen).toMatchObject({ TOKEN: "handed" });
    expect(Object.keys(seen).filter((name) => /OTHER|MINE|SPLASHDOWN/.test(name))).toEqual(["SPLASHDOWN_GROUP"]);
  });

  it("show a picture by its kind and size, and record it whole", async () => {
    const { results, requests } = await talks.talk({
      servers: [talks.everything()],
      turns: [[{ tool: "every__get-tiny-image" }]],
    });
    expect(results[0]).toMatchObject({ content: [{ type: "text" }, { type: "image", mimeType: "image/png" }, {}] });
    const reply = requests[1]?.messages.at(-1);
    expect(JSON.stringify(reply)).toMatch(/\[\\"image\\" of \\"image\/png\\", \d+ characters of base64\]/);
  });

  it("may be those that the step allows, and no others", async () => {
    const { results, requests } = await talks.talk({
      servers: [talks.everything({ allowed: [["echo", "get-sum"], ["every__echo"]], required: ["every__echo"] })],
      turns: [[{ tool: "every__get-sum", input: { a: 1, b: 1 } }]],
    });
    expect(requests[0]?.tools.map(({ name }) => name)).toEqual(["every__echo"]);
    expect(results).toEqual([{ error: "there is no tool every__get-sum here" }]);
  });

  it("act on files only where the server is given a folder (server-filesystem)", async () => {
    await writeFile(path.join(talks.folder, "note.txt"), "remember");
    const server = talks.program("files", [process.execPath, packageOf("server-filesystem"), talks.folder]);
    const note = { path: path.join(talks.folder, "note.txt") };
    const { results, sink } = await talks.talk({
      servers: [server],
      turns: [
        [{ tool: "files__read_text_file", input: note }],
        [{ tool: "files__write_file", input: { ...note, content: "forgotten" } }],
        [{ tool: "files__read_text_file", input: { path: "/etc/hostname" } }],
        [{ tool: "files__move_file", input: { source: note.path, destination: path.join(talks.folder, "moved.txt") } }],
      ],
    });
    expect(JSON.stringify(results[0])).toContain("remember");
    expect(results[2]?.error).toContain("outside allowed directories");
    expect(await readFile(path.join(talks.folder, "moved.txt"), "utf8")).toBe("forgotten");
    expect(effectsOf(sink)).toEqual(["none", "idempotent", "none", "external"]);
  });
});

describe("a tool server that is strange", () => {
  const act = [[{ tool: "odd__act", input: { n: 1 } }]];
  const seen = [[{ tool: "odd__read", input: { n: 1 } }]];

  it("tells by its hints what may be called again; the file has the last word", async () => {
    const turns = [[{ tool: "odd__act" }, { tool: "odd__read" }, { tool: "odd__again" }]];
    expect(effectsOf((await talks.talk({ servers: [talks.strange("good")], turns })).sink)).toEqual([
      "external",
      "none",
      "idempotent",
    ]);
    const policies = { odd__act: { effects: "none" }, read: { effects: "external" } } as const;
    expect(effectsOf((await talks.talk({ servers: [talks.strange("good", { policies })], turns })).sink)).toEqual([
      "none",
      "external",
      "idempotent",
    ]);
  });

  it("gets the key of the call, which is the same when it is made again", async () => {
    const first = await talks.talk({ servers: [talks.strange("good")], turns: act });
    const turns = first.sink
      .of("turn")
      .slice(0, 1)
      .map(([turn]) => turn as never);
    await talks.talk({ servers: [talks.strange("good")], turns: act, parts: { turns, tools: new Map([["1.1", {}]]) } });
    const call = { name: "act", input: { n: 1 }, key: "key-1/1.1" };
    expect((await talks.read()).map((line) => JSON.parse(line) as unknown)).toEqual([call, call]);
  });

  it("A3: is not called where the result is known", async () => {
    const turns = [{ say: "", calls: [{ id: "x", name: "odd__act", input: { n: 1 } }], factors: [] }];
    const known = new Map([["1.1", { result: { value: "was done" } }]]);
    const { outcome, requests } = await talks.talk({
      servers: [talks.strange("dies")],
      turns: act,
      parts: { turns, tools: known },
    });
    expect(outcome.status).toBe("completed");
    expect(JSON.stringify(requests[0]?.messages)).toContain("was done");
    expect(await talks.read()).toEqual([]);
  });

  it.each([
    ["cannot be found", ["/no/such/program"], "PROGRAM_NOT_FOUND", "/no/such/program does not exist"],
    [
      "ends at once",
      [process.execPath, "-e", "console.error('no licence'); process.exit(3)"],
      "TOOL_SERVER_FAILED",
      "no licence",
    ],
    ["writes what is no message", [process.execPath, STRANGE, "noise"], "TOOL_SERVER_FAILED", "I am no server"],
  ])("fails the step by name when it %s", async (_how, command, code, text) => {
    const { outcome, requests } = await talks.talk({ servers: [talks.program("odd", command)], turns: act });
    expect(errorOf(outcome)).toMatchObject({ code, message: expect.stringContaining(text) as string });
    expect(errorOf(outcome)?.message).toContain("tool server odd cannot be reached");
    expect(requests).toEqual([]);
  });

  it.each([
    ["refuses a call", "refuses", "no such repository"],
    ["says that its tool failed", "fails", "disk full"],
  ])("tells the model when it %s", async (_how, manner, text) => {
    const { outcome, results } = await talks.talk({ servers: [talks.strange(manner)], turns: act });
    expect(outcome.status).toBe("completed");
    expect(results[0]?.error).toContain(text);
  });

  it.each([
    ["dies", {}, "TOOL_SERVER_FAILED", "broke off while it worked on"],
    ["giant", {}, "VALUE_TOO_LARGE", "more than 16777216 bytes"],
    ["silent", { timeoutMs: 300 }, "STEP_TIMEOUT", "silent for 0.3 seconds"],
  ])("fails the attempt when %s loses the result of a call that may have acted", async (manner, more, code, text) => {
    const { outcome, sink, results } = await talks.talk({ servers: [talks.strange(manner, more)], turns: act });
    expect(errorOf(outcome)).toMatchObject({ code, message: expect.stringContaining(text) as string });
    expect(sink.of("toolIntended")).toHaveLength(1);
    expect(results).toEqual([]);
  });

  it.each([
    ["dies", {}, "out of memory"],
    ["giant", {}, "more than 16777216 bytes"],
    ["silent", { timeoutMs: 300 }, "silent for 0.3 seconds"],
  ])(
    "is a failure told to the model when %s loses the result of a call that only reads",
    async (manner, more, text) => {
      const { outcome, results } = await talks.talk({ servers: [talks.strange(manner, more)], turns: seen });
      expect(outcome.status).toBe("completed");
      expect(results[0]?.error).toContain(text);
    },
  );

  it("is started anew for the call after the one it died in", async () => {
    const { results } = await talks.talk({ servers: [talks.strange("dies")], turns: [...seen, ...seen] });
    expect(results).toHaveLength(2);
    expect(await talks.read()).toHaveLength(2);
  });

  it("is understood through noise, and an answer that comes twice counts once", async () => {
    for (const manner of ["garbage", "twice"]) {
      const { results } = await talks.talk({ servers: [talks.strange(manner)], turns: act });
      expect(results).toEqual([{ value: 'act {"n":1}' }]);
    }
  });

  it("is cut for the model with a word that says so, and recorded whole", async () => {
    const definition = { options: { tool_output: { enabled: true, max_chars: 1_000 } } };
    const { results, requests } = await talks.talk({
      servers: [talks.strange("large")],
      turns: act,
      parts: { definition },
    });
    expect(String(results[0]?.value)).toHaveLength(600_000);
    const reply = requests[1]?.messages.at(-1);
    const text = reply?.role === "tool" ? (reply.replies[0]?.text ?? "") : "";
    expect(text).toBe(`${"y".repeat(1_000)}\n… cut: the first 1000 of 600000 characters are shown`);
  });

  it("is named where the step asks for a tool that it does not have", async () => {
    const { outcome } = await talks.talk({
      servers: [talks.strange("good", { allowed: [["raed"]], required: ["raed"] })],
      turns: act,
    });
    expect(errorOf(outcome)).toMatchObject({
      code: "TOOL_UNAVAILABLE",
      message: "step root/work names the tool raed, which no server has; there are odd__act, odd__read, odd__again",
    });
  });

  it("is not started where none of its tools is allowed", async () => {
    const servers = [talks.strange("good"), talks.program("other", ["/no/such/program"], { allowed: [["odd__act"]] })];
    const { outcome, results } = await talks.talk({ servers, turns: act });
    expect(outcome.status).toBe("completed");
    expect(results).toHaveLength(1);
  });

  it("gets its arguments filled in when it is started", async () => {
    const command = ["sh", "-c", `echo "$0" > words; exec ${process.execPath} ${STRANGE} good`, "--token=${MINE}"];
    const { outcome } = await talks.talk({
      servers: [talks.program("odd", command)],
      turns: act,
      environment: { MINE: "handed" },
    });
    expect(outcome.status).toBe("completed");
    expect(await talks.read("words")).toEqual(["--token=handed"]);
  });

  it("is named where a variable of it is not set", async () => {
    const reach = { by: "stdio", command: ["x"], environment: { TOKEN: "${NOWHERE}" } } as const;
    const { outcome } = await talks.talk({ servers: [talks.strange("good", { reach })], turns: act });
    expect(errorOf(outcome)).toMatchObject({
      code: "TOOL_UNAVAILABLE",
      message: expect.stringContaining("NOWHERE") as string,
    });
  });

  it("is shared by steps that name it alike, and ends with them", async () => {
    const pids = path.join(talks.folder, "pids");
    const command = ["sh", "-c", `echo $$ >> ${pids}; exec ${process.execPath} ${STRANGE} good`];
    const { room } = await talks.talk({ servers: [talks.program("odd", command)], turns: act });
    const [pid = 0, ...others] = (await readFile(pids, "utf8")).trim().split("\n").map(Number);
    expect(others).toEqual([]);
    expect(isRunning(pid)).toBe(true);
    await room.close();
    await until("the server has ended", () => !isRunning(pid));
  });

  it("is not waited for when its step is over", async () => {
    const { ended, sink, cancel } = talks.begin({ servers: [talks.strange("silent")], turns: act });
    await until("the tool is called", () => sink.of("toolIntended").length === 1);
    cancel();
    expect((await ended).outcome).toEqual({ status: "cancelled" });
  });
});
