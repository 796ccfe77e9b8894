import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findInexact, parseExactJson } from "../../../src/base/exact-json.js";

const problemOf = (text: string) => {
  try {
    return parseExactJson(text);
  } catch (error) {
    return (error as Error).message;
  }
};

describe("JSON text as an exact value", () => {
  it.each<[string, unknown]>([
    ["9007199254740991", 9007199254740991],
    ["-9007199254740991", -9007199254740991],
    ["1e30", 1e30],
    ["0.1234567890123456789", 0.12345678901234568],
    ["-0", -0],
    ['"1234567890123456789"', "1234567890123456789"],
    ['{"a": {"a": 1}, "b": [{"a": 1}, {"a": 2}]}', { a: { a: 1 }, b: [{ a: 1 }, { a: 2 }] }],
    ['{"\\"": 1, "\\\\": 2}', { '"': 1, "\\": 2 }],
    [" [ ] ", []],
    ['"{\\"a\\": 1234567890123456789}"', '{"a": 1234567890123456789}'],
  ])("%s is what it says", (text, value) => {
    expect(parseExactJson(text)).toEqual(value);
  });

  it.each<[string, string]>([
    ["1234567890123456789", "$: the whole number 1234567890123456789 cannot be held exactly; give it as a text"],
    ['{"rows": [{"id": 1}, {"id": 9007199254740993}]}', "$.rows[1].id: the whole number 9007199254740993 cannot be"],
    ['{"a b": -9007199254740992}', '$["a b"]: the whole number -9007199254740992 cannot be held exactly'],
    ["[1, [2, 1e999]]", "$[1][1]: the number 1e999 is too large to be held"],
    ['{"a": 1, "b": {"c": 1, "c": 2}}', "$.b.c: the key stands twice in one object"],
    ['{"a": 1, "\\u0061": 2}', "$.a: the key stands twice in one object"],
    [`{"n": ${"9".repeat(400)}}`, "is too large to be held"],
  ])("%s is refused by its path", (text, message) => {
    expect(problemOf(text)).toContain(message);
  });

  it("is a syntax error where it is no JSON", () => {
    expect(() => parseExactJson('{"a": }')).toThrow(SyntaxError);
  });

  it("is found in whatever JSON.stringify writes, exactly where a number would change", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        const isExact = JSON.stringify(value) === text && !/\d{17}/.test(text);
        if (isExact) expect(findInexact(text)).toBeUndefined();
      }),
    );
  });

  it("takes time in proportion to the text", () => {
    const text = (count: number) =>
      `[${Array.from({ length: count }, (_none, at) => `{"id": ${at}, "t": "${"x".repeat(20)}"}`).join()}]`;
    const timeOf = (given: string) => {
      const began = performance.now();
      findInexact(given);
      return performance.now() - began;
    };
    const [small, large] = [text(20_000), text(160_000)];
    timeOf(small);
    expect(timeOf(large)).toBeLessThan(40 * Math.max(timeOf(small), 1));
  });
});
