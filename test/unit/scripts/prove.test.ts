/** What makes a suite of `scripts/prove` red: each is planted here, so that none can be green because it looks at nothing. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { judgeReport } from "../../../proof/proofs/suite-runs.mjs";
import { SUITES } from "../../../proof/proofs/suites.mjs";
import { judgeSuite, selectSuites, Table } from "../../../proof/proofs/table.mjs";
import { judgeMutants, scoreOf } from "../../../proof/mutants/verdict.mjs";

const passed = (title: string, meta = {}) => ({ fullName: title, status: "passed", failureMessages: [], meta });
const failed = (title: string) => ({ fullName: title, status: "failed", failureMessages: ["expected 1"], meta: {} });
const skipped = (title: string) => ({ fullName: title, status: "skipped", failureMessages: [], meta: {} });
const fileOf = (status: string, ...assertionResults: readonly object[]) => ({
  name: "a.test.ts",
  status,
  message: "no such module",
  assertionResults,
});

describe("the suites", () => {
  const PROJECT = join(import.meta.dirname, "../../..");
  const named = ["suites", "suite-runs"].flatMap((name) => {
    const text = readFileSync(join(PROJECT, `proof/proofs/${name}.mjs`), "utf8");
    return [...text.matchAll(/"((?:test|scripts|proof)\/[^"]+)"/g)].map(([, path = ""]) => path);
  });

  it("name tests and scripts that are there", () => {
    expect(named.length).toBeGreaterThan(20);
    expect(named.filter((path) => !existsSync(join(PROJECT, path)))).toEqual([]);
  });
});

describe("the judgement of a suite that runs tests", () => {
  it("adds up what the tests say they tried, one for each that says nothing", () => {
    const report = { testResults: [fileOf("passed", passed("a", { tried: 8_000 }), passed("b"))] };
    expect(judgeReport(report)).toEqual({ tried: 8_001, violations: [], untried: [] });
  });

  it("counts a failed test as a violation and not as tried", () => {
    const report = { testResults: [fileOf("failed", failed("a"), passed("b"))] };
    expect(judgeReport(report)).toMatchObject({ tried: 1, violations: ["a: expected 1"] });
  });

  it("counts a file that does not load as a violation", () => {
    const { violations } = judgeReport({ testResults: [fileOf("failed"), fileOf("failed", skipped("a"))] });
    expect(violations).toEqual(["a.test.ts does not load: no such module", "a.test.ts does not load: no such module"]);
  });

  it("names what was meant and not tried, and is silent about tests of other titles", () => {
    const vectors = passed("c", { untried: "vectors: no folder" });
    const report = { testResults: [fileOf("passed", skipped("every offset"), skipped("other"), vectors)] };
    expect(judgeReport(report, "every").untried).toEqual(["every offset", "vectors: no folder"]);
  });
});

describe("the table", () => {
  const suite = { name: "small", least: { commit: 10, long: 20 }, run: () => Promise.resolve({}) };

  it.each([
    ["with as many cases as there must be", { tried: 10, violations: [] }, true],
    ["with fewer cases", { tried: 9, violations: [] }, false],
    ["with no case at all", { tried: 0, violations: [] }, false],
    ["with a violation", { tried: 10, violations: ["lost a record"] }, false],
    ["that says why nothing can be tried", { tried: 0, violations: [], skipped: "no strace" }, true],
  ])("judges a suite %s", (_what, found, ok) => {
    expect(judgeSuite({ name: "small", least: 10 }, found).ok).toBe(ok);
  });

  it("is good only when every suite is, and never without one", async () => {
    const lines: string[] = [];
    const table = new Table({ form: "commit", print: (line: string) => void lines.push(line) });
    const good = { ...suite, run: () => Promise.resolve({ tried: 10, violations: [] }) };
    const bad = { ...suite, name: "bad", run: () => Promise.resolve({ tried: 12, violations: ["lost a record"] }) };
    expect((await table.run([good, good], 2)).ok).toBe(true);
    expect((await table.run([], 2)).ok).toBe(false);
    expect((await table.run([good, bad], 1)).ok).toBe(false);
    expect(lines).toContain("  VIOLATION lost a record");
  });

  it("runs what is to be alone when nothing else runs", async () => {
    const order: string[] = [];
    const suiteOf = (name: string, alone: boolean) => ({
      ...suite,
      name,
      alone,
      run: async () => {
        order.push(`${name} begins`);
        await new Promise((resolve) => setImmediate(resolve));
        order.push(`${name} ends`);
        return { tried: 10, violations: [] };
      },
    });
    const table = new Table({ form: "commit", print: () => undefined });
    await table.run([suiteOf("alone", true), suiteOf("a", false), suiteOf("b", false)], 2);
    expect(order).toEqual(["a begins", "b begins", "a ends", "b ends", "alone begins", "alone ends"]);
  });
});

describe("the suites", () => {
  it("have names of their own, and each how many cases it must try", () => {
    expect(new Set(SUITES.map(({ name }) => name)).size).toBe(SUITES.length);
    const counts = SUITES.flatMap(({ least }) => Object.values(least));
    expect(counts.every((count) => count > 0)).toBe(true);
    expect(selectSuites(SUITES, { form: "commit" }).length).toBeGreaterThan(20);
    expect(selectSuites(SUITES, { form: "commit", only: "no such suite" })).toEqual([]);
  });

  it.each([
    ["crash after every operation", 30_000, 1_000_000],
    ["crash of what recovers", 10_000, 200_000],
    ["protocols with one thing left out", 12, 12],
    ["kill -9 of the real program", 200, 20_000],
    ["eight processes want one", 100, 5_000],
    ["a real disk fills up", 64, 1_024],
    ["parsers on changed", 200_000, 50_000_000],
    ["values come back", 10_000, 1_000_000],
  ])("ask of '%s' at least what the plan has", (name, commit, long) => {
    const [found] = selectSuites(SUITES, { form: "long", only: name });
    expect(found?.least.commit).toBeGreaterThanOrEqual(commit);
    expect(found?.least.long).toBeGreaterThanOrEqual(long);
  });
});

describe("the judgement of mutants", () => {
  const mutant = (status: string, line: number) => ({
    status,
    replacement: "false",
    location: { start: { line, column: 5 }, end: { line, column: 9 } },
  });
  const source = "if (a) {\nif (true) {}\nif (b) {}\n";
  const report = {
    files: {
      "src/a.ts": {
        source,
        mutants: [mutant("Killed", 2), mutant("Timeout", 2), mutant("Survived", 2), mutant("CompileError", 3)],
      },
    },
  };
  const equal = { file: "src/a.ts", line: "if (true) {}", was: "true", is: "false", why: "nobody asks" };

  it("counts what was noticed, tells what was not with its place, and leaves out what does not compile", () => {
    const { rows } = judgeMutants(report, []);
    expect(rows).toMatchObject([
      { noticed: 2, equivalent: 0, unnoticed: [{ at: "2:5", line: "if (true) {}", was: "true", is: "false" }] },
    ]);
    expect(scoreOf(rows)).toBeCloseTo(2 / 3);
  });

  it("leaves out what is listed as making no difference, and tells entries that fit nothing", () => {
    const stale = { ...equal, was: "gone" };
    const judged = judgeMutants(report, [equal, stale]);
    expect(judged.rows[0]).toMatchObject({ noticed: 2, equivalent: 1, unnoticed: [] });
    expect(judged.stale).toEqual([stale]);
    expect(scoreOf(judged.rows)).toBe(1);
  });
});
