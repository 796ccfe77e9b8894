/**
 * Every name of the documents that the design comes from has a home that is there, or a reason why it has none.
 *
 * With SPLASHDOWN_SEEDS set to their folder, names are also taken out of the documents and looked up in the table.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { Command } from "commander";
import { describe, expect, it } from "vitest";
import { ERROR_TABLE } from "../../../src/base/error-table.js";
import { LIMITS } from "../../../src/base/limits.js";
import { createProgram } from "../../../src/cli/program.js";
import { openSplashdown, type Splashdown } from "../../../src/index.js";
import { createEnvironment } from "../../../src/runtime/platform/environment.js";
import { extractSeedNames } from "../../support/seed-names.js";

const PROJECT = join(import.meta.dirname, "..", "..", "..");
const TABLES = join(PROJECT, "schemas", "tables");
const SEEDS = process.env["SPLASHDOWN_SEEDS"];

interface Table {
  readonly documents: Readonly<
    Record<string, Readonly<Record<string, { readonly home?: string; readonly refused?: string }>>>
  >;
  readonly ordinary_words: Readonly<Record<string, string>>;
}

const readJson = (path: string): unknown => JSON.parse(readFileSync(path, "utf8"));
const readSource = (path: string): string => readFileSync(join(PROJECT, path), "utf8");
const table = readJson(join(TABLES, "seed-names.json")) as Table;

const program = createProgram(
  {
    streams: { out: () => undefined, error: () => undefined, interactive: false, colour: false },
    open: () => Promise.reject(new Error("nothing is opened")),
    signal: new AbortController().signal,
    exit: () => undefined,
  },
  "0.0.0",
);

function findVerb(words: string): Command | undefined {
  return words
    .split(" ")
    .reduce<Command | undefined>((at, word) => at?.commands.find((command) => command.name() === word), program);
}

/** A call by its path; what is a group of calls counts too. */
function findCall(root: object, path: string): unknown {
  return path.split(".").reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], root);
}

/** By the schema's name and a JSON pointer into it. */
function resolvesPointer(home: string): boolean {
  const [name = "", pointer = ""] = home.split("#");
  const file = join(PROJECT, "schemas", `${name}.schema.json`);
  if (!existsSync(file)) return false;
  const parts = pointer.split("/").slice(1);
  return (
    parts.reduce<unknown>((at, part) => (at as Record<string, unknown> | undefined)?.[part], readJson(file)) !==
    undefined
  );
}

/** The member of an interface, as the compiler reads it: `  name(` or `  readonly name:`. */
function declares(path: string, member: string): boolean {
  const name = member.split(".").at(-1) ?? member;
  return new RegExp(`^ +(?:readonly )?${name}\\??[(<:]`, "m").test(readSource(path));
}

async function openLibrary(): Promise<Splashdown> {
  const environment = createEnvironment(
    { HOME: PROJECT, SPLASHDOWN_KEY: Buffer.alloc(32, 1).toString("base64") },
    PROJECT,
  );
  return openSplashdown({ store: "memory:", environment });
}

async function createCheckers(): Promise<Readonly<Record<string, (place: string) => boolean>>> {
  const splashdown = await openLibrary();
  const checkpoints = await splashdown.checkpoints.open("seeds");
  await checkpoints.close();
  await splashdown.close();
  return {
    schema: resolvesPointer,
    verb: (words) => findVerb(words) !== undefined,
    flag: (words) => {
      const at = words.lastIndexOf(" ");
      return findVerb(words.slice(0, at))?.options.some(({ long }) => long === words.slice(at + 1)) ?? false;
    },
    library: (path) => typeof findCall(splashdown, path) === "function",
    program: (name) => typeof findCall(checkpoints, name) === "function",
    context: (member) => declares("src/agents/functions/function-context.ts", member),
    event: (name) => declares("src/runtime/views/verb-views.ts", name),
    journal: (type) => new RegExp(`^  ${type}: \\{`, "m").test(readSource("src/engine/model/event-codec.ts")),
    trigger: (name) => readSource("src/engine/model/events.ts").includes(`| "${name}"`),
    environment: (name) => readSource("src/definition/settings/settings-sources.ts").includes(name),
    "setting-value": (value) => readSource("src/store/open-store.ts").includes(value),
    view: (name) => readSource("src/store/sql/sql-tables.ts").includes(`CREATE VIEW \${prefix}${name} AS SELECT`),
    error: (code) => Object.hasOwn(ERROR_TABLE, code),
    limit: (name) => Object.hasOwn(LIMITS, name),
    bench: (name) =>
      ["measures", "state-measures"].some((file) =>
        readSource(`proof/measures/${file}.mjs`).includes(`name: \`${name}`),
      ),
  };
}

