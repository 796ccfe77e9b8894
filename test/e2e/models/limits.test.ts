/** Providers that ask to wait, and models that are silent, as the command meets them over loopback. */
import { describe, expect, it } from "vitest";
import type { EventView, RunView, TaskSummaryView } from "../../../src/runtime/contract.js";
import { limited, ONE_STEP, openModelPlace as open, RUN_FLOW as RUN } from "../../support/model-place.js";
import {
  answer,
  goodAnswer,
  stream,
  textChunk,
  toolAnswer,
  writeChunk,
  type RawReply,
} from "../../support/raw-server.js";
import { until } from "../../support/real-clock.js";

/** Replies that write down when they were asked for. */
function timed(...replies: readonly RawReply[]): { readonly times: number[]; readonly replies: readonly RawReply[] } {
  const times: number[] = [];
  return { times, replies: replies.map((next) => (socket) => (times.push(Date.now()), next(socket))) };
}

const gapMs = ([first = 0, second = 0]: readonly number[]): number => second - first;

describe("FAULTS 26: a provider that asks to wait", () => {
  it.each<[string, RawReply, number]>([
    ["seconds", limited({ "retry-after": "1" }), 1_000],
    ["a date", (socket) => limited({ "retry-after": new Date(Date.now() + 2_000).toUTCString() })(socket), 900],
    ["503 with seconds", limited({ "retry-after": "1" }, 503), 1_000],
    ["a date in the past", limited({ "retry-after": "Thu, 01 Jan 2026 00:00:00 GMT" }), 0],
    [
      "words in the body",
      (socket) => answer(socket, 429, {}, '{"error":{"message":"Please try again in 1500ms."}}'),
      1_500,
    ],
  ])("in %s is asked again no earlier, and it uses up no attempt", async (_name, reply, waitMs) => {
    const { times, replies } = timed(reply, goodAnswer("at last"));
    const { place } = await open({ replies });
    expect((await place.run(RUN)).code).toBe(0);
    expect(times).toHaveLength(2);
    expect(gapMs(times)).toBeGreaterThanOrEqual(waitMs - 20);
  });

  it("for long ends with 75 and the time; running again before it asks nothing", async () => {
    const { place, server } = await open({ replies: [limited({ "retry-after": "99999" })] });
    const first = await place.run(RUN);
    expect(first.code).toBe(75);
    expect(first.stdout + first.stderr).toMatch(/\d{4}-\d\d-\d\d/);
    expect(server.requests).toHaveLength(1);
    expect((await place.run(RUN)).code).toBe(75);
    expect(server.requests).toHaveLength(1);
  });

  it("is left at once with --no-wait, and taken up by recover when the time has come", async () => {
    const { times, replies } = timed(limited({ "retry-after": "1" }), goodAnswer("at last"));
    const { place } = await open({ replies });
    const left = await place.run([...RUN, "--no-wait"]);
    expect(left.code).toBe(75);
    expect(left.stderr).toMatch(/… work waits until .*: local\/m answered 429: slow down/);
    const [row] = (await place.run(["list", "--json"])).json<TaskSummaryView[]>();
    const untilMs = Date.parse(row?.resume_at ?? "");
    await until("the time has come", () => Date.now() > untilMs);
    const { code, stdout } = await place.run(["recover"]);
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining("now done") as string });
    expect(gapMs(times)).toBeGreaterThanOrEqual(980);
  });

  it("for long is waited for with --wait, by an owner that lives", async () => {
    const { place, server } = await open({ replies: [limited({ "retry-after": "99999" })] });
    const running = place.start([...RUN, "--wait"]);
    await until("it was asked to wait", () => server.requests.length === 1);
    const paused = async () => (await place.run(["events", "t", "--json"])).stdout.includes("retry_at");
    await until("that is recorded", paused);
    expect((await place.run(["checkpoint", "t"])).code).toBe(0);
    running.child.kill("SIGINT");
    expect((await running.done).code).toBe(130);
  });

  it("in the middle of a step's turns is asked again for that turn alone", async () => {
    const flow = `workflow: {name: ask, runtime: {provider: local, default_model: m}}
tools: [{name: look, function: "./tools.mjs#look", effects: none}]
steps: [{name: work, prompt: "hello"}]
`;
    const replies = [toolAnswer("look"), toolAnswer("look"), limited({ "retry-after": "1" }), goodAnswer("at last")];
    const { place, server } = await open({ replies, flow });
    place.write("tools.mjs", "export const look = () => ({ seen: true });\n");
    expect((await place.run([...RUN, "--json"])).json<RunView>()).toMatchObject({ exit_status: 0 });
    const answers = server.requests.map((request) => request.split('"role":"assistant"').length - 1);
    expect(answers).toEqual([0, 1, 2, 2]);
  });

  it("keeps the wait through a kill: no request before the time", async () => {
    const { times, replies } = timed(limited({ "retry-after": "3" }), goodAnswer("ok"));
    const { place } = await open({ replies });
    const running = place.start(RUN);
    // What is told is durable; asking another process would take as long as the wait.
    await until("it was refused and waits", () => running.stderr().includes(" waits until "));
    running.child.kill("SIGKILL");
    await running.done;
    expect((await place.run(RUN)).code).toBe(0);
    expect(gapMs(times)).toBeGreaterThanOrEqual(2_980);
  });

  it("holds back all others: no more are refused than were under way", async () => {
    const flow = `workflow: {name: ask, entry_point: all, runtime: {provider: local, default_model: m}, input: {list: {type: array}}}
agents: []
for_each:
  - {name: all, type: for_each, source: workflow.input.list, as: it, max_concurrent: 2, agent: {name: w, prompt: "{{ it }}"}, routes: [{to: $end}]}
output: {outputs: "{{ all.outputs }}"}
`;
    const refused: number[] = [];
    const reply: RawReply = (socket) => {
      const now = Date.now();
      if (now >= (refused[0] ?? now) + 1_980) return goodAnswer("ok")(socket);
      refused.push(now);
      return limited({ "retry-after": "2" })(socket);
    };
    const { place, server } = await open({ replies: [reply], flow });
    expect((await place.run([...RUN, "--input", "list=[1,2,3,4,5,6]"])).code).toBe(0);
    expect(refused.length).toBeLessThanOrEqual(2);
    expect(server.requests).toHaveLength(6 + refused.length);
  });
});

