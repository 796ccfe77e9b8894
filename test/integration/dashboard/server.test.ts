/** The dashboard's server over loopback: every call is a view, what is wrong is an error, and streams tell what changes. */
import { request } from "node:http";
import { describe, expect, it } from "vitest";
import { ROUTES } from "../../../src/dashboard/routes.js";
import type { Splashdown } from "../../../src/index.js";
import { openDashboardPage } from "../../support/dashboard-page.js";
import { openSplashdownInMemory } from "../../support/library-place.js";
import { expectView } from "../../support/view-schemas.js";

const ASKING = {
  workflow: { name: "ask", entry_point: "gate" },
  agents: [
    {
      name: "gate",
      type: "human_gate",
      prompt: "Send <b>it</b>?",
      options: [
        { label: "Yes", value: "yes", route: "send" },
        { label: "No", value: "no", route: "$end" },
      ],
    },
    { name: "send", type: "set", value: "sent", routes: [{ to: "$end" }] },
  ],
};

async function openAsking(): Promise<Splashdown> {
  const splashdown = await openSplashdownInMemory();
  await splashdown.run({ workflow: ASKING, task: "t" });
  return splashdown;
}

/** Each reading call with the schema of its answer, or of the rows of it. */
const READS: readonly (readonly [string, string | undefined])[] = [
  ["/api/session", undefined],
  ["/api/tasks", "list"],
  ["/api/questions", "questions"],
  ["/api/metrics", "metrics"],
  ["/api/doctor", "doctor"],
  ["/api/diff?from=t:1&to=t:latest", "diff-checkpoints"],
  ["/api/tasks/t", "show"],
  ["/api/tasks/t?at=1", "show"],
  ["/api/tasks/t/graph", "graph"],
  ["/api/tasks/t/timeline", "timeline"],
  ["/api/tasks/t/confidence", "confidence"],
  ["/api/tasks/t/metrics", "metrics"],
  ["/api/tasks/t/audit", "audit"],
  ["/api/tasks/t/checkpoints", "checkpoint-list"],
  ["/api/tasks/t/checkpoints/latest?values=1", "checkpoint"],
  ["/api/tasks/t/steps/main%2Fgate%401.1", "step"],
  ["/api/tasks/t/events?from=2", "events"],
  ["/api/tasks/t/plan", "resume-plan"],
];

