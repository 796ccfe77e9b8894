/** What leaves the group of a step ends with it all the same. */
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Child } from "../../../src/process/contract.js";
import { openProcessHost, type SystemProcessHost } from "../../../src/process/host.js";
import { openProcessTable } from "../../../src/process/process-table.js";
import { createMark, findStrays } from "../../../src/process/process-tree.js";
import { placeOf, processOf } from "../../support/places.js";
import { isRunning } from "../../support/process-probe.js";
import { realClock, until } from "../../support/real-clock.js";

let host: SystemProcessHost;
let folder: string;

beforeEach(async () => {
  host = openProcessHost({ clock: realClock });
  folder = await mkdtemp(path.join(tmpdir(), "splashdown-tree-"));
});
afterEach(async () => {
  await host.close();
  await rm(folder, { recursive: true });
});

/** A child of that shell text; the processes that wrote their numbers. */
async function startTree(script: string): Promise<{ child: Child; escaped: number[] }> {
  const child = await host.spawn({
    program: "sh",
    arguments: ["-c", script],
    folder,
    environment: { PATH: "/usr/bin:/bin" },
    stdoutBytesMax: 1e6,
    stderrTailBytes: 1000,
  });
  child.release();
  await until("it has left", async () => (await readdir(folder)).length === 1);
  return { child, escaped: (await readdir(folder)).map(Number) };
}

const NOTE = "echo > $$; exec sleep 600";

describe.skipIf(process.platform !== "linux")("the end of a tree (Linux alone shows it)", () => {
  it("[kinds F13] takes a process along that has a session of its own", async () => {
    const { child, escaped } = await startTree(`setsid sh -c '${NOTE}' & sleep 600`);
    await child.end(1_000);
    expect(escaped.filter(isRunning)).toEqual([]);
  });

  it("[kinds F13 kin] takes one along that two parents have left", async () => {
    const { child, escaped } = await startTree(`(setsid sh -c '(${NOTE}) &' &) & sleep 600`);
    await child.end(1_000);
    expect(escaped.filter(isRunning)).toEqual([]);
  });

  it("[kinds F13 kin] takes one along that has emptied its environment below a living parent", async () => {
    const { child, escaped } = await startTree(
      `setsid sh -c 'env -i /bin/sh -c "echo > \\$\\$; /bin/sleep 600"; :' & wait`,
    );
    await child.end(1_000);
    expect(escaped.filter(isRunning)).toEqual([]);
  });

  it("[kinds F13 kin] takes one along that is deaf to TERM", async () => {
    const deaf = 'trap "" TERM HUP INT; echo > $$; while :; do sleep 0.05; done';
    const { child, escaped } = await startTree(`setsid sh -c '${deaf}' & sleep 600`);
    await child.end(100);
    expect(escaped.filter(isRunning)).toEqual([]);
  });

  it("[reliability 10] is the recovery's too: what outlived its group is seen and ended before an outcome is judged", async () => {
    const { child, escaped } = await startTree(`setsid sh -c '${NOTE}' & exec sleep 600`);
    process.kill(-child.identity.pid, "SIGKILL");
    await child.result;
    expect(escaped.filter(isRunning)).toEqual(escaped);
    const other = openProcessHost({ clock: realClock });
    expect(await other.groupState(child.identity)).toBe("running");
    await other.endGroup(child.identity, 1_000);
    expect([await other.groupState(child.identity), escaped.filter(isRunning)]).toEqual(["gone", []]);
  });

  it("[reliability 10 kin] spares a service that a program left behind which ended by itself", async () => {
    const { child, escaped } = await startTree(`setsid sh -c '${NOTE}' & until ls | grep -q .; do sleep 0.02; done`);
    await child.result;
    expect(escaped.filter(isRunning)).toEqual(escaped);
    for (const pid of escaped) process.kill(pid, "SIGKILL");
  });

  it("[reliability 1c kin] ends nothing by a number of another namespace", async () => {
    const { child, escaped } = await startTree(`setsid sh -c '${NOTE}' & sleep 600`);
    const elsewhere = { ...child.identity, namespace: "pid:[1]" };
    expect(await host.groupState(elsewhere)).toBe("unclear");
    await host.endGroup(elsewhere, 0);
    expect([child.identity.pid, ...escaped].filter(isRunning)).toHaveLength(2);
    await child.end(0);
  });
});

describe("the mark of a group", () => {
  it("is no other's beginning, and another one in another namespace", () => {
    const [here, there] = [
      processOf(7, 9, "b"),
      { ...processOf(7, 9, "b"), ...placeOf("b", { namespace: "pid:[5]" }) },
    ];
    const marks = [createMark(here, 1), createMark(here, 11), createMark(there, 1)];
    expect(marks.every((mark) => marks.filter((other) => other.startsWith(mark)).length === 1)).toBe(true);
  });

  it("finds nothing for a process that has none", async () => {
    expect(await findStrays(openProcessTable(), processOf(process.pid, 1, "b"))).toEqual([]);
  });
});
