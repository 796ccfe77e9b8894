/**
 * The house: which room may import which, and which calls live in one place only. Data first, then the same checker over
 * the real tree and over planted violations, so that a checker that sees nothing fails.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { describe, expect, it } from "vitest";

const SRC = join(import.meta.dirname, "..", "src");

/** Room → rooms it may import besides itself. A value `room/file` allows only that file. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  base: [],
  process: ["base"],
  schema: ["base"],
  definition: ["base", "schema"],
  engine: ["base", "definition"],
  agents: ["base", "process", "definition", "engine"],
  store: ["base"],
  vault: ["base", "schema", "process", "store/contract"],
  journal: ["base", "schema", "engine", "store/contract", "vault"],
  checkpoint: ["base", "schema", "engine", "store/contract", "vault", "journal"],
  transfer: ["base", "store"],
  recovery: ["base", "process", "definition", "engine", "store/contract", "vault", "journal", "checkpoint"],
  runtime: [
    "base",
    "process",
    "schema",
    "definition",
    "engine",
    "agents",
    "store",
    "vault",
    "journal",
    "checkpoint",
    "recovery",
    "transfer",
  ],
  mcp: ["base", "runtime"],
  cli: ["base", "runtime", "mcp"],
};

interface Forbidden {
  readonly name: string;
  readonly pattern: RegExp;
  /** Files or folders below src/ that are the call's home. */
  readonly homes: readonly string[];
}

