/**
 * Plants a violation for every gate of scripts/parts/checks.mjs, so that none can be green because it looks at nothing.
 *
 * A small project with our own settings is made in a temporary folder: as it is, every gate passes; with the plants,
 * every gate fails and names what was planted. The same commands run there as in CI.
 */
import { spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CHECKS } from "../scripts/parts/checks.mjs";

const ROOT = join(import.meta.dirname, "..");
const SETTINGS = [
  ".oxlintrc.json",
  ".prettierrc.json",
  ".prettierignore",
  "tsconfig.json",
  "test/tsconfig.json",
  "web/tsconfig.json",
  "knip.json",
];
const CLEAN: Readonly<Record<string, string>> = {
  "src/index.ts": 'export { double } from "./double.js";\n',
  "src/double.ts": "export function double(count: number): number {\n  return 2 * count;\n}\n",
  "test/double.test.ts":
    'import { expect, it } from "vitest";\nimport { double } from "../src/double.js";\n\nit("doubles", () => {\n  expect(double(1)).toBe(2);\n});\n',
  "web/main.tsx": 'document.title = "double";\n',
  "scripts/build.mjs": 'console.log("built");\n',
  "examples/work.mjs": "export const work = () => 1;\n",
  "dist/index.js": "export const double = (count) => 2 * count;\n",
  "dist/index.d.ts": "export declare const double: (count: number) => number;\n",
  LICENSE: "MIT\n",
};

/** A function of 14 ways, one of 71 lines, and the like. */
const manyWays = `export function choose(way: number): string {\n${Array.from({ length: 14 }, (_none, at) => `  if (way === ${at}) return "${at}";`).join("\n")}\n  return "";\n}\n`;
const manyLines = `export function tell(list: number[]): void {\n${"  list.push(1);\n".repeat(70)}}\n`;
const loose = "export async function later(): Promise<void> {}\nexport function now(): void {\n  later();\n}\n";

interface Plant {
  readonly gate: string;
  readonly file: string;
  readonly text: string;
  /** What the gate says about it. */
  readonly says: RegExp;
}

const LINT_PLANTS: readonly Plant[] = [
  { file: "src/any.ts", text: "export const guess: any = 1;\n", says: /any\.ts:1:.*no-explicit-any/ },
  {
    file: "src/sure.ts",
    text: "export const sure = (list: number[]) => list[0]!;\n",
    says: /sure\.ts:1:.*no-non-null-assertion/,
  },
  {
    file: "src/four.ts",
    text: "export const four = (a: number, b: number, c: number, d: number) => a + b + c + d;\n",
    says: /four\.ts:1:.*max-params/,
  },
  { file: "src/ways.ts", text: manyWays, says: /ways\.ts:1:.*complexity/ },
  { file: "src/lines.ts", text: manyLines, says: /src\/lines\.ts:1:.*max-lines-per-function/ },
  { file: "src/long.ts", text: `export {};\n${"export {};\n".repeat(400)}`, says: /src\/long\.ts:\d+:.*max-lines\)/ },
  {
    file: "src/deep.ts",
    text: "export function deep(a: boolean): void {\n  if (a) {\n    if (a) {\n      if (a) {\n        if (a) deep(a);\n      }\n    }\n  }\n}\n",
    says: /deep\.ts:5:.*max-depth/,
  },
  { file: "src/say.ts", text: 'console.log("said");\n', says: /src\/say\.ts:1:.*no-console/ },
  { file: "src/loose.ts", text: loose, says: /src\/loose\.ts:3:.*no-floating-promises/ },
  {
    file: "src/ring.ts",
    text: 'export { knot } from "./knot.js";\nexport const ring = 1;\n',
    says: /ring\.ts:1:.*no-cycle/,
  },
  {
    file: "src/knot.ts",
    text: 'export { ring } from "./ring.js";\nexport const knot = 1;\n',
    says: /knot\.ts:1:.*no-cycle/,
  },
  {
    file: "test/unit/room/loose.test.ts",
    text: loose,
    says: /test\/unit\/room\/loose\.test\.ts:3:.*no-floating-promises/,
  },
  {
    file: "test/empty.test.ts",
    text: 'import { it } from "vitest";\n\nit("shows nothing", () => {});\n',
    says: /empty\.test\.ts:3:.*expect-expect/,
  },
  { file: "scripts/part/lost.mjs", text: "const lost = 1;\n", says: /scripts\/part\/lost\.mjs:1:.*no-unused-vars/ },
  { file: "examples/part/lost.mjs", text: "const lost = 1;\n", says: /examples\/part\/lost\.mjs:1:.*no-unused-vars/ },
].map((plant) => ({ gate: "lint", ...plant }));

const PACKAGE_PLANTS: readonly Plant[] = [
  {
    gate: "package",
    file: "dist/index.js",
    text: "exports.double = 1;\n",
    says: /dist\/index\.js and is written in CJS/,
  },
  {
    gate: "package types",
    file: "dist/index.d.ts",
    text: 'export { double } from "./gone";\n',
    says: /Internal resolution error/i,
  },
];

