/**
 * Every name of the documents that has a home is used by a test in the way that its home is used: a verb is run, a flag is
 * given, a call is made, an event is listened to, a key of a file is set, a field is read. A home that no test uses is only
 * a word in a table. What the effect must be, those tests say.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const PROJECT = join(import.meta.dirname, "..", "..", "..");
const TABLE = "seed-names";

type Entry = { readonly home?: string; readonly refused?: string };
const table = JSON.parse(readFileSync(join(PROJECT, "schemas", "tables", `${TABLE}.json`), "utf8")) as {
  readonly documents: Readonly<Record<string, Readonly<Record<string, Entry>>>>;
};

/** All tests and what supports them, but those of the table itself. */
const TESTS = readdirSync(join(PROJECT, "test"), { recursive: true, encoding: "utf8" })
  .filter((file) => /\.(?:ts|mjs|yaml|json)$/.test(file) && !/seed-(?:names|behaviour)/.test(file))
  .map((file) => readFileSync(join(PROJECT, "test", file), "utf8"))
  .join("\n");

const escape = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\-]/g, "\\$&");
const lastOf = (place: string): string => place.split(/[/.#]/).at(-1) ?? place;
const asCamel = (name: string): string => name.replaceAll(/_(\w)/g, (_all, letter: string) => letter.toUpperCase());

const asSnake = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Whether a test uses a place of each kind. */
const USES: Readonly<Record<string, (place: string) => boolean>> = {
  verb: (words) =>
    has(
      words
        .split(" ")
        .map((word) => `"${word}"`)
        .join(", "),
    ) || has(`splashdown ${words} `),
  flag: (words) => has(lastWord(words)),
  library: (path) => has(`${lastOf(path)}(`),
  program: (name) => has(`.${name}(`),
  context: (member) => has(`.${lastOf(member)}`),
  event: (name) => has(`"${name}"`),
  journal: (type) => has(`"${type}"`),
  trigger: (name) => has(`"${name}"`) || has(`${name},`),
  environment: (name) => has(name),
  "setting-value": (value) => has(value),
  view: (name) => has(`_${name}`) || has(`}${name}`),
  error: (code) => has(code),
  // Or what is said where it is passed.
  limit: (name) => has(name) || has(`${asSnake(name).replace(/_bytes$/, "")}:`),
  // Figures are measured by the bench, whose own test runs it.
  bench: () => has("bench"),
  schema: (pointer) => usesKey(lastOf(pointer)),
};

function has(text: string): boolean {
  return TESTS.includes(text);
}

const lastWord = (words: string): string => words.split(" ").at(-1) ?? words;

/** A key is set, or a field is read: in a file, in an object, in its camel form of the engine's. */
function usesKey(key: string): boolean {
  // A whole schema, or a part of one that has no key of its own.
  if (key === "" || key === "$defs" || /^(?:checkpoint_block|[a-z]+-[a-z]+)$/.test(key)) return true;
  return [key, asCamel(key)].some((name) =>
    new RegExp(`\\b${escape(name)}\\b["']?(?:\\]|\\)|,|:|\\?| }|\\.)`).test(TESTS),
  );
}

const homes = Object.entries(table.documents).flatMap(([document, names]) =>
  Object.entries(names).flatMap(([name, { home }]) => (home === undefined ? [] : [{ document, name, home }])),
);

function findUnused(all: readonly { readonly name: string; readonly home: string }[]): string[] {
  return all.flatMap(({ name, home }) => {
    const at = home.indexOf(":");
    return USES[home.slice(0, at)]?.(home.slice(at + 1)) === true ? [] : [`${name} → ${home}`];
  });
}

describe("the names of the documents", () => {
  it("are each used by a test as their home is used", () => {
    expect(homes.length).toBeGreaterThan(200);
    expect(findUnused(homes)).toEqual([]);
  });

  it("would be found out: a home that no test uses", () => {
    const planted = ["verb:fly away", "flag:run --fly-away", "library:flyAway", "program:flyAway", "event:fly_away"];
    const more = ["trigger:fly_away", "schema:settings#/properties/fly_away", "error:FLY_AWAY", "view:fly_away"];
    const all = [...planted, ...more].map((home) => ({ name: "x", home }));
    expect(findUnused(all)).toHaveLength(all.length);
  });
});
