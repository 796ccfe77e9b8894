import { describe, expect, it } from "vitest";
import { CappedHead, Tail } from "../../../src/process/capture.js";

describe("CappedHead", () => {
  it("keeps what fits exactly without an overflow", () => {
    const head = new CappedHead(4);
    expect(head.take(Buffer.from("ab"))).toBe(false);
    expect(head.take(Buffer.from("cd"))).toBe(false);
    expect(head.overflowed).toBe(false);
    expect(head.bytes().toString()).toBe("abcd");
  });

  it("says once that it overflows and keeps only the cap", () => {
    const head = new CappedHead(3);
    expect(head.take(Buffer.from("abcd"))).toBe(true);
    expect(head.take(Buffer.from("e"))).toBe(false);
    expect(head.overflowed).toBe(true);
    expect(head.bytes().toString()).toBe("abc");
  });
});

describe("Tail", () => {
  it("keeps the last bytes over many chunks", () => {
    const tail = new Tail(5);
    for (const text of ["one ", "two ", "three"]) tail.take(Buffer.from(text));
    expect(tail.text()).toBe("three");
  });

  it("begins at a whole character after a cut", () => {
    const tail = new Tail(4);
    tail.take(Buffer.from("x€€"));
    expect(tail.text()).toBe("€");
  });
});