const FORBIDDEN: readonly Forbidden[] = [
  { name: "wall time", pattern: /\bDate\.now\(|\bnew Date\(\)/, homes: ["runtime/system-clock.ts"] },
  { name: "monotonic time", pattern: /\bperformance\.now\(|\bprocess\.hrtime/, homes: ["runtime/system-clock.ts"] },
  { name: "timers", pattern: /\b(?:setTimeout|setInterval)\(/, homes: ["runtime/system-clock.ts"] },
  {
    name: "random numbers",
    pattern: /\bMath\.random\(|\brandom(?:Bytes|UUID|FillSync)\(/,
    homes: ["runtime/system-clock.ts"],
  },
  { name: "environment", pattern: /\bprocess\.env\b/, homes: ["runtime/environment.ts"] },
  { name: "console", pattern: /\bconsole\./, homes: [] },
  { name: "process exit", pattern: /\bprocess\.exit\(/, homes: ["cli/main.ts"] },
  { name: "serialised classes", pattern: /\bv8\.(?:de)?serialize\(|\bpickle\b/, homes: [] },
];

interface SourceFile {
  /** Below src/, with `/`. */
  readonly path: string;
  readonly text: string;
}

function loadSources(): SourceFile[] {
  return readdirSync(SRC, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
    .map((entry) => join(entry.parentPath, entry.name))
    .map((file) => ({ path: relative(SRC, file).split(sep).join("/"), text: readFileSync(file, "utf8") }));
}

const isGenerated = (file: SourceFile): boolean => file.path.includes("/generated/");

/** Programs of their own that are handed to another node process as text; their timers and clocks are not the engine's. */
const OWN_PROGRAMS = new Set(["process/keeper-program.ts"]);

function importsOf(file: SourceFile): string[] {
  const found = file.text.matchAll(/(?:\bfrom\s+|\bimport\s*\(\s*|^\s*import\s+)["'](\.{1,2}\/[^"']+)["']/gm);
  const folder = file.path.split("/").slice(0, -1);
  return [...found].map((match) => {
    const parts = [...folder];
    for (const part of (match[1] ?? "").split("/")) {
      if (part === "..") parts.pop();
      else if (part !== ".") parts.push(part);
    }
    return parts.join("/").replace(/\.js$/, "");
  });
}

function roomOf(path: string): string {
  return path.includes("/") ? (path.split("/")[0] ?? "") : "";
}

function importViolations(files: readonly SourceFile[]): string[] {
  return files.flatMap((file) => {
    const room = roomOf(file.path);
    if (room === "") return [];
    const allowed = MAY_IMPORT[room];
    if (allowed === undefined) return [`${file.path}: no such room in the table`];
    return importsOf(file)
      .filter((target) => roomOf(target) !== room && !allowed.includes(roomOf(target)) && !allowed.includes(target))
      .map((target) => `${file.path} imports ${target}`);
  });
}

/** What stands in a circle of imports or leads into one, types included. */
function listCircular(files: readonly SourceFile[]): string[] {
  const left = new Map(files.map((file) => [file.path.replace(/\.ts$/, ""), importsOf(file)]));
  for (;;) {
    const free = [...left].filter(([, targets]) => !targets.some((target) => left.has(target)));
    if (free.length === 0) return [...left.keys()];
    for (const [path] of free) left.delete(path);
  }
}

function stripComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/^\s*\/\/.*$/gm, "");
}

function callViolations(files: readonly SourceFile[]): string[] {
  return files
    .filter((file) => !isGenerated(file) && !OWN_PROGRAMS.has(file.path))
    .flatMap((file) => {
      const text = stripComments(file.text);
      return FORBIDDEN.filter((rule) => rule.pattern.test(text) && !rule.homes.includes(file.path)).map(
        (rule) => `${file.path}: ${rule.name}`,
      );
    });
}

function nameViolations(files: readonly SourceFile[]): string[] {
  const banned = /^(?:utils?|helpers?|common|misc|types)\.ts$/;
  return files.flatMap((file) => {
    const name = file.path.split("/").at(-1) ?? "";
    const kebab = /^[a-z0-9]+(?:-[a-z0-9]+)*(?:\.d)?\.ts$/.test(name);
    const index = name === "index.ts" && file.path !== "index.ts";
    return banned.test(name) || !kebab || index ? [`${file.path}: name`] : [];
  });
}

describe("the house", () => {
  const files = loadSources();

  it("is looked at whole: more than fifty modules, every room of the table", () => {
    expect(files.length).toBeGreaterThan(50);
    const rooms = new Set(files.map((file) => roomOf(file.path)).filter((room) => room !== ""));
    expect([...rooms].sort()).toEqual(Object.keys(MAY_IMPORT).sort());
  });

  it("keeps the import table", () => {
    expect(importViolations(files)).toEqual([]);
  });

  it("has no circle of imports, not even of types", () => {
    expect(listCircular(files)).toEqual([]);
  });

  it("keeps time, randomness, environment and output in their one home", () => {
    expect(callViolations(files)).toEqual([]);
  });

  it("is built with the packages that were asked for", () => {
    const imported = files.flatMap(({ text }) => [...text.matchAll(/\b(?:from|import\()\s*"([^"./][^"]*)"/g)]);
    const names = new Set(imported.map((match) => match[1]?.split("/")[0]));
    expect(["ajv", "chokidar", "commander", "date-fns", "fflate"].filter((name) => !names.has(name))).toEqual([]);
  });

  it("keeps file names that say what is inside", () => {
    expect(nameViolations(files)).toEqual([]);
  });

  it("has a home for every exception that the call table names", () => {
    const paths = new Set(files.map((file) => file.path));
    expect(FORBIDDEN.flatMap((rule) => rule.homes).filter((home) => !paths.has(home))).toEqual([]);
  });
});

describe("the house checker", () => {
  it.each([
    ["engine/decide.ts", 'import { openStore } from "../store/directory-store.js";'],
    ["base/json.ts", 'import { evolve } from "../engine/evolve.js";'],
    ["engine/lookup.ts", 'const store = await import("../store/memory-store.js");'],
    ["vault/keyring.ts", 'import { DirectoryStore } from "../store/directory-store.js";'],
    ["cli/run.ts", 'export { decide } from "../engine/decide.js";'],
    ["mcp/tool.ts", 'import { formatView } from "../cli/output.js";'],
    ["attic/box.ts", ""],
  ])("catches a forbidden import planted in %s", (path, text) => {
    expect(importViolations([{ path, text }])).toHaveLength(1);
  });

  it("catches a planted circle", () => {
    const planted = [
      { path: "base/a.ts", text: 'import type { B } from "./b.js";' },
      { path: "base/b.ts", text: 'import { c } from "./c.js";\nimport { d } from "./d.js";' },
      { path: "base/c.ts", text: 'const a = await import("./a.js");' },
      { path: "base/d.ts", text: "export const d = 1;" },
    ];
    expect(listCircular(planted)).toEqual(["base/a", "base/b", "base/c"]);
  });

  it.each([
    ["engine/decide.ts", "const now = Date.now();"],
    ["engine/decide.ts", "const now = new Date();"],
    ["engine/decide.ts", "const delay = Math.random();"],
    ["store/a.ts", "setTimeout(() => undefined, 5);"],
    ["vault/a.ts", "const key = process.env.KEY;"],
    ["vault/a.ts", "const key = randomBytes(32);"],
    ["cli/run.ts", 'console.log("x");'],
    ["runtime/run.ts", "process.exit(1);"],
    ["base/clock.ts", "return performance.now();"],
  ])("catches a forbidden call planted in %s: %s", (path, text) => {
    expect(callViolations([{ path, text }])).toHaveLength(1);
  });

  it.each(["base/utils.ts", "base/CamelCase.ts", "store/index.ts", "engine/types.ts"])(
    "catches the bad name %s",
    (path) => {
      expect(nameViolations([{ path, text: "" }])).toHaveLength(1);
    },
  );

  it("lets comments speak of what code may not do", () => {
    expect(
      callViolations([{ path: "engine/a.ts", text: "/** never Date.now() here */\n// nor Math.random()" }]),
    ).toEqual([]);
  });
});