const PLANTS: readonly Plant[] = [
  ...LINT_PLANTS,
  ...PACKAGE_PLANTS,
  {
    gate: "types",
    file: "src/typed.ts",
    text: 'export const count: number = "one";\n',
    says: /src\/typed\.ts\(1,14\): error TS2322/,
  },
  {
    gate: "types of tests",
    file: "test/typed.test.ts",
    text: 'export const count: number = "one";\n',
    says: /typed\.test\.ts\(1,14\): error TS2322/,
  },
  {
    gate: "types of the page",
    file: "web/typed.tsx",
    text: 'export const node: HTMLElement = "one";\n',
    says: /web\/typed\.tsx\(1,14\): error TS2322/,
  },
  {
    gate: "lint",
    file: "web/any.tsx",
    text: "export const guess: any = 1;\n",
    says: /web\/any\.tsx:1:.*no-explicit-any/,
  },
  { gate: "format", file: "src/crooked.ts", text: "export const crooked   = 1\n", says: /src\/crooked\.ts/ },
  { gate: "format", file: "examples/crooked.yaml", text: "a:    1\n", says: /examples\/crooked\.yaml/ },
  { gate: "format", file: "crooked.json", text: '{"a":1}', says: /crooked\.json/ },
  {
    gate: "dead code",
    file: "src/forgotten.ts",
    text: "export const forgotten = 1;\n",
    says: /Unused files[\s\S]*src\/forgotten\.ts/,
  },
  {
    gate: "dead code",
    file: "src/double.ts",
    text: `${CLEAN["src/double.ts"]}\nexport const spare = 1;\n`,
    says: /Unused exports[\s\S]*spare/,
  },
];

const place = mkdtempSync(join(tmpdir(), "checks-"));
afterAll(() => rmSync(place, { recursive: true }));

function write(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
}

/** A project that every gate accepts, with our settings; the schemas are our own. */
function createProject(name: string): string {
  const folder = join(place, name);
  write(folder, CLEAN);
  for (const file of SETTINGS) cpSync(join(ROOT, file), join(folder, file));
  const manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as Record<string, unknown>;
  const { name: own, version, license, type, engines, exports } = manifest;
  const kept = {
    name: own,
    version,
    license,
    type,
    engines,
    exports,
    files: ["dist"],
    devDependencies: { vitest: "*" },
  };
  write(folder, { "package.json": `${JSON.stringify(kept, undefined, 2)}\n` });
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  return folder;
}

/** What a gate says in a folder. */
function run(gate: string, folder: string): Promise<{ readonly status: number | null; readonly said: string }> {
  const args = CHECKS.find(({ name }) => name === gate)?.args ?? [];
  const more = gate === "lint" ? ["--format", "unix"] : [];
  const child = spawn(process.execPath, [...args, ...more], {
    cwd: folder,
    env: { ...process.env, NO_COLOR: "1", FORCE_COLOR: undefined },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (bytes: Buffer) => (said += bytes.toString()));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (status) => resolve({ status, said }));
  });
}

describe("the gates", () => {
  const gates = [...new Set(PLANTS.map(({ gate }) => gate))];
  const results = new Map<string, Awaited<ReturnType<typeof run>>>();

  beforeAll(async () => {
    const clean = createProject("clean");
    const planted = createProject("planted");
    write(planted, Object.fromEntries(PLANTS.map(({ file, text }) => [file, text])));
    for (const gate of gates) {
      const [before, after] = await Promise.all([run(gate, clean), run(gate, planted)]);
      results.set(`${gate} before`, before);
      results.set(`${gate} after`, after);
    }
  });

  it("are all looked at here or where their violation is planted", () => {
    const elsewhere = ["schemas"];
    expect(new Set([...gates, ...elsewhere])).toEqual(new Set(CHECKS.map(({ name }) => name)));
  });

  it.each(gates)("%s: passes where nothing is wrong", (gate) => {
    expect(results.get(`${gate} before`)).toEqual({ status: 0, said: expect.any(String) });
  });

  it.each(PLANTS)("$gate: finds what is planted in $file", ({ gate, says }) => {
    const { status, said } = results.get(`${gate} after`) ?? { status: 0, said: "" };
    expect(said).toMatch(says);
    expect(status).toBeGreaterThan(0);
  });
});

/** Comments that would let a violation through. */
const SILENCER = /(?:oxlint|eslint)-disable|@ts-(?:ignore|expect-error|nocheck)|(?:prettier|v8|c8|istanbul)[- ]ignore/;

describe("the code", () => {
  const files = ["src", "web", "test", "scripts", "proof", "examples"].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.(?:tsx?|mjs|js)$/.test(entry.name))
      .map((entry) => join(entry.parentPath, entry.name))
      .filter(
        (file) => !/[\\/]generated[\\/]|generate-types\.mjs$|checks\.test\.ts$|[\\/]node_modules[\\/]/.test(file),
      ),
  );

  it("silences no gate", () => {
    expect(files.length).toBeGreaterThan(200);
    // In a test of types an expected error is the assertion: without the error it fails.
    const isSilenced = (file: string): boolean => {
      const text = readFileSync(file, "utf8");
      return SILENCER.test(file.endsWith("-types.test.ts") ? text.replaceAll("@ts-expect-error", "") : text);
    };
    expect(files.filter(isSilenced)).toEqual([]);
  });

  it.each([
    "// oxlint-disable-next-line no-console",
    "// @ts-expect-error",
    "/* v8 ignore next */",
    "// prettier-ignore",
  ])("would be caught with %s", (comment) => {
    expect(SILENCER.test(comment)).toBe(true);
  });
});
