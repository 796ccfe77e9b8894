/** X3: the fencing check before every act that cannot be taken back, each where the runner really makes it. */
import { describe, expect, it } from "vitest";
import { errorCodeOf } from "../../../../src/base/errors.js";
import type { StepSink } from "../../../../src/engine/model/ports.js";
import { Mailbox } from "../../../../src/engine/runner/mailbox.js";
import { RunnerRoom } from "../../../support/runner-room.js";
import { gate, machine, model, undeclared, workflow } from "../../../support/workflow-builder.js";

/** A step that has begun, and an owner that was superseded since. */
async function superseded(): Promise<{ readonly room: RunnerRoom; readonly sink: StepSink }> {
  const room = new RunnerRoom(workflow(machine("main", [undeclared("work")])));
  await room.start();
  await room.flush();
  room.log.isSuperseded = true;
  return { room, sink: room.performer.of("work").sink };
}

async function act(allowed: Promise<unknown>, room: RunnerRoom): Promise<string> {
  const outcome = allowed.then(
    () => "acted",
    (error: unknown) => errorCodeOf(error) ?? "failed",
  );
  await room.flush();
  return Promise.race([outcome, Promise.resolve("never allowed")]);
}

describe("a superseded owner", () => {
  it("[reliability E10] calls no tool", async () => {
    const { room, sink } = await superseded();
    const intent = { name: "charge", input: {}, effects: "external" } as const;
    expect(await act(sink.toolIntended("1.1", intent), room)).not.toBe("acted");
    expect(room.trace.lastIndexOf("look")).toBeGreaterThan(room.trace.indexOf("append tool_intended"));
  });

  it("[reliability E10] begins no sub-step", async () => {
    const { room, sink } = await superseded();
    expect(await act(sink.openSubstep("card"), room)).not.toBe("acted");
    expect(room.trace.lastIndexOf("look")).toBeGreaterThan(room.trace.indexOf("append substep_intended"));
  });

  it("[reliability E10] writes no deliverable again when it takes a task up in which nothing begins", async () => {
    const flow = workflow(
      machine("main", [
        model("a", { saveAs: { "final/report.md": "text" }, routes: [{ to: "ask" }] }),
        gate("ask", [{ value: "yes" }]),
      ]),
    );
    const room = new RunnerRoom(flow);
    room.writeFile = () => new Promise(() => undefined);
    await room.start();
    await room.finish("a", { text: "# hello" });
    const owner = room.crash();
    await owner.resume();
    expect(owner.files.get("final/report.md")).toBe("# hello");
    const late = room.crash();
    late.log.isSuperseded = true;
    await late.resume();
    expect(late.files.size).toBe(0);
    expect(late.end).toMatchObject({ error: { code: "OWNER_SUPERSEDED" } });
  });

  it("[reliability E10] writes nothing at the end of the task", async () => {
    const flow = workflow(machine("main", [model("a")]));
    const owner = new RunnerRoom(flow, { drawsPicture: true });
    await owner.start();
    await owner.finish("a", "fine");
    await owner.flush();
    expect(owner.of("delivered")).toHaveLength(1);
    expect(owner.files.size).toBeGreaterThan(0);
    const late = new RunnerRoom(flow, { drawsPicture: true });
    await late.start();
    late.log.isSuperseded = true;
    await late.finish("a", "fine");
    await late.flush();
    expect(late.files.size).toBe(0);
  });
});

describe("inputs that wait for one another", () => {
  it("[reliability E02] go on after one that failed", async () => {
    const mailbox = new Mailbox();
    const failed = mailbox.run(() => Promise.reject(new Error("broken")));
    const next = mailbox.run(() => Promise.resolve("taken"));
    await expect(failed).rejects.toThrow("broken");
    expect(await next).toBe("taken");
  });
});