describe("reading calls", () => {
  it("all answer with the view that the command prints with --json", async () => {
    const page = await openDashboardPage(await openAsking());
    for (const [path, schema] of READS) {
      const { status, body, headers } = await page.get(path);
      expect({ path, status }).toEqual({ path, status: 200 });
      expect(headers.get("cache-control")).toBe("no-store");
      if (schema !== undefined) expectView(schema, body);
    }
    const patterns = ROUTES.filter(({ method }) => method === "GET").map(
      ({ pattern }) => new RegExp(`^${pattern.replaceAll(/:\w+/g, "[^/]+")}$`),
    );
    for (const pattern of patterns) expect(READS.some(([path]) => pattern.test(path.split("?")[0] ?? ""))).toBe(true);
  });

  it.each([
    ["/api/tasks/nobody", 404, "TASK_NOT_FOUND"],
    ["/api/tasks/t/steps/none", 404, undefined],
    ["/api/tasks/t?at=0", 400, "USAGE_INVALID"],
    ["/api/tasks/t?at=99", 400, "USAGE_INVALID"],
    ["/api/tasks/t/checkpoints/99", 404, "CHECKPOINT_NOT_FOUND"],
    ["/api/diff?from=t:1", 400, "USAGE_INVALID"],
    ["/api/tasks/%E0%A4%A/graph", 400, "USAGE_INVALID"],
    ["/api/nothing", 404, "DASHBOARD_REFUSED"],
    ["/api/tasks/..%2F..%2Fetc/graph", 404, "TASK_NOT_FOUND"],
    ["/assets/../../package.json", 404, "DASHBOARD_REFUSED"],
    ["/..%2fpackage.json", 404, "DASHBOARD_REFUSED"],
  ])("GET %s is a typed error", async (path, status, code) => {
    const page = await openDashboardPage(await openAsking());
    const { status: got, body } = await page.get(path);
    expectView("error", body);
    expect({ status: got, ...(code === undefined ? {} : { code: (body["error"] as { code: string }).code }) }).toEqual({
      status,
      ...(code === undefined ? {} : { code }),
    });
  });

  it("is served at every address of the page, which is the same document", async () => {
    const page = await openDashboardPage(await openAsking());
    for (const path of ["/", "/tasks/t", "/inbox"]) {
      const { status, headers } = await page.get(path, { "accept-encoding": "identity" });
      expect([status, headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
      expect(headers.get("content-security-policy")).toContain("default-src 'none'");
    }
  });

  it("outlives a request that is no address", async () => {
    const page = await openDashboardPage(await openAsking());
    const status = await new Promise<number | undefined>((resolve, reject) => {
      request({ port: page.port, host: "127.0.0.1", path: "//" }, (response) => resolve(response.statusCode))
        .on("error", reject)
        .end();
    });
    expect(status).toBe(400);
    expect((await page.get("/api/session")).status).toBe(200);
  });
});

describe("acting calls", () => {
  it("answer in the name of the dashboard's user; the second answer is told who was first", async () => {
    const splashdown = await openAsking();
    const page = await openDashboardPage(splashdown);
    const first = await page.post("/api/tasks/t/answer", { question: "gate", answer: "yes" });
    expect(first).toMatchObject({ status: 200, body: { answer: "yes", by: "dashboard:ada" } });
    const second = await page.post("/api/tasks/t/answer", { question: "gate", answer: "no" });
    expect(second.status).toBe(409);
    expect(JSON.stringify(second.body)).toContain("dashboard:ada");
    expect((await splashdown.questions()).questions).toEqual([]);
  });

  it("guide, pin, unpin and fork", async () => {
    const splashdown = await openAsking();
    const page = await openDashboardPage(splashdown);
    expect((await page.post("/api/tasks/t/guide", { text: "be kind" })).status).toBe(200);
    expect((await splashdown.show("t")).guidance).toMatchObject([{ text: "be kind", by: "dashboard:ada" }]);
    expect((await page.post("/api/tasks/t/pin", { ref: "1", note: "why" })).status).toBe(200);
    expect((await splashdown.checkpoints.list("t"))[0]).toMatchObject({ pinned: true });
    expect((await page.post("/api/tasks/t/unpin", { ref: "1" })).status).toBe(200);
    const fork = await page.post("/api/tasks/t/fork", { from: "latest", task: "again" });
    expect(fork).toMatchObject({ status: 200, body: { task: "again" } });
  });

  it("start a process that goes on with the task, from a checkpoint where one is given", async () => {
    const started: unknown[] = [];
    const resume = (...words: unknown[]) => {
      started.push(words);
      return Promise.resolve("started" as const);
    };
    const page = await openDashboardPage(await openAsking(), { resume });
    expect(await page.post("/api/tasks/t/resume", {})).toMatchObject({ body: { task: "t", outcome: "started" } });
    await page.post("/api/tasks/t/resume", { from: "1" });
    expect(started).toEqual([
      ["t", []],
      ["t", ["--from=1"]],
    ]);
  });

  it.each([
    ["answer", "no JSON", 400],
    ["answer", "[]", 400],
    ["answer", "{}", 400],
    ["answer", { answer: 7 }, 400],
    ["answer", '{"answer":"yes","answer":"no"}', 400],
    ["answer", '{"answer":"done","value":12345678901234567890}', 400],
    ["answer", { question: "gate", answer: "maybe" }, 400],
    ["request", { request: "explode" }, 400],
    ["guide", {}, 400],
    ["fork", { from: "1", set: 3 }, 400],
    ["fork", { from: "99" }, 404],
    ["pin", { ref: "99" }, 404],
    ["guide", { text: "x".repeat(2 ** 20) }, 413],
  ])("POST %s %j changes nothing and says why", async (verb, body, status) => {
    const splashdown = await openAsking();
    const page = await openDashboardPage(splashdown);
    const before = await splashdown.show("t");
    const answered = await page.post(`/api/tasks/t/${verb}`, body);
    expectView("error", answered.body);
    expect(answered.status).toBe(status);
    expect(await splashdown.show("t")).toEqual(before);
  });

  it("are not there with --read-only", async () => {
    const splashdown = await openAsking();
    const page = await openDashboardPage(splashdown, { readOnly: true });
    expect((await page.post("/api/tasks/t/answer", { answer: "yes" })).status).toBe(404);
    expect((await splashdown.questions()).questions).toHaveLength(1);
  });
});

describe("a stream", () => {
  it("begins with what is there, then tells what changes: rows, questions and the task that is watched", async () => {
    const splashdown = await openAsking();
    const page = await openDashboardPage(splashdown);
    const { messages } = await page.watch("?task=t");
    const first = await page.find(messages, ({ event }) => event === "tasks");
    expect(first.data).toMatchObject({ changed: [{ task: "t", status: "waiting" }], removed: [] });
    await page.find(
      messages,
      ({ event, data }) => event === "questions" && JSON.stringify(data).includes("Send <b>it"),
    );
    await page.find(messages, ({ event, data }) => event === "task" && data["task"] === "t");
    await splashdown.answer({ task: "t", answer: "yes" });
    await splashdown.resume({ task: "t" });
    await page.find(messages, ({ event, data }) => event === "questions" && (data["questions"] as []).length === 0);
    await page.find(
      messages,
      ({ event, data }) => event === "tasks" && JSON.stringify(data).includes('"status":"done"'),
    );
    const done = await page.find(messages, ({ data }) => JSON.stringify(data).includes('"output":'));
    expectView("show", done.data["view"]);
    expect(messages.every(({ event }) => ["beat", "tasks", "questions", "task"].includes(event))).toBe(true);
  });

  it("of a task that is not there says so, and tells of the others", async () => {
    const page = await openDashboardPage(await openAsking());
    const { messages } = await page.watch("?task=nobody");
    const trouble = await page.find(messages, ({ event }) => event === "trouble");
    expect(trouble.data).toMatchObject({ task: "nobody", error: { code: "TASK_NOT_FOUND" } });
    await page.find(messages, ({ event }) => event === "tasks");
  });

  it("is one reader for all who look, and none when they have left", async () => {
    const splashdown = await openAsking();
    let [looks, lists] = [0, 0];
    const counted: Splashdown = {
      ...splashdown,
      show: (...words) => ((looks += 1), splashdown.show(...words)),
      list: (...words) => ((lists += 1), splashdown.list(...words)),
    };
    const page = await openDashboardPage(counted);
    const streams = await Promise.all(Array.from({ length: 5 }, () => page.watch("?task=t")));
    for (const { messages } of streams) await page.find(messages, ({ event }) => event === "task");
    const [before, beforeLists] = [looks, lists];
    // Five readers of their own would have looked five times each by now.
    expect(before).toBeLessThan(5);
    for (const { leave } of streams) leave();
    const { messages, leave } = await page.watch("");
    await page.find(messages, ({ event }) => event === "tasks");
    leave();
    expect(lists).toBeGreaterThan(beforeLists);
    expect(looks - before).toBeLessThanOrEqual(1);
  });
});