describe("FAULTS 12: a model that is silent", () => {
  const alive: RawReply = (socket) => {
    stream(socket, textChunk("a sign of life"));
    const timer = setInterval(() => writeChunk(socket, ": keep-alive\n\n"), 100);
    socket.on("close", () => clearInterval(timer));
  };
  const half: RawReply = (socket) => stream(socket, textChunk("half an answer"));
  const never: RawReply = () => undefined;
  const three = (idle: string) => `workflow: {name: ask, entry_point: all, runtime: {provider: local, default_model: m}}
parallel:
  - {name: all, agents: [a, b, c], failure_mode: continue_on_error, routes: [{to: $end}]}
agents: [${["a", "b", "c"].map((name) => `{name: ${name}, prompt: "hello"${idle}, retry: {max_attempts: 1}}`).join(", ")}]
output: {errors: "{{ all.errors | length }}"}
`;

  it("is ended by idle_timeout when it never answers, stops halfway or only keeps alive; what came is kept", async () => {
    const { place, server } = await open({ replies: [never, half, alive], flow: three(", idle_timeout: 5s") });
    const { json } = await place.run([...RUN, "--json"]);
    expect(json<RunView>()).toMatchObject({ steps: { done: 0, failed: 3 } });
    expect(server.requests).toHaveLength(3);
    const events = (await place.run(["events", "t", "--json"])).json<EventView[]>();
    const tell = (wanted: string) =>
      events.filter(({ type }) => type === wanted).map(({ event }) => JSON.stringify(event));
    expect(tell("step_failed").map((text) => text.includes("silent for longer than its idle_timeout"))).toEqual([
      true,
      true,
      true,
    ]);
    for (const came of ["half an answer", "a sign of life"]) expect(tell("progress_reported").join()).toContain(came);
  });

  it("is no model that asks to wait for longer", async () => {
    const flow = ONE_STEP.replace('prompt: "hello"', 'prompt: "hello", idle_timeout: 6s, retry: {max_attempts: 1}');
    const { place, server } = await open({ replies: [limited({ "retry-after": "7" }), goodAnswer("ok")], flow });
    expect((await place.run(RUN)).code).toBe(0);
    expect(server.requests).toHaveLength(2);
  });

  it("is left at Ctrl+C whatever it does, with everything saved", async () => {
    const { place, server } = await open({ replies: [never, half, alive], flow: three("") });
    const running = place.start(RUN);
    await until("all are asked", () => server.requests.length === 3);
    const startedAt = performance.now();
    running.child.kill("SIGINT");
    expect((await running.done).code).toBe(130);
    // Two seconds are promised; the rest is for a machine that has other work.
    expect(performance.now() - startedAt).toBeLessThan(20_000);
    server.replies = [goodAnswer("whole")];
    const { json } = await place.run(["resume", "t", "--json"]);
    expect(json<RunView>()).toMatchObject({ exit_status: 0, steps: { done: 3 } });
  });

  it("is left at Ctrl+C while it asks to wait", async () => {
    const { place, server } = await open({ replies: [limited({ "retry-after": "50" })] });
    const running = place.start(RUN);
    await until("it was asked", () => server.requests.length === 1);
    running.child.kill("SIGINT");
    expect((await running.done).code).toBe(130);
  });
});
