import { describe, expect, it } from "vitest";
import { SplashdownError } from "../../../../src/base/errors.js";
import { RunnerRoom } from "../../../support/runner-room.js";
import { command, machine, model, parallel, workflow } from "../../../support/workflow-builder.js";

const report = (name: string, field = "text") => model(name, { saveAs: { "final/report.md": field } });
const single = workflow(machine("main", [report("a")]));

describe("deliverables", () => {
  it("are written after their record is durable and a higher epoch was looked for", async () => {
    const room = new RunnerRoom(single);
    await room.start();
    room.trace.length = 0;
    await room.finish("a", { text: "# hello", n: 1 });
    const lines = room.trace.slice(0, room.trace.indexOf("write final/report.md") + 1);
    expect(lines.slice(-3)).toEqual(["durable", "look", "write final/report.md"]);
    expect(lines).toContain("append step_completed");
    expect(room.files.get("final/report.md")).toBe("# hello");
    expect(room.output).toEqual({ n: 1, text: "# hello" });
  });

  it("hold the task open until they are written", async () => {
    const room = new RunnerRoom(single);
    let written = (): void => undefined;
    room.writeFile = () => new Promise((resolve) => (written = resolve));
    await room.start();
    await room.finish("a", { text: "x" });
    expect(room.end).toBeUndefined();
    expect(room.trace).not.toContain("append task_closed");
    written();
    await room.flush();
    expect(room.closed.end).toBe("done");
  });

  it("are written again after a crash, once the new owner's beginning is durable and confirmed", async () => {
    const room = new RunnerRoom(
      workflow(
        machine("main", [model("a", { saveAs: { "final/report.md": "text" }, routes: [{ to: "b" }] }), model("b")]),
      ),
    );
    room.writeFile = () => new Promise(() => undefined);
    await room.start();
    await room.finish("a", { text: "# hello" });
    expect(room.files.size).toBe(0);
    const next = room.crash();
    await next.resume();
    const written = next.trace.indexOf("write final/report.md");
    expect(next.trace.slice(0, written)).toEqual(expect.arrayContaining(["append task_resumed", "durable", "look"]));
    expect(next.files.get("final/report.md")).toBe("# hello");
    const superseded = room.crash();
    superseded.log.isSuperseded = true;
    await superseded.resume();
    expect(superseded.files.size).toBe(0);
  });

  it("are not written again after an orderly end", async () => {
    const room = new RunnerRoom(
      workflow(
        machine("main", [model("a", { saveAs: { "final/report.md": "text" }, routes: [{ to: "b" }] }), model("b")]),
      ),
    );
    await room.start();
    await room.finish("a", { text: "x" });
    room.send({ kind: "stop", by: "ann" });
    room.performer.of("b").end({ status: "cancelled" });
    await room.flush();
    const next = room.crash();
    await next.resume();
    expect(next.trace).not.toContain("write final/report.md");
  });

  it("of one file are written one at a time, and the newest content stays", async () => {
    const room = new RunnerRoom(workflow(parallel("main", [report("a"), report("b"), report("c")])));
    const contents: string[] = [];
    const releases: (() => void)[] = [];
    room.writeFile = (_file, content) => {
      contents.push(content);
      return new Promise((resolve) => releases.push(resolve));
    };
    await room.start();
    for (const name of ["a", "b", "c"]) await room.finish(name, { text: name });
    expect(contents).toEqual(["a"]);
    releases[0]?.();
    await room.flush();
    expect(contents).toEqual(["a", "c"]);
    releases[1]?.();
    await room.flush();
    expect(room.files.get("final/report.md")).toBe("c");
    expect(room.closed.end).toBe("done");
  });

  it("that cannot be written end the run", async () => {
    const room = new RunnerRoom(workflow(parallel("main", [report("a"), command("b")])));
    room.writeFile = () => Promise.reject(new SplashdownError("STORE_UNWRITABLE", "read-only"));
    await room.start();
    await room.finish("a", { text: "x" });
    expect(room.performer.of("b").signal.aborted).toBe(true);
    room.performer.of("b").end({ status: "cancelled" });
    await room.flush();
    expect(room.error).toMatchObject({ code: "STORE_UNWRITABLE" });
  });

  it("that are large come back from their blob", async () => {
    const room = new RunnerRoom(single);
    await room.start();
    const text = "é".repeat(200_000);
    await room.finish("a", { text });
    expect(room.files.get("final/report.md")).toBe(text);
    expect(room.of("step_completed")[0]?.saved?.[0]?.content).toMatchObject({ blob: { key: "blobs/1-2" } });
  });
});
