/**
 * The house: which room may import which, and which calls live in one place only. Data first, then the same checker over
 * the real tree and over planted violations, so that a checker that sees nothing fails.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { describe, expect, it } from "vitest";

const SRC = join(import.meta.dirname, "..", "src");

/** Room → rooms it may import besides itself. A value `room/folder` allows only that folder. */
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
  dashboard: ["base", "runtime"],
  cli: ["base", "runtime", "mcp", "dashboard"],
};

/**
 * Folder → its parts, lowest first, and the other parts of that folder that each may import. `.` are the files beside them.
 * Only an earlier part may be named, so that no circle of folders can be written here.
 */
const MAY_IMPORT_WITHIN: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  definition: {
    faults: [],
    reading: ["faults"],
    model: ["faults", "reading"],
    settings: ["faults", "reading", "model"],
    templates: ["faults", "reading", "model"],
    validate: ["faults", "reading", "model", "settings", "templates"],
    kinds: ["faults", "reading", "model"],
    compile: ["faults", "reading", "model", "settings", "templates", "validate", "kinds"],
    ".": ["faults", "reading", "model", "settings", "validate", "compile"],
  },
  engine: {
    model: [],
    fold: ["model"],
    render: ["model"],
    reports: ["model", "render"],
    rules: ["model", "fold", "render", "reports"],
    ".": ["model", "rules"],
    runner: ["model", "fold", "render", "rules", "."],
  },
  "engine/rules": {
    ".": [],
    questions: [],
    steps: [".", "questions"],
    answers: ["questions", "steps"],
    scopes: ["steps", "answers"],
    phases: ["questions", "steps", "scopes"],
    task: [".", "questions", "steps", "answers", "scopes", "phases"],
  },
  agents: {
    outcome: [],
    commands: ["outcome"],
    functions: ["outcome"],
    providers: ["outcome"],
    tools: ["outcome", "commands", "functions"],
    models: ["outcome", "tools"],
    "installed-agents": ["outcome", "commands", "providers", "models"],
    scoring: ["outcome", "commands", "models"],
    ".": ["outcome", "commands", "functions", "providers", "tools", "models", "installed-agents", "scoring"],
  },
  "agents/tools": { servers: [], ".": ["servers"] },
  store: {
    contract: [],
    cache: ["contract"],
    files: ["contract"],
    presence: ["contract", "files"],
    directory: ["contract", "files", "presence"],
    memory: ["contract", "files", "directory"],
    sql: ["contract", "files", "presence", "directory"],
    ".": ["contract", "files", "presence", "directory", "memory", "sql"],
  },
  checkpoint: { diff: [], format: [], blobs: ["format"], ".": ["format", "blobs"] },
  runtime: {
    views: [],
    platform: ["views"],
    audit: ["views", "platform"],
    mailbox: ["views", "audit"],
    keychain: ["platform", "audit", "mailbox"],
    trust: ["platform"],
    services: ["views", "platform", "audit", "keychain", "trust"],
    tasks: ["views", "audit", "mailbox", "keychain", "trust", "services"],
    session: ["views", "platform", "audit", "mailbox", "keychain", "services", "tasks"],
    verbs: ["views", "platform", "audit", "mailbox", "keychain", "trust", "services", "tasks", "session"],
    ".": ["views", "platform", "audit", "keychain", "trust", "services", "tasks", "verbs"],
  },
  "runtime/verbs": {
    retention: [],
    ".": ["retention"],
    keys: ["."],
    health: [".", "keys"],
    reports: [],
    transfer: [],
  },
  cli: {
    terminal: [],
    command: ["terminal"],
    reference: [],
    text: ["terminal", "command"],
    verbs: ["terminal", "command", "text", "reference"],
    ".": ["terminal", "command", "verbs"],
  },
};

interface Forbidden {
  readonly name: string;
  readonly pattern: RegExp;
  /** Files or folders below src/ that are the call's home. */
  readonly homes: readonly string[];
}

