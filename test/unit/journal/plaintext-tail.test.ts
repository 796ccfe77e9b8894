import { describe, expect, it } from "vitest";
import { looksUnfinished } from "../../../src/journal/plaintext-tail.js";
import { createSegmentsTask } from "../../support/journal-room.js";

const HASH = "A".repeat(43);
const header = '{"format":"splashdown.journal"}';

/** A segment of records of these kinds, as anyone sees it; nothing of it is verified. */
function segment(first: number, ...kinds: readonly string[]): Buffer {
  const lines = kinds.map((kind, index) => `{"n":${first + index},"k":"${kind}","d":"AAAA","h":"${HASH}"}`);
  return Buffer.from([header, ...lines, ""].join("\n"));
}

const look = (segments: Readonly<Record<string, Buffer>>): Promise<boolean> =>
  looksUnfinished(createSegmentsTask(new Map(Object.entries(segments))));

describe("looksUnfinished", () => {
  it.each([
    ["a task that has only begun", { "1-0": segment(1, "task") }, true],
    ["a task in the middle of a step", { "1-0": segment(1, "task", "intent", "spawned") }, true],
    ["a task that has ended", { "1-0": segment(1, "task", "intent", "completion", "task") }, false],
    [
      "one with what may follow its end",
      { "1-0": segment(1, "task", "task", "checkpoint", "snapshot", "prune", "note") },
      false,
    ],
    [
      "one that was taken up again",
      { "1-0": segment(1, "task", "task"), "2-0": segment(3, "recovery", "intent") },
      true,
    ],
    [
      "one whose new owner died before its first record",
      { "1-0": segment(1, "task", "task"), "2-0": segment(3) },
      false,
    ],
    ["one that was only claimed again", { "1-0": segment(1, "task", "task"), "2-0": Buffer.alloc(0) }, false],
    ["no records at all", { "1-0": Buffer.from(header) }, false],
    ["no segment at all", {}, false],
    ["a torn last line", { "1-0": Buffer.concat([segment(1, "task", "task"), Buffer.from('{"n":3,"k":"int')]) }, false],
  ])("says of %s what its clear text tells", async (_what, segments, open) => {
    expect(await look(segments)).toBe(open);
  });
});
