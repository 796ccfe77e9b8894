/**
 * Doors × values: whatever comes in through whichever door, it arrives as it was said, or is refused with a code and words
 * that name what and where.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { messageOf } from "../../../src/base/errors.js";
import { DoorRoom } from "../../support/value-doors.js";

const room = new DoorRoom();
beforeAll(() => room.open());
afterAll(() => room.close());

type Expected = { readonly exact: unknown } | { readonly refused: RegExp };
const exact = (value: unknown): Expected => ({ exact: value });
const refused = (words: RegExp): Expected => ({ refused: words });

interface Row {
  /** The value as JSON writes it, or the whole document. */
  readonly value?: string;
  readonly document?: Buffer;
  readonly expected: Expected;
  /** Of doors that say it otherwise. */
  readonly other?: Readonly<Record<string, Expected>>;
  /** Doors that take texts of a program, which have no bytes. */
  readonly skipped?: readonly string[];
}

const document = (value: string): Buffer => Buffer.from(`{"v": {"w": ${value}}}`);
const TEXTS = ["--input", "answer --output", "a nested input", "items of a for_each"];
const FILES = ["settings", "a workflow file"];
const NOT_HELD = refused(/\$.*\bw: the (?:whole )?number .* cannot be held exactly|more digits than a number keeps/);
const IN_FILES = (expected: Expected) => Object.fromEntries(FILES.map((door) => [door, expected]));
const TOO_LARGE = refused(/1e999 is (?:too large|read as the number|not a JSON number)/);
const EXPONENT = IN_FILES(refused(/is read as the number/));
const MALFORMED = refused(/JSON|is not defined|must be an object|[Ff]low.map|no list|must hold a map|syntax|is empty/);

const ROWS: Readonly<Record<string, Row>> = {
  "the largest whole number": { value: "9007199254740991", expected: exact(9007199254740991) },
  "a whole number over 2^53": { value: "9007199254740993", expected: NOT_HELD },
  "a 64-bit number": { value: "1234567890123456789", expected: NOT_HELD },
  "the least 64-bit number": { value: "-9223372036854775808", expected: NOT_HELD },
  "a number of 40 digits": { value: "9".repeat(40), expected: NOT_HELD },
  "a 64-bit number with a point": {
    value: "9007199254740993.0",
    expected: NOT_HELD,
  },
  "a 64-bit number with an exponent": { value: "9007199254740993e0", expected: NOT_HELD, other: EXPONENT },
  "a number that is too large": { value: "1e999", expected: TOO_LARGE },
  "a number that is too small": {
    value: "1e-400",
    expected: refused(/w: the number 1e-400 is too small/),
    other: EXPONENT,
  },
  "a large number that is exact": { value: "1e22", expected: exact(1e22), other: EXPONENT },
  "a fraction": { value: "0.1", expected: exact(0.1) },
  "-0": { value: "-0", expected: exact(-0) },
  "a byte that is no UTF-8": {
    document: Buffer.concat([Buffer.from('{"v": {"w": "caf'), Buffer.from([0xe9]), Buffer.from('"}}')]),
    expected: refused(/UTF-8/),
    skipped: TEXTS,
  },
  "bytes of a lone surrogate": {
    document: Buffer.concat([Buffer.from('{"v": {"w": "'), Buffer.from([0xed, 0xa0, 0x80]), Buffer.from('"}}')]),
    expected: refused(/UTF-8/),
    skipped: TEXTS,
  },
  "UTF-16": { document: Buffer.from('\uFEFF{"v": {"w": "a"}}', "utf16le"), expected: refused(/UTF-/), skipped: TEXTS },
  "a byte order mark": {
    document: Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), document("1")]),
    expected: exact(1),
    other: { "structured content of an MCP server": refused(/not JSON/) },
    skipped: ["items of a for_each", ...FILES],
  },
  "a NUL": { value: '"a\\u0000b"', expected: exact("a\u0000b") },
  "a lone surrogate": { value: '"a\\ud800b"', expected: refused(/half of a character/) },
  "a key with a lone surrogate": { value: '{"a\\udc00": 1}', expected: refused(/half of a character/) },
  "a pair of surrogates": { value: '"\\ud83d\\ude80"', expected: exact("🚀") },
  "the sign for what was replaced": { value: '"\uFFFD"', expected: exact("\uFFFD") },
  "a date": { value: '"2026-06-07"', expected: exact("2026-06-07") },
  "a text of digits": { value: '"00123456789012345678"', expected: exact("00123456789012345678") },
  "an empty text": { value: '""', expected: exact("") },
  nothing: { value: "null", expected: exact(null) },
  "an empty list": { value: "[]", expected: exact([]) },
  "an empty document": {
    document: Buffer.alloc(0),
    expected: MALFORMED,
    other: { "items of a for_each": exact(undefined) },
  },
  "a document without it": {
    document: Buffer.from('{"v": {}}'),
    expected: refused(/w is not defined/),
  },
  "a key that stands twice": { value: '1, "w": 2', expected: refused(/twice|must be unique/) },
  "a key __proto__": { value: '{"__proto__": {"a": 1}}', expected: refused(/__proto__/) },
  "a key $t": {
    value: '{"$t": "date", "v": "x"}',
    expected: exact({ $t: "date", v: "x" }),
    other: IN_FILES(refused(/the key \$t is not allowed/)),
  },
  "a key constructor": { value: '{"constructor": 1}', expected: exact({ constructor: 1 }) },
  NaN: {
    value: "NaN",
    expected: MALFORMED,
    // YAML 1.2 has it as a text.
    other: {
      ...IN_FILES(exact("NaN")),
      "--inputs, YAML": exact("NaN"),
      "--inputs from stdin": exact("NaN"),
    },
  },
  "half a document": { document: Buffer.from('{"v": {"w": 1'), expected: MALFORMED },
};

const DOORS = Object.keys(room.doors);
const cells = Object.entries(ROWS).flatMap(([name, row]) =>
  DOORS.filter((door) => row.skipped?.includes(door) !== true).map((door) => ({ name, door, row })),
);

describe("a value that comes in", () => {
  it.concurrent.each(cells)("[kinds F3 kin] $name through $door", async ({ door, row }) => {
    const expected = row.other?.[door] ?? row.expected;
    const came = await enter(door, row.document ?? document(row.value ?? ""));
    if ("exact" in expected) expect(came).toEqual({ value: expected.exact });
    else {
      expect(came).toMatchObject({ code: expect.stringMatching(/^[A-Z]+(?:_[A-Z]+)+$/) as string });
      expect((came as { readonly message: string }).message).toMatch(expected.refused);
    }
  });

  it("is tried at every door", () => {
    expect(DOORS).toHaveLength(15);
    expect(cells.length).toBeGreaterThan(400);
  });
});

async function enter(door: string, bytes: Buffer): Promise<unknown> {
  try {
    return { value: await room.doors[door]?.(bytes) };
  } catch (error) {
    return { code: (error as { readonly code?: unknown }).code, message: messageOf(error) };
  }
}
