import { describe, expect, it } from "vitest";
import { computeKeyedName, computeTaskName } from "../../../src/runtime/tasks/task-name.js";
import { isTaskName } from "../../../src/store/contract/object-key.js";
import { faultsOf, loadText } from "../../support/workflow-files.js";

describe("the name of a task", () => {
  it("is made of the workflow's and the time in UTC, whatever the zone and its summer time", () => {
    // Half an hour after clocks went forward in Berlin, and back in New York.
    expect(computeTaskName("Market Report", Date.UTC(2026, 2, 29, 1, 30))).toBe("market-report_20260329_013000");
    expect(computeTaskName("…", Date.UTC(2026, 10, 1, 6, 30, 5, 999))).toBe("task_20261101_063005");
    expect(computeTaskName("x".repeat(90), 0)).toBe(`${"x".repeat(44)}_19700101_000000`);
  });
});

/** What people call workflows, and what no folder can be called everywhere. */
const NAMES = [
  "aux.txt",
  "CON",
  "nul",
  "com1.log",
  "LPT9",
  "prn.",
  ".hidden",
  "-y",
  "a/b",
  "..",
  "",
  " ",
  "ß",
  "日本",
  "x".repeat(300),
  "a..b.",
  "aux",
  "con.fig",
];

describe("a name that is generated", () => {
  it.each(NAMES)("[kinds F20] of the workflow %j is one that every store takes", (name) => {
    for (const made of [computeTaskName(name, 0), computeKeyedName(name, "k")])
      expect([made, isTaskName(made)]).toEqual([made, true]);
  });
});

describe("a file that a step saves", () => {
  const saving = (saved: string) => `workflow: {name: w}\nsteps: [{name: a, value: {x: 1, y: 2}, save_as: ${saved}}]\n`;

  it.each([
    ["aux.txt", "it is the name of a device on Windows"],
    ["final/NUL", '"NUL" is the name of a device on Windows'],
    ["'report?.md'", 'it has the sign "?"'],
    ["'a:b'", 'it has the sign ":"'],
    ["'report.'", "it ends with a dot or a space"],
    ["'dir /x.md'", '"dir " ends with a dot or a space'],
  ])("[kinds F20 kin] is not called %s", async (name, why) => {
    const [fault] = await faultsOf(saving(name));
    expect(fault?.message).toContain(why);
  });

  it("[kinds F20 kin] is another one than that of another case", async () => {
    const [fault] = await faultsOf(saving("{Report.md: x, report.MD: y}"));
    expect(fault?.message).toBe("Report.md and report.MD are one file where names have no case");
  });

  it("[kinds F20 kin] has any other name", async () => {
    await expect(loadText(saving("{final/Bericht-ü.md: x, auxiliary.txt: y}"))).resolves.toBeDefined();
  });
});