describe("the table of seed names", () => {
  it("has the shape of its schema, and so has the example there", () => {
    const schema = readJson(join(TABLES, "seed-names.schema.json")) as { readonly examples: readonly unknown[] };
    const validate = new Ajv2020({ strict: true, allErrors: true }).compile(schema);
    for (const value of [table, ...schema.examples]) {
      void validate(value);
      expect(validate.errors ?? []).toEqual([]);
    }
    expect(validate({ documents: { "a.md": { x: { home: "nowhere" } } }, ordinary_words: {} })).toBe(false);
    expect(
      validate({ documents: { "a.md": { x: { home: "verb:run", refused: "both of them" } } }, ordinary_words: {} }),
    ).toBe(false);
  });

  it("names homes that are there, in all five documents", async () => {
    const checkers = await createCheckers();
    const missing = Object.entries(table.documents).flatMap(([document, names]) =>
      Object.entries(names)
        .filter(([, { home }]) => {
          if (home === undefined) return false;
          const at = home.indexOf(":");
          return checkers[home.slice(0, at)]?.(home.slice(at + 1)) !== true;
        })
        .map(([name, { home }]) => `${document}: ${name} → ${home}`),
    );
    expect(missing).toEqual([]);
    expect(Object.values(table.documents).map((names) => Object.keys(names).length > 30)).toEqual(Array(5).fill(true));
    const planted = [
      "schema:settings#/properties/none",
      "verb:fly",
      "flag:run --fly",
      "library:fly",
      "program:fly",
      "context:fly",
      "event:fly",
      "journal:fly",
      "trigger:fly",
      "environment:FLY",
      "setting-value:fly:",
      "view:fly",
      "error:FLY",
      "limit:fly",
      "bench:fly",
    ];
    const found = planted.filter((home) =>
      checkers[home.slice(0, home.indexOf(":"))]?.(home.slice(home.indexOf(":") + 1)),
    );
    expect(found).toEqual([]);
  });

  // Needs the documents, which are no part of this project: SPLASHDOWN_SEEDS is their folder.
  it.skipIf(SEEDS === undefined)("holds every name that the documents give, and no other document", () => {
    const folder = SEEDS ?? "";
    const files = readdirSync(folder).filter((file) => file.endsWith(".md"));
    expect(files.sort()).toEqual(Object.keys(table.documents).sort());
    const unknown = files.flatMap((file) =>
      extractSeedNames(readFileSync(join(folder, file), "utf8"))
        .filter(
          (name) => !Object.hasOwn(table.documents[file] ?? {}, name) && !Object.hasOwn(table.ordinary_words, name),
        )
        .map((name) => `${file}: ${name}`),
    );
    expect(unknown).toEqual([]);
  });
});

describe("extractSeedNames", () => {
  it("finds columns, keys, calls, types, flags, variables, events, commands and figures", () => {
    const document = [
      "Save in <50ms, within `save_all(x)` and `src/a.ts`.",
      "```sql",
      "CREATE TABLE t_one (id TEXT PRIMARY KEY, -- no",
      "  layer_index INTEGER NOT NULL",
      ");",
      "```",
      "```yaml",
      "config_block:",
      "  - phase_done",
      "```",
      "```python",
      "class Store(ABC):",
      "    def prune_old(self): ...",
      '    export BACKEND_DSN="x"',
      "```",
      "```bash",
      "conductor resume --checkpoint-id 1  # --not-this",
      "```",
      "- list",
      "  ```ts",
      '  emit({ type: "saved" })',
      "  ```",
    ].join("\n");
    const names = extractSeedNames(document);
    for (const name of [
      "t_one",
      "layer_index",
      "config_block",
      "phase_done",
      "Store",
      "prune_old",
      "BACKEND_DSN",
      "resume",
      "--checkpoint-id",
      "saved",
      "save_all",
      "<50ms",
    ])
      expect(names).toContain(name);
    expect(names).not.toContain("--not-this");
  });
});