const FORBIDDEN: readonly Forbidden[] = [
  { name: "wall time", pattern: /\bDate\.now\(|\bnew Date\(\)/, homes: ["runtime/platform/system-clock.ts"] },
  {
    name: "monotonic time",
    pattern: /\bperformance\.now\(|\bprocess\.hrtime/,
    homes: ["runtime/platform/system-clock.ts"],
  },
  { name: "timers", pattern: /\b(?:setTimeout|setInterval)\(/, homes: ["runtime/platform/system-clock.ts"] },
  {
    name: "random numbers",
    pattern: /\bMath\.random\(|\brandom(?:Bytes|UUID|FillSync)\(/,
    homes: ["runtime/platform/system-clock.ts"],
  },
  { name: "environment", pattern: /\bprocess\.env\b/, homes: ["runtime/platform/environment.ts"] },
  { name: "console", pattern: /\bconsole\./, homes: [] },
  { name: "process exit", pattern: /\bprocess\.exit\(/, homes: ["cli/command-line.ts"] },
  { name: "serialised classes", pattern: /\bv8\.(?:de)?serialize\(|\bpickle\b/, homes: [] },
];

/** Names that were ours alone, and what a reader of the field looks for instead. */
const BANNED_NAMES: Readonly<Record<string, string>> = {
  "conduct(?:New|On)?": "startTask, continueTask",
  takeCare: "withOwnedTask",
  isToTakeUp: "shouldResume",
  hasOwnerEnded: "isOwnerGone",
  giveAnswer: "submitAnswer",
  answerAhead: "answerFromPresets",
  leaveMessage: "postMessage",
  "AnswerDesk|ControlDesk": "AnswerCoordinator, WritableMailbox",
  looksOpen: "looksUnfinished",
  "(?:read|tell)Standing": "readStatus, reportStatus",
  "Patient\\w+": "Retrying…, BestEffort…",
  "knock|KnockResult": "ping, PingResult",
  "Wish(?:es|List|Sink)": "DeferredEffects, EffectsBuffer, EffectsSink",
  "decide(?:That|Once)": "recordDecision, recordDecisionOnce",
  isUnborn: "hasNoRecords",
  "prepareGoingBack|goingBack": "prepareRollback, rollBack",
  carriedState: "stateOf",
};

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
const OWN_PROGRAMS = new Set(["process/keeper-program.ts", "cli/terminal/signal-thread-program.ts"]);

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
      .filter((target) => roomOf(target) !== room && !allowed.some((place) => target.startsWith(`${place}/`)))
      .map((target) => `${file.path} imports ${target}`);
  });
}

/** Folders that hold folders, `generated/` aside: each has its row in the table. */
function listDivided(files: readonly SourceFile[]): string[] {
  const folders = files.filter((file) => !isGenerated(file)).map((file) => file.path.split("/").slice(0, -1));
  return [...new Set(folders.filter(({ length }) => length > 1).flatMap(listAbove))].sort();
}

/** `a/b/c` → `a`, `a/b`. */
function listAbove(parts: readonly string[]): string[] {
  return parts.slice(0, -1).map((_, index) => parts.slice(0, index + 1).join("/"));
}

/** The part of a folder in which a file lies; `undefined` for a file elsewhere. */
function partOf(folder: string, path: string): string | undefined {
  if (!path.startsWith(`${folder}/`)) return undefined;
  const [part = "", ...below] = path.slice(folder.length + 1).split("/");
  return below.length === 0 ? "." : part;
}

function folderViolations(files: readonly SourceFile[]): string[] {
  const own = files.filter((file) => !isGenerated(file));
  return Object.entries(MAY_IMPORT_WITHIN).flatMap(([folder, parts]) =>
    own.flatMap((file) => {
      const from = partOf(folder, file.path);
      if (from === undefined) return [];
      const allowed = parts[from];
      if (allowed === undefined) return [`${file.path}: no part ${from} of ${folder} in the table`];
      return importsOf(file)
        .map((target) => ({ target, to: partOf(folder, target) }))
        .filter(({ to }) => to !== undefined && to !== from && !allowed.includes(to))
        .map(({ target }) => `${file.path} imports ${target}`);
    }),
  );
}

/** Parts that may import a part that stands later, or is not there. */
function listUnordered(table: typeof MAY_IMPORT_WITHIN): string[] {
  return Object.entries(table).flatMap(([folder, parts]) => {
    const order = Object.keys(parts);
    return order.flatMap((part, index) =>
      (parts[part] ?? [])
        .filter((other) => !order.slice(0, index).includes(other))
        .map((other) => `${folder}: ${part} → ${other}`),
    );
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

function bannedNames(files: readonly SourceFile[]): string[] {
  const banned = Object.entries(BANNED_NAMES).map(([name, term]) => ({
    pattern: new RegExp(`\\b(?:${name})\\b`),
    term,
  }));
  return files.flatMap((file) => {
    const text = stripComments(file.text);
    return banned.flatMap(({ pattern, term }) => {
      const name = pattern.exec(text)?.[0];
      return name === undefined ? [] : [`${file.path}: ${name}; write ${term}`];
    });
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

  it("has a row for every folder that is divided, and keeps it", () => {
    expect(Object.keys(MAY_IMPORT_WITHIN).sort()).toEqual(listDivided(files));
    expect(folderViolations(files)).toEqual([]);
  });

  it("has no circle of folders, at no depth", () => {
    expect(listUnordered(MAY_IMPORT_WITHIN)).toEqual([]);
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

  it("calls things as the field calls them", () => {
    expect(bannedNames(files)).toEqual([]);
  });

  it("has a home for every exception that the call table names", () => {
    const paths = new Set(files.map((file) => file.path));
    expect(FORBIDDEN.flatMap((rule) => rule.homes).filter((home) => !paths.has(home))).toEqual([]);
  });
});

describe("the house checker", () => {
  it.each([
    ["engine/decide.ts", 'import { openStore } from "../store/directory/directory-store.js";'],
    ["base/json.ts", 'import { evolve } from "../engine/evolve.js";'],
    ["engine/model/lookup.ts", 'const store = await import("../../store/memory/memory-store.js");'],
    ["vault/keyring.ts", 'import { DirectoryStore } from "../store/directory/directory-store.js";'],
    ["cli/verbs/run.ts", 'export { decide } from "../../engine/decide.js";'],
    ["mcp/tool.ts", 'import { formatView } from "../cli/terminal/output.js";'],
    ["attic/box.ts", ""],
  ])("catches a forbidden import planted in %s", (path, text) => {
    expect(importViolations([{ path, text }])).toHaveLength(1);
  });

  it.each([
    ["engine/model/state.ts", 'import { evolve } from "../fold/evolve.js";'],
    ["engine/rules/steps/start.ts", 'import { advance } from "../task/advance.js";'],
    ["engine/rules/triggers.ts", 'import type { Due } from "./steps/due.js";'],
    ["runtime/session/start-task.ts", 'const verb = await import("../verbs/run-verb.js");'],
    ["runtime/views/views.ts", 'import type { Splashdown } from "../contract.js";'],
    ["store/attic/box.ts", ""],
  ])("catches a forbidden import among folders planted in %s", (path, text) => {
    expect(folderViolations([{ path, text }])).toHaveLength(1);
  });

  it("catches a circle planted in the table, and a folder without a row", () => {
    expect(listUnordered({ engine: { model: ["fold"], fold: ["model"] } })).toEqual(["engine: model → fold"]);
    expect(listDivided([{ path: "vault/slots/slot.ts", text: "" }])).toEqual(["vault"]);
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
    ["cli/verbs/run.ts", 'console.log("x");'],
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

  it("catches a banned name, and says what to write", () => {
    const text = "export function conductNew(): void {}";
    expect(bannedNames([{ path: "runtime/a.ts", text }])).toEqual([
      "runtime/a.ts: conductNew; write startTask, continueTask",
    ]);
  });

  it("lets comments speak of what code may not do", () => {
    expect(
      callViolations([{ path: "engine/a.ts", text: "/** never Date.now() here */\n// nor Math.random()" }]),
    ).toEqual([]);
  });
});
