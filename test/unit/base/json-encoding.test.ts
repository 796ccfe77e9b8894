import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isJsonObject, type JsonValue } from "../../../src/base/json.js";
import { canonicalJson, decodeValue, encodeValue } from "../../../src/base/json-encoding.js";
import { LIMITS } from "../../../src/base/limits.js";
import { codeOf } from "../../support/error-code.js";
import { noteTried, runsOf } from "../../support/tried.js";

/** Everything that may be stored, nested in every way. */
const storable = fc.letrec<{ value: unknown }>((tie) => {
  const key = fc.oneof(fc.string(), fc.constant("$t"), fc.constant("v")).filter((name) => name !== "__proto__");
  const leaf = fc.oneof(
    fc.string(),
    fc.boolean(),
    fc.constant(null),
    fc.double(),
    fc.constantFrom(-0, NaN, Infinity, -Infinity),
    fc.bigInt(),
    fc.date({ noInvalidDate: true }),
    fc.uint8Array({ maxLength: 8 }),
  );
  return {
    value: fc.oneof(
      { maxDepth: 4, depthSize: "small" },
      leaf,
      fc.array(tie("value"), { maxLength: 4 }),
      fc.dictionary(key, tie("value"), { maxKeys: 4, noNullPrototype: true }),
      fc.array(fc.tuple(tie("value"), tie("value")), { maxLength: 3 }).map((entries) => new Map(entries)),
      fc.array(tie("value"), { maxLength: 3 }).map((items) => new Set(items)),
    ),
  };
}).value;

function messageOf(value: unknown): string {
  try {
    encodeValue(value);
    return "stored";
  } catch (error) {
    return (error as Error).message;
  }
}

class Point {
  readonly x = 1;
}

describe("encodeValue", () => {
  it("B3: decodeValue gives back what encodeValue accepted, over a round trip through JSON text", (context) => {
    noteTried(context, runsOf(1_000));
    fc.assert(
      fc.property(storable, (value) => {
        const encoded = encodeValue(value);
        const read = JSON.parse(JSON.stringify(encoded)) as JsonValue;
        expect(read).toEqual(encoded);
        expect(decodeValue(read)).toEqual(value);
      }),
      { numRuns: runsOf(1_000) },
    );
  });

  it("tags what JSON does not have", () => {
    const date = new Date(Date.UTC(2024, 0, 2, 3, 4, 5, 6));
    const value = {
      n: 12n,
      date,
      map: new Map([["a", 1]]),
      set: new Set([true]),
      bytes: new Uint8Array([1, 255]),
      zero: -0,
      nan: NaN,
    };
    expect(encodeValue(value)).toEqual({
      n: { $t: "bigint", v: "12" },
      date: { $t: "date", v: "2024-01-02T03:04:05.006Z" },
      map: { $t: "map", v: [["a", 1]] },
      set: { $t: "set", v: [true] },
      bytes: { $t: "bytes", v: "Af8=" },
      zero: { $t: "num", v: "-0" },
      nan: { $t: "num", v: "NaN" },
    });
    expect(encodeValue([Infinity, -Infinity, 0, 1.5])).toEqual([
      { $t: "num", v: "Infinity" },
      { $t: "num", v: "-Infinity" },
      0,
      1.5,
    ]);
  });

  it("wraps a real object that has the key of a tag", () => {
    const value = { $t: "date", v: "not one" };
    expect(encodeValue(value)).toEqual({ $t: "obj", v: value });
    expect(decodeValue(encodeValue(value))).toEqual(value);
  });

  it("leaves out undefined and hidden properties, and takes objects without a prototype", () => {
    const value = Object.assign(Object.create(null) as object, { a: 1, b: undefined });
    Object.defineProperty(value, "hidden", { value: 2, enumerable: false });
    expect(encodeValue(value)).toEqual({ a: 1 });
  });

  it.each<[string, () => unknown, string]>([
    ["a function", () => ({ f: () => 1 }), "a function at $.f cannot be stored"],
    ["a symbol", () => [Symbol("s")], "a symbol at $[0] cannot be stored"],
    ["undefined in a list", () => [undefined], "undefined at $[0] cannot be stored"],
    ["undefined alone", () => undefined, "undefined at $ cannot be stored"],
    ["a hole", () => Object.assign([], { length: 1 }), "a hole in an array at $[0] cannot be stored"],
    ["an invalid date", () => ({ d: new Date(NaN) }), "an invalid date at $.d cannot be stored"],
    ["an instance", () => ({ p: new Point() }), "an instance of Point at $.p cannot be stored"],
    ["a symbol key", () => ({ [Symbol("k")]: 1 }), "a symbol key at $ cannot be stored"],
    [
      "an accessor",
      () => ({
        get x() {
          return 1;
        },
      }),
      "an accessor at $.x cannot be stored",
    ],
    [
      "the prototype key",
      () => JSON.parse('{"a":{"__proto__":1}}') as unknown,
      "the key __proto__ at $.a.__proto__ cannot be stored",
    ],
    ["a function in a map", () => new Map([["k", () => 1]]), "a function at $.value(0) cannot be stored"],
    ["a function as a key", () => new Map([[() => 1, 1]]), "a function at $.key(0) cannot be stored"],
    ["a function in a set", () => new Set([() => 1]), "a function at $.item(0) cannot be stored"],
  ])("refuses %s and names its path", (_name, make, message) => {
    expect(codeOf(() => encodeValue(make()))).toBe("VALUE_UNSUPPORTED");
    expect(messageOf(make())).toBe(message);
  });

  it("refuses a cycle, and takes the same object twice side by side", () => {
    const loop: Record<string, unknown> = {};
    loop["self"] = { loop };
    expect(messageOf(loop)).toBe("a cycle at $.self.loop cannot be stored");
    const shared = { a: 1 };
    expect(encodeValue([shared, shared])).toEqual([{ a: 1 }, { a: 1 }]);
  });

  it("bounds depth and number of nodes", () => {
    const nest = (levels: number): unknown => {
      let value: unknown = 1;
      for (let level = 0; level < levels; level += 1) value = [value];
      return value;
    };
    expect(codeOf(() => encodeValue(nest(LIMITS.valueDepthMax)))).toBe("none");
    expect(codeOf(() => encodeValue(nest(LIMITS.valueDepthMax + 1)))).toBe("VALUE_TOO_DEEP");
    expect(codeOf(() => encodeValue(nest(100_000)))).toBe("VALUE_TOO_DEEP");
    expect(codeOf(() => encodeValue(Array.from({ length: LIMITS.valueNodesMax }, () => 1)))).toBe("VALUE_TOO_DEEP");
    expect(codeOf(() => encodeValue(Array.from({ length: LIMITS.valueNodesMax - 1 }, () => 1)))).toBe("none");
  });
});

