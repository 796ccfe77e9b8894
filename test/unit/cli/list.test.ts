/** `list`: filters, orders, costs, and what each task needs. */
import { writeCommand } from "../../../src/base/command-text.js";
import { describe, expect, it } from "vitest";
import { parseSince } from "../../../src/cli/command/flags.js";
import { formatList } from "../../../src/cli/text/list-text.js";
import { isWanted, sortTasks } from "../../../src/cli/verbs/list.js";
import type { TaskSummaryView } from "../../../src/runtime/contract.js";
import { openKeyboard } from "../../support/typed-command.js";
import { expectView } from "../../support/view-schemas.js";

const NOW = Date.parse("2026-11-29T12:00:00Z");
const spent = (cost_usd: number, unpriced_calls = 0, calls = 2) => ({
  calls,
  tokens: 18_500,
  cost_usd,
  unpriced_calls,
  uncounted_calls: 0,
});
const TASKS: readonly TaskSummaryView[] = [
  { task: "b", status: "done", workflow: "w", size: 10, last_event_at: "2026-11-29T11:57:00Z", spent: spent(0.004) },
  { task: "a", status: "waiting", workflow: "v", size: 30, last_event_at: "2026-11-28T10:00:00Z", spent: spent(0, 2) },
  {
    task: "c",
    status: "crashed",
    workflow: "w",
    size: 20,
    last_event_at: "2026-11-29T11:59:59Z",
    spent: spent(0.5, 1),
  },
];
const namesOf = (tasks: readonly TaskSummaryView[]): string => tasks.map(({ task }) => task).join("");
const FRAME = { write: writeCommand, nowMs: NOW, isFiltered: false };

describe("the tasks that are wanted", () => {
  it.each([
    [{ status: ["done"] }, "b"],
    [{ status: ["done,crashed"] }, "bc"],
    [{ status: ["waiting", "crashed"] }, "ac"],
    [{ workflow: "w" }, "bc"],
    [{ since: NOW - 3_600_000 }, "bc"],
    [{ since: NOW - 3_600_000, status: ["crashed"] }, "c"],
    [{}, "bac"],
  ])("are those of %j", (flags, names) => {
    expect(namesOf(TASKS.filter((task) => isWanted(task, flags)))).toBe(names);
  });

  it.each([
    ["name", "abc"],
    ["status", "cba"],
    ["last", "cba"],
    ["cost", "cba"],
    ["size", "acb"],
    ["workflow", "abc"],
  ] as const)("come by %s", (order, names) => {
    expect(namesOf(sortTasks(TASKS, order))).toBe(names);
  });

  it.each([
    ["90s", NOW - 90_000],
    ["30m", NOW - 1_800_000],
    ["2h", NOW - 7_200_000],
    ["7d", NOW - 604_800_000],
    ["2026-11-29", Date.parse("2026-11-29T00:00")],
    ["2026-11-29T10:00:00Z", NOW - 7_200_000],
  ])("since %s", (text, atMs) => {
    expect(parseSince(text, NOW)).toBe(atMs);
  });

  it.each(["", "yesterday", "3", "7w", "2026-13-45"])("are not told by --since %j", (text) => {
    expect(() => parseSince(text, NOW)).toThrow("--since takes 30m, 2h, 7d or a date");
  });
});

describe("the list as text", () => {
  it("[first-use F11 kin] says unknown where nobody knows the cost, and how long ago", () => {
    expect(formatList(TASKS, FRAME)).toBe(
      `TASK  STATUS   WORKFLOW  STEPS  TOKENS  COST       LAST EVENT  SIZE
b     done     w                18.5 k  $0.0040    3 min ago   10 B
a     waiting  v                18.5 k  unknown    26 h ago    30 B
  └ answered; splashdown resume a
c     crashed  w                18.5 k  $0.50 + ?  1 s ago     20 B`,
    );
  });

  it("[first-use F11 kin] leaves the columns of costs out where no task called a model, and stays within 80 columns", () => {
    const question = { question: "gate:main/approve@1.1:1", text: "Shall this be sent to all subscribers right now?" };
    const task: TaskSummaryView = {
      task: "newsletter_20261128_195724",
      status: "waiting",
      workflow: "newsletter",
      size: 76_300,
      steps_done: 12,
      last_event_at: "2026-11-29T11:57:00Z",
      open_questions: 1,
      waits_for: question,
    };
    const [head = "", row = "", note = ""] = formatList([task], FRAME).split("\n");
    expect(head).not.toMatch(/COST|TOKENS/);
    expect(Math.max(head.length, row.length)).toBeLessThanOrEqual(80);
    expect(note).toBe(`  └ 1 open question, approve: ${question.text}`);
  });

  it("says what to do where there is none, and that none is so where others are", () => {
    expect(formatList([], FRAME)).toBe("no tasks yet; start one with: splashdown run FILE");
    expect(formatList([], { ...FRAME, isFiltered: true })).toBe("no task matches");
  });
});

