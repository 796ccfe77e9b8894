import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { foldIdle, listTicks, mergeStretches } from "../../../web/model/folded-time.js";
import { selectLanes, zoomWindow } from "../../../web/model/timeline-lanes.js";

const DAY = 86_400_000;

describe("the axis of the timeline", () => {
  it("folds three days of waiting between two minutes of work", () => {
    const axis = foldIdle(
      [
        { from: 0, to: 60_000 },
        { from: 3 * DAY, to: 3 * DAY + 60_000 },
      ],
      { from: 0, to: 3 * DAY + 60_000 },
    );
    expect(axis.pieces.map(({ isFolded }) => isFolded)).toEqual([false, true, false]);
    expect(axis.place(60_000)).toBeCloseTo(0.48, 2);
    expect(axis.place(3 * DAY)).toBeCloseTo(0.52, 2);
  });

  it("leaves short pauses as they are", () => {
    const busy = [0, 10_000, 20_000].map((from) => ({ from, to: from + 9500 }));
    expect(foldIdle(busy, { from: 0, to: 29_500 }).pieces).toHaveLength(1);
  });

  it("keeps the order of time, and finds back to it", () => {
    const stretch = fc
      .tuple(fc.nat(10 * DAY), fc.nat(3_600_000))
      .map(([from, length]) => ({ from, to: from + length }));
    fc.assert(
      fc.property(
        fc.array(stretch, { minLength: 1, maxLength: 20 }),
        fc.array(fc.nat(10 * DAY), { minLength: 2 }),
        (busy, times) => {
          const axis = foldIdle(busy, { from: 0, to: 10 * DAY });
          expect(axis.pieces.at(-1)?.end).toBeCloseTo(1, 9);
          const places = times.sort((a, b) => a - b).map((time) => axis.place(time));
          expect(places).toEqual([...places].sort((a, b) => a - b));
          for (const time of times) expect(Math.abs(axis.timeAt(axis.place(time)) - time)).toBeLessThan(1);
        },
      ),
    );
  });

  it("joins what overlaps or touches", () => {
    expect(
      mergeStretches([
        { from: 5, to: 9 },
        { from: 0, to: 5 },
        { from: 20, to: 21 },
        { from: 6, to: 7 },
      ]),
    ).toEqual([
      { from: 0, to: 9 },
      { from: 20, to: 21 },
    ]);
  });

  it("has round times as ticks, none in what is folded", () => {
    const axis = foldIdle(
      [
        { from: 0, to: 60_000 },
        { from: DAY, to: DAY + 60_000 },
      ],
      { from: 0, to: DAY + 60_000 },
    );
    const ticks = listTicks(axis, { start: 0, end: 1 }, 8);
    expect(ticks.every((tick) => tick % 15_000 === 0 && (tick <= 60_000 || tick >= DAY))).toBe(true);
    expect(ticks.length).toBeLessThanOrEqual(10);
  });

  it("zooms around a place and never beyond the whole", () => {
    expect(zoomWindow({ start: 0, end: 1 }, { factor: 0.5, around: 0.25 })).toEqual({ start: 0.125, end: 0.625 });
    expect(zoomWindow({ start: 0.4, end: 0.6 }, { factor: 100, around: 0.5 })).toEqual({ start: 0, end: 1 });
  });

  it("shows only lanes that failed, or only those that are not done", () => {
    const lane = (path: string, ...statuses: string[]) => ({
      step: `${path}@1.1`,
      path,
      phase: 0,
      spans: statuses.map((status, at) => ({ from: "", to: "", attempt: at + 1, status })),
    });
    const lanes = [lane("a", "failed", "completed"), lane("b", "completed"), lane("c", "open")];
    const paths = (choice: object) =>
      selectLanes(lanes, { isOnlyFailed: false, isDoneHidden: false, text: "", ...choice }).map(({ path }) => path);
    expect(paths({ isOnlyFailed: true })).toEqual(["a"]);
    expect(paths({ isDoneHidden: true })).toEqual(["c"]);
    expect(paths({ text: "B" })).toEqual(["b"]);
  });
});
