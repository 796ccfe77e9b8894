import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { HEIGHT_MAX, scrollToRow, selectRows } from "../../../web/model/windowed-rows.js";

const frame = (count: number, scrollTop: number) => ({ count, rowHeight: 30, viewHeight: 600, scrollTop });

describe("the rows on the screen", () => {
  it("are few, however long the list is", () => {
    for (const count of [0, 1, 20, 40_000, 3_000_000]) {
      const { first, end, height } = selectRows(frame(count, 1e9));
      expect(end - first).toBeLessThanOrEqual(40);
      expect(end).toBe(count);
      expect(height).toBeLessThanOrEqual(HEIGHT_MAX);
    }
  });

  it("cover the screen wherever it is scrolled to", () => {
    fc.assert(
      fc.property(fc.nat(2_000_000), fc.double({ min: 0, max: 1, noNaN: true }), (count, share) => {
        const reach = Math.max(0, Math.min(count * 30, HEIGHT_MAX) - 600);
        const scrollTop = share * reach;
        const { first, end, top } = selectRows(frame(count, scrollTop));
        expect(top).toBeLessThanOrEqual(scrollTop + 1e-6);
        expect(end === count || top + (end - first) * 30 >= scrollTop + 600).toBe(true);
      }),
    );
  });

  it("can be scrolled to, the first and the last one too", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2_000_000 }), fc.nat(), fc.nat(), (count, at, from) => {
        const [row, start] = [
          at % count,
          Math.min(from % HEIGHT_MAX, Math.max(0, Math.min(count * 30, HEIGHT_MAX) - 600)),
        ];
        const scrollTop = scrollToRow(frame(count, start), row) ?? start;
        const { first, end } = selectRows(frame(count, scrollTop));
        expect(row).toBeGreaterThanOrEqual(first);
        expect(row).toBeLessThan(end);
      }),
    );
  });

  it("stay where they are when the row is seen", () => {
    expect(scrollToRow(frame(100, 300), 12)).toBeUndefined();
  });
});
