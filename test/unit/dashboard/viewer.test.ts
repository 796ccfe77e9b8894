/** A stream to a page that reads slowly: the newest of each thing, never all that came between. */
import { describe, expect, it } from "vitest";
import { Viewer } from "../../../src/dashboard/viewer.js";
import type { TaskSummaryView } from "../../../src/runtime/contract.js";

const row = (task: string, status: string): TaskSummaryView => ({ task, status, size: 1 });

/** A pipe that is full after the first message, until it is drained. */
function openPipe() {
  const written: string[] = [];
  let drain = (): void => undefined;
  let isOpen = true;
  const viewer = new Viewer({
    write: (text) => {
      written.push(text);
      return isOpen;
    },
    onDrain: (resume) => void (drain = resume),
  });
  const stop = (): void => void (isOpen = false);
  const go = (): void => {
    isOpen = true;
    drain();
  };
  return { viewer, written, stop, go };
}

describe("a viewer", () => {
  it("is sent each message as an event of the stream", () => {
    const { viewer, written } = openPipe();
    viewer.send("questions", { questions: [] });
    viewer.send("task", { text: "two\nlines" });
    expect(written).toEqual([
      'event: questions\ndata: {"questions":[]}\n\n',
      'event: task\ndata: {"text":"two\\nlines"}\n\n',
    ]);
  });

  it("that is full gets rows added up by name, the newest picture, and no beat", () => {
    const { viewer, written, stop, go } = openPipe();
    stop();
    viewer.send("task", { n: 0 });
    for (let n = 1; n <= 1000; n += 1) viewer.send("task", { n });
    viewer.send("tasks", { changed: [row("a", "running"), row("b", "running")], removed: [] });
    viewer.send("tasks", { changed: [row("a", "done")], removed: ["b", "c"] });
    viewer.send("tasks", { changed: [row("c", "running")], removed: [] });
    viewer.send("beat", { at: "2026-11-29T00:00:00.000Z" });
    expect(written).toHaveLength(1);
    go();
    expect(written.slice(1)).toEqual([
      'event: task\ndata: {"n":1000}\n\n',
      `event: tasks\ndata: ${JSON.stringify({ changed: [row("a", "done"), row("c", "running")], removed: ["b"] })}\n\n`,
    ]);
  });

  it("that fills up again while it is drained keeps the rest for the next time", () => {
    const { viewer, written, stop, go } = openPipe();
    stop();
    viewer.send("beat", { at: "x" });
    viewer.send("task", { n: 1 });
    viewer.send("questions", { n: 2 });
    const isFullAgain = viewer;
    go();
    expect(written).toHaveLength(3);
    stop();
    isFullAgain.send("task", { n: 3 });
    isFullAgain.send("task", { n: 4 });
    expect(written).toHaveLength(4);
    go();
    expect(written.at(-1)).toBe('event: task\ndata: {"n":4}\n\n');
  });
});