describe("decodeValue", () => {
  it.each<[string, JsonValue]>([
    ["an unknown tag", { $t: "regexp", v: "x" }],
    ["a tag named like a method", { $t: "constructor", v: "x" }],
    ["a tag that is no text", { $t: 1, v: "x" }],
    ["a bigint with a point", { $t: "bigint", v: "1.5" }],
    ["a bigint that is a number", { $t: "bigint", v: 1 }],
    ["a date that is none", { $t: "date", v: "yesterday" }],
    ["bytes that are no text", { $t: "bytes", v: [1] }],
    ["a number JSON has", { $t: "num", v: "1" }],
    ["a set that is no list", { $t: "set", v: {} }],
    ["a map without pairs", { $t: "map", v: [[1]] }],
    ["a map that is no list", { $t: "map", v: null }],
    ["an object that is a list", { $t: "obj", v: [] }],
    ["a tag without value", { $t: "date" }],
    ["a prototype key", JSON.parse('{"__proto__":1}') as JsonValue],
  ])("refuses %s", (_name, value) => {
    expect(codeOf(() => decodeValue(value))).toBe("VALUE_UNSUPPORTED");
  });

  it("names the tag it does not know", () => {
    expect(() => decodeValue([{ $t: "regexp", v: "x" }])).toThrow(
      "stored value has an unknown or malformed tag: regexp",
    );
  });
});

describe("canonicalJson", () => {
  it("sorts keys by code unit, leaves out undefined and white space", () => {
    expect(canonicalJson({ b: [1, { d: null, c: "ü\n" }], a: true, u: undefined, Z: 1 })).toBe(
      '{"Z":1,"a":true,"b":[1,{"c":"ü\\n","d":null}]}',
    );
  });

  it("is the same for every order of keys, and reads back as the value", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        const record = JSON.parse(JSON.stringify(value)) as Record<string, JsonValue>;
        const turned = Object.fromEntries(Object.entries(record).reverse());
        expect(canonicalJson(turned)).toBe(canonicalJson(record));
        expect(JSON.parse(canonicalJson(record))).toEqual(record);
      }),
    );
  });

  it.each([NaN, Infinity, -Infinity])("refuses %s", (number) => {
    expect(codeOf(() => canonicalJson({ n: number }))).toBe("VALUE_UNSUPPORTED");
  });
});

describe("isJsonObject", () => {
  it("is true for objects only", () => {
    expect([{}, Object.create(null), [], null, "x", 1, undefined].map((value) => isJsonObject(value))).toEqual([
      true,
      true,
      false,
      false,
      false,
      false,
      false,
    ]);
  });
});