describe("the verbs", () => {
  const MODEL = `workflow: {name: asked, runtime: {provider: scripted, scripted_answers: answers.yaml}}
steps:
  - {name: a, type: model, prompt: "?"}
  - {name: b, type: model, prompt: "?", depends_on: [a]}
`;

  it("[first-use F11] show no dollars where no price is known, in run, show, list and metrics", async () => {
    const { type, write, splashdown } = await openKeyboard();
    write("answers.yaml", "a: [{say: x}]\nb: [{say: y}]\n");
    const run = await type(["run", write("w.yaml", MODEL), "--task", "t"]);
    expect(run.out).toContain("  2 model calls, tokens unknown, cost unknown\n");
    expect((await type(["show", "t"])).out).toContain("  2 model calls, tokens unknown, cost unknown\n");
    expect((await type(["list"])).out).toMatch(/\nt +done +asked +2 +unknown +unknown +/);
    const metrics = await type(["metrics"]);
    expect(metrics.out).toContain("2 model calls, tokens unknown, cost unknown");
    expect(metrics.out).toMatch(/\nDAY +CALLS +TOKENS +COST\n\d{4}-\d\d-\d\d +2 +unknown +unknown\n/);
    expect(run.out + metrics.out).not.toContain("$0");
    expectView("list", await splashdown.list());
    expectView("metrics", await splashdown.metrics());
  });

  it("[first-use F11 kin] add up what is known, by task and by day", async () => {
    const { type, write, splashdown } = await openKeyboard();
    write(
      "answers.yaml",
      "a: [{say: x, usage: {input_tokens: 900, output_tokens: 100}, cost_usd: 0.03}]\nb: [{say: y}]\n",
    );
    await type(["run", write("w.yaml", MODEL), "--task", "t"]);
    const [row] = await splashdown.list();
    expect(row?.spent).toEqual({ calls: 2, tokens: 1000, cost_usd: 0.03, unpriced_calls: 1, uncounted_calls: 1 });
    const { spent: all } = await splashdown.metrics();
    expect(all.total).toEqual(row?.spent);
    expect(all.by_day).toEqual([{ day: expect.stringMatching(/^\d{4}-\d\d-\d\d$/) as string, ...row?.spent }]);
    // A scripted model is asked by nobody.
    expect(all.call_duration.count).toBe(0);
    expect((await type(["show", "t"])).out).toContain(
      "2 model calls, 1000 tokens and those of 1 call unknown, $0.0300 and 1 call of unknown price",
    );
  });

  it("show none of it where no model was called", async () => {
    const { type, write } = await openKeyboard();
    await type([
      "run",
      write("w.yaml", "workflow: {name: s}\nsteps: [{name: a, type: set, value: 1}]\n"),
      "--task",
      "t",
    ]);
    expect((await type(["metrics"])).out).toContain("no model calls");
    expect((await type(["list", "--status", "failed"])).out).toBe("no task matches\n");
  });

  it("watch until they are interrupted, and print only what has changed", async () => {
    const { type } = await openKeyboard();
    const leaving = new AbortController();
    const watching = type(["list", "--watch"], leaving.signal);
    leaving.abort({ signal: "SIGINT", exitStatus: 130 });
    const { out, status } = await watching;
    expect(status).toBe(130);
    expect(out.split("no tasks yet").length - 1).toBeLessThanOrEqual(1);
    await expect(type(["list", "--watch", "--json"])).rejects.toMatchObject({ code: "USAGE_INVALID" });
  });
});
