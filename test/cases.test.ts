/**
 * Every case that strangers, attackers and other projects' reports found has a test with its name in the title, and every
 * kind has further members. A title carries `[document case]`; a further member of the kind carries `[document case kin]`.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const KIN_MIN = 3;

/** By document: the cases of faults, each of which is an example of a kind. */
const KINDS: Readonly<Record<string, string>> = {
  security: "C1 C2 H1 H2 H3 H4 H5 H6 H7 M1 M2 M3 M4 M5 M6 M7 M8 L1 L2 L3 L4 L5 L6 L7 L8 L9",
  reliability: "1a 1b 1c 2 3a 3b 3c 4 5 6 7 8 9 10",
  public: "A B C D E F G H I J K L M N O P Q R S T U V W X Y Z",
  "first-use": "F1 F2 F3 F4 F7 F8 F10 F11 F13 F15",
  source: "1 2 4 8 15 17",
  kinds: "F1 F2 F2b F3 F4 F5 F6 F7 F8 F9 F10 F11 F12 F13 F14 F15 F16 F17 F19 F20",
};

/** Cases, or parts of cases, whose behaviour is not built yet, with what is missing. No test may claim one of them. */
const OPEN: Readonly<Record<string, string>> = {};

/** Faults that were planted by hand and that no test noticed: one place each, so no further members. */
const PLANTED =
  "E02 E03 E04 E07 E08 E09 E10 E11 E20 R01 R02 R06 R10 R13 R14 A01 D03 S07 P02 P04 P05 C01 C02 M01 M02 K05 K06";

const text = readTests();
const kinds = Object.entries(KINDS).flatMap(([document, cases]) =>
  cases.split(" ").map((name) => `${document} ${name}`),
);

describe("the cases", () => {
  it.each(kinds)("%s: has a test of its own", (name) => {
    expect(count(text, `[${name}]`)).toBeGreaterThanOrEqual(1);
  });

  it.each(kinds)("%s: has further members of its kind", (name) => {
    expect(count(text, `[${name} kin]`)).toBeGreaterThanOrEqual(KIN_MIN);
  });

  it.each(PLANTED.split(" "))("%s, planted by hand: is noticed", (name) => {
    expect(count(text, `[reliability ${name}]`)).toBeGreaterThanOrEqual(1);
  });

  it.each(Object.keys(OPEN))("%s, which is open: no test claims it", (name) => {
    expect(kinds).not.toContain(name);
    expect([count(text, `[${name}]`), count(text, `[${name} kin]`)]).toEqual([0, 0]);
  });

  it("a tag that no test carries is missed", () => {
    expect(count(text, ["[security", "C0]"].join(" "))).toBe(0);
    expect(count('it("[security C1] a"); it("[security C1] b")', "[security C1]")).toBe(2);
  });

  it("no test carries a tag of a case that is not there", () => {
    const known = new Set([...kinds, ...PLANTED.split(" ").map((name) => `reliability ${name}`)]);
    const documents = [...Object.keys(KINDS), "source"].join("|");
    const carried = [...text.matchAll(new RegExp(`\\[((?:${documents}) [A-Z]?\\d*[a-z]?)(?: kin)?\\]`, "g"))];
    const unknown = carried
      .map(([, name]) => name ?? "")
      .filter((name) => !known.has(name) && !/^(?:source|public|kinds|first-use) /.test(name));
    expect(unknown).toEqual([]);
    expect(carried.length).toBeGreaterThan(100);
  });
});

function count(all: string, part: string): number {
  return all.split(part).length - 1;
}

function readTests(): string {
  const files = readdirSync(import.meta.dirname, { recursive: true, encoding: "utf8" });
  const tests = files.filter((file) => file.endsWith(".test.ts") && file !== "cases.test.ts");
  return tests.map((file) => readFileSync(join(import.meta.dirname, file), "utf8")).join("\n");
}
