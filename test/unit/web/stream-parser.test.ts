import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nextDelay, StreamParser } from "../../../web/model/stream-parser.js";

const TEXT =
  ': hello\n\nevent: tasks\ndata: {"changed":[]}\n\nevent: beat\ndata: {}\n\nevent: task\r\ndata: {"a":\r\ndata: 1}\r\n\r\nevent: beat\ndata:\n\n';

describe("the stream", () => {
  it("gives the same events wherever it is cut", () => {
    const expected = [
      { event: "tasks", data: '{"changed":[]}' },
      { event: "beat", data: "{}" },
      { event: "task", data: '{"a":\n1}' },
      { event: "beat", data: "" },
    ];
    fc.assert(
      fc.property(fc.array(fc.nat(TEXT.length), { maxLength: 6 }), (cuts) => {
        const parser = new StreamParser();
        const ends = [0, ...cuts.sort((a, b) => a - b), TEXT.length];
        const events = ends.flatMap((end, at) => parser.take(TEXT.slice(ends[at - 1] ?? 0, end)));
        expect(events).toEqual(expected);
      }),
    );
  });

  it("is tried again soon at first, and never later than after ten seconds", () => {
    expect([1, 2, 3].map(nextDelay)).toEqual([1000, 2000, 4000]);
    expect(nextDelay(1000)).toBe(10_000);
  });
});
