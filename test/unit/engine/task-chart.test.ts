import { describe, expect, it } from "vitest";
import { drawTaskChart } from "../../../src/engine/reports/task-chart.js";
import type { TaskState } from "../../../src/engine/model/state.js";
import { done, EngineHarness, failed } from "../../support/engine-harness.js";
import { RunnerRoom } from "../../support/runner-room.js";
import { machine, model, phase, phases, workflow } from "../../support/workflow-builder.js";
import { findXmlFault } from "../../support/xml-check.js";

const flow = workflow(
  phases("main", [
    phase(1, "look", [model("a"), model("b", { dependsOn: ["a"] })]),
    phase(2, "write", [model("author")]),
  ]),
);
const CONFIDENCE: Readonly<Record<string, number>> = { a: 0.9, b: 0.8, author: 0.95 };

function draw(state: TaskState): string {
  const content = drawTaskChart(state)?.content;
  return content !== undefined && "inline" in content && typeof content.inline === "string" ? content.inline : "";
}

const textsOf = (svg: string): string[] =>
  [...svg.matchAll(/<text[^>]*>([^<]*)<\/text>/g)].map(([, text = ""]) => text);

function runWhole(seed = 1): EngineHarness {
  const harness = new EngineHarness(flow, {
    seed,
    perform: (step) => done(step.name, { confidence: CONFIDENCE[step.name] ?? 1 }),
  });
  harness.run();
  return harness;
}

describe("drawPicture", () => {
  it("shows phases, specialists, confidence, verdicts and decisions in the order of the definition", () => {
    const { state } = runWhole();
    const svg = draw(state);
    expect(findXmlFault(svg)).toBeUndefined();
    expect(textsOf(svg)).toEqual([
      "test",
      "done",
      "1 look",
      "85 %",
      "done",
      "a",
      "90 %",
      "completed",
      "b",
      "80 %",
      "completed",
      expect.stringMatching(/^atlas: /),
      "2 write",
      "95 %",
      "done",
      "author",
      "95 %",
      "completed",
      expect.stringMatching(/^atlas: /),
    ]);
  });

  it("holds no time: other clocks and other random numbers give the same bytes, and so does every crash", () => {
    const first = runWhole();
    const svg = draw(first.state);
    expect(svg).not.toMatch(/\d{4}-\d\d-\d\d|\d\d:\d\d|\d (?:ms|s|min)\b/);
    expect(draw(runWhole(2).state)).toBe(svg);
    for (let kept = 1; kept < first.events.length; kept += 1) {
      const again = runWhole().crash(kept);
      again.nowMs += 86_400_000;
      again.resume();
      again.finish();
      expect(again.state.task?.status, `after ${kept} events`).toBe("done");
      expect(draw(again.state), `after ${kept} events`).toBe(svg);
    }
  });

  it("says what failed, what was never reached, and how often a step was visited", () => {
    const loop = workflow(
      machine("main", [
        model("again", { routes: [{ to: "again", when: "{{ output.n < 3 }}" }, { to: "last" }] }),
        model("last"),
        model("never"),
      ]),
    );
    let n = 0;
    const harness = new EngineHarness(loop, {
      perform: (step) => (step.name === "last" ? failed() : done({ n: (n += 1) })),
    });
    harness.run();
    expect(textsOf(draw(harness.state))).toEqual([
      "test",
      "done",
      "again, visit 3",
      "completed",
      "last",
      "failed",
      "never",
      "not run",
    ]);
  });

  it("is a picture whatever names there are, cut to their beginning, with no more rows than the limit", () => {
    const hostile = ['<script>alert("1")</script>', "a&b;", "\u0000\u001b[2J\ud800", "😀".repeat(300), "]]>'\"--%"];
    const many = Array.from({ length: 300 }, (_value, at) => model(`s${at}`));
    const wild = workflow(machine("main", [...hostile.map((name) => model(name)), ...many]));
    const harness = new EngineHarness(wild, { perform: () => done(1) });
    harness.run();
    const svg = draw(harness.state);
    expect(findXmlFault(svg)).toBeUndefined();
    expect(svg).not.toContain("<script");
    expect(textsOf(svg)).toContain("&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;");
    expect(textsOf(svg)).toContain(`${"😀".repeat(89)}…`);
    expect(textsOf(svg).at(-1)).toBe("… and 105 more");
    expect(svg.length).toBeLessThan(100_000);
  });
});

describe("the picture of a task that ends", () => {
  const single = workflow(machine("main", [model("a")]));

  it("E1: is in the history before it is written, and written before the task closes", async () => {
    const room = new RunnerRoom(single, { drawsPicture: true });
    await room.start();
    await room.finish("a", 1);
    expect(room.closed.end).toBe("done");
    const lines = room.trace.slice(room.trace.indexOf("append delivered"));
    expect(lines.slice(0, 4)).toEqual(["append delivered", "durable", "look", "write final/task.svg"]);
    expect(lines).toContain("append task_closed");
    expect(findXmlFault(room.files.get("final/task.svg") ?? "")).toBeUndefined();
    expect(room.of("delivered")).toHaveLength(1);
  });

  it("is written by the next owner when the first one died between its record and its file", async () => {
    const room = new RunnerRoom(single, { drawsPicture: true });
    room.writeFile = () => new Promise(() => undefined);
    await room.start();
    await room.finish("a", 1);
    expect([room.end, room.files.size, room.of("delivered").length]).toEqual([undefined, 0, 1]);
    const next = room.crash();
    await next.resume();
    expect(next.closed.end).toBe("done");
    expect(next.of("delivered")).toHaveLength(1);
    const undisturbed = new RunnerRoom(single, { drawsPicture: true });
    await undisturbed.start();
    await undisturbed.finish("a", 1);
    expect(next.files).toEqual(undisturbed.files);
  });

  it("is left to a workflow that writes the file itself", async () => {
    const own = workflow(machine("main", [model("a", { saveAs: { "final/task.svg": "" } })]));
    const room = new RunnerRoom(own, { drawsPicture: true });
    await room.start();
    await room.finish("a", "mine");
    expect(room.closed.end).toBe("done");
    expect([...room.files]).toEqual([["final/task.svg", "mine"]]);
    expect(room.of("delivered")).toEqual([]);
  });

  it("is not drawn for a task that has not ended, nor where nobody wants it", async () => {
    for (const drawsPicture of [true, false]) {
      const room = new RunnerRoom(single, { drawsPicture });
      await room.start();
      if (drawsPicture) room.runner.leave({ end: "stopped", reason: "x", exitStatus: 143, cancel: true });
      else await room.finish("a", 1);
      await room.flush();
      expect(room.files.size).toBe(0);
    }
  });
});
