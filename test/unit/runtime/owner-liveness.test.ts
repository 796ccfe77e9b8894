import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { openProcessTable } from "../../../src/process/process-table.js";
import { isOwnerGone } from "../../../src/runtime/platform/owner-liveness.js";

const table = openProcessTable();
const SELF = {
  pid: process.pid,
  ...table.place,
  processStartedAt: String(table.read(process.pid)?.startTicks),
  since: "2024-01-02T14:35:22.123Z",
};

async function endedPid(): Promise<number> {
  const child = spawn(process.execPath, ["-e", ""], { stdio: "ignore" });
  await once(child, "exit");
  return child.pid ?? 0;
}

describe.skipIf(process.platform !== "linux")("an owner that cannot be asked (Linux alone tells)", () => {
  it("R1: has ended when nobody has its number, or somebody who started at another time", async () => {
    expect(isOwnerGone(SELF)).toBe(false);
    expect(isOwnerGone({ ...SELF, processStartedAt: "1" })).toBe(true);
    expect(isOwnerGone({ ...SELF, pid: await endedPid() })).toBe(true);
  });

  it("R1: has not provably ended where its number means nothing: another boot, another namespace, none", async () => {
    const gone = { ...SELF, pid: await endedPid() };
    for (const facts of [
      { ...gone, bootId: "another" },
      { ...gone, namespace: "pid:[1]" },
      { ...gone, namespace: "" },
    ])
      expect(isOwnerGone(facts)).toBe(false);
  });

  it("R1: lives where the system hides it, and where the system cannot look now", () => {
    expect(isOwnerGone(SELF, { ...table, place: table.place, read: () => undefined })).toBe(false);
    const blind = {
      ...table,
      place: table.place,
      read: () => {
        throw new Error("no descriptor is left");
      },
    };
    expect(isOwnerGone(SELF, blind)).toBe(false);
  });
});
