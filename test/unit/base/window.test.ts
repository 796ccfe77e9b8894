import { describe, expect, it } from "vitest";
import { mapInWindow } from "../../../src/base/window.js";

/** Work that goes on until it is told to end, in the order it began. */
function createWork() {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const work = (item: string) =>
    new Promise<string>((resolve, reject) => {
      begun.push(item);
      ends.set(item, () => (item === "bad" ? reject(new Error("no")) : resolve(item.toUpperCase())));
    });
  const end = async (item: string) => {
    ends.get(item)?.();
    await new Promise((resolve) => void setImmediate(resolve));
  };
  return { begun, work, end };
}

describe("work in a window", () => {
  it("begins the next item when one has ended, and answers in the order of the items", async () => {
    const { begun, work, end } = createWork();
    const answers = mapInWindow(["a", "b", "c", "d"], 2, work);
    expect(begun).toEqual(["a", "b"]);
    await end("b");
    expect(begun).toEqual(["a", "b", "c"]);
    await end("c");
    await end("d");
    await end("a");
    expect(await answers).toEqual(["A", "B", "C", "D"]);
    expect(await mapInWindow([], 2, work)).toEqual([]);
  });

  it("fails with the first failure", async () => {
    const { work, end } = createWork();
    const answers = mapInWindow(["a", "bad"], 8, work).catch((error: unknown) => error);
    await end("bad");
    expect(await answers).toEqual(new Error("no"));
  });
});
