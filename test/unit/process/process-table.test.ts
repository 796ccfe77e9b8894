import { describe, expect, it } from "vitest";
import { isGroupRunning, openProcessTable, parseKernelStat, parsePsLine } from "../../../src/process/process-table.js";

describe("parseKernelStat", () => {
  const tail = "S 1 4242 4240 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 987654 1 2";

  it("counts fields after the last parenthesis of the name", () => {
    expect(parseKernelStat(`4242 (a) b\n(c)) ${tail}`)).toEqual({
      pid: 4242,
      parentId: 1,
      groupId: 4242,
      sessionId: 4240,
      startTicks: 987654,
      startText: "987654",
      isZombie: false,
    });
  });

  it("knows a zombie", () => {
    expect(parseKernelStat(`7 (x) ${tail.replace("S", "Z")}`)?.isZombie).toBe(true);
  });

  it("refuses what is no stat line", () => {
    expect(parseKernelStat("")).toBeUndefined();
    expect(parseKernelStat("4242 (short) S 1")).toBeUndefined();
  });
});

describe("parsePsLine", () => {
  it("reads the start as seconds and as the keeper's text", () => {
    expect(parsePsLine("  12    1   12     0 Ss   Fri Jan  2 03:04:05 2026\n")).toEqual({
      pid: 12,
      parentId: 1,
      groupId: 12,
      sessionId: 12,
      startTicks: Math.floor(new Date(2026, 0, 2, 3, 4, 5).getTime() / 1000),
      startText: "Fri_Jan_2_03:04:05_2026",
      isZombie: false,
    });
  });

  it("refuses an empty answer", () => {
    expect(parsePsLine("")).toBeUndefined();
  });
});

describe.each(["linux", "other"])("the process table of %s", (platform) => {
  const table = openProcessTable(platform);

  it("finds this process with a start that stays", () => {
    const entry = table.read(process.pid);
    expect(entry?.pid).toBe(process.pid);
    expect(entry?.startTicks).toBeGreaterThan(0);
    expect(table.read(process.pid)).toEqual(entry);
    expect(entry?.isZombie).toBe(false);
  });

  it("lists this process among all", async () => {
    const entries = await table.list();
    expect(entries.find((entry) => entry.pid === process.pid)?.startTicks).toBe(table.read(process.pid)?.startTicks);
  });

  it("finds nobody under a number that no system gives", () => {
    expect(table.read(2 ** 30)).toBeUndefined();
  });
});

describe("isGroupRunning", () => {
  const table = openProcessTable();
  const own = { pid: process.pid, startTicks: table.read(process.pid)?.startTicks ?? 0, ...table.place };

  it("is true for this very process", async () => {
    expect(await isGroupRunning(table, own)).toBe(true);
  });

  it("P4: is false for an earlier process with the same number", async () => {
    expect(await isGroupRunning(table, { ...own, startTicks: own.startTicks - 1 })).toBe(false);
  });

  it("P4: is false for a process of another boot or namespace", async () => {
    expect(await isGroupRunning(table, { ...own, bootId: "another" })).toBe(false);
    expect(await isGroupRunning(table, { ...own, namespace: "pid:[1]" })).toBe(false);
  });

  it("is false for numbers that would mean every process or our own group", async () => {
    for (const pid of [1, 0, -1]) expect(await isGroupRunning(table, { ...own, pid })).toBe(false);
  });
});
