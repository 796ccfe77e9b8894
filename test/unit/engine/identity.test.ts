import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  definitionPathOf,
  itemKeyOf,
  itemNameOf,
  nameOfPath,
  parentPathOf,
  parseStepId,
  stepIdOf,
} from "../../../src/engine/model/identity.js";

const key = fc.oneof(fc.string(), fc.stringMatching(/^[%@[\]/a]{1,8}$/));

describe("instance paths", () => {
  it("carry the keys of items, whatever stands in them, and give them back", () => {
    fc.assert(
      fc.property(key, key, (one, other) => {
        const path = `root/each/${itemNameOf("w", one)}/inner/${itemNameOf("deep", other)}`;
        expect(itemKeyOf(path)).toBe(other);
        expect(nameOfPath(path)).toBe(itemNameOf("deep", other));
        expect(itemKeyOf(parentPathOf(parentPathOf(path) ?? "") ?? "")).toBe(one);
        expect(definitionPathOf(path)).toBe("root/each/w/inner/deep");
      }),
    );
  });

  it("E7: different keys give different names, and equal ones the same", () => {
    fc.assert(
      fc.property(key, key, (one, other) => {
        expect(itemNameOf("w", one) === itemNameOf("w", other)).toBe(one === other);
      }),
    );
  });

  it("of what is no item have no key", () => {
    expect(itemKeyOf("root/each/w")).toBeUndefined();
    expect(itemKeyOf("root/each/w[1]/inner")).toBeUndefined();
    expect(definitionPathOf("root/a")).toBe("root/a");
  });
});

describe("step identities", () => {
  it("E7: are read back as they were written, with items in them", () => {
    fc.assert(
      fc.property(key, fc.nat(1_000), fc.nat(1_000), (text, round, visit) => {
        const identity = { path: `root/each/${itemNameOf("w", text)}/x`, round, visit };
        expect(parseStepId(stepIdOf(identity))).toEqual(identity);
      }),
    );
  });

  it("refuses what is none", () => {
    expect(() => parseStepId("root/a@1.01")).toThrow("not a step identity");
    expect(() => parseStepId("root/a@1.1[3]")).toThrow("not a step identity");
  });
});
