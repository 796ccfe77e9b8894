/** What an install runs: nothing of the packages' own, so nothing compiles and nothing is downloaded from elsewhere. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const ROOT = join(import.meta.dirname, "..", "..", "..");

interface LockedPackage {
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly hasInstallScript?: boolean;
}

/** Packages with a script of their own at install, and why they work without it. */
const WORK_WITHOUT_SCRIPT = new Map([
  ["node_modules/esbuild", "the script only checks the binary of the package for this platform"],
  ["node_modules/@photostructure/sqlite", "the script only looks for a binary that the package brings along"],
]);

const read = (name: string) => readFileSync(join(ROOT, name), "utf8");
const { packages } = JSON.parse(read("package-lock.json")) as { packages: Readonly<Record<string, LockedPackage>> };

/** Packages whose script could compile or download. */
function findBuilders(locked: Readonly<Record<string, LockedPackage>>): readonly string[] {
  const named = Object.entries(locked).filter(([, { hasInstallScript }]) => hasInstallScript === true);
  return named.map(([name]) => name).filter((name) => !WORK_WITHOUT_SCRIPT.has(name));
}

describe("installing the project", () => {
  it("holds no package that builds at install", () => {
    expect(Object.keys(packages).length).toBeGreaterThan(100);
    expect(findBuilders(packages)).toEqual([]);
    expect(findBuilders({ "node_modules/better-sqlite3": { hasInstallScript: true } })).toEqual([
      "node_modules/better-sqlite3",
    ]);
  });

  it("gives a user no package with a script of its own", () => {
    const ofUsers = Object.entries(packages).filter(
      ([, { dev, hasInstallScript }]) => dev !== true && hasInstallScript,
    );
    expect(ofUsers.map(([name]) => name).filter((name) => name !== "")).toEqual([]);
  });

  it("runs no script of a package", () => {
    expect(read(".npmrc").split("\n")).toContain("ignore-scripts=true");
  });

  it("names each exception for as long as it is there", () => {
    const named = [...WORK_WITHOUT_SCRIPT.keys()];
    expect(named.filter((name) => packages[name]?.hasInstallScript !== true)).toEqual([]);
  });
});
