import { spawn, type ChildProcess } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openProcessHost } from "../../../src/process/host.js";
import { Keeper } from "../../../src/process/keeper.js";
import { KEEPER_PROGRAM } from "../../../src/process/keeper-program.js";
import { openProcessTable } from "../../../src/process/process-table.js";
import { isRunning, listChildren } from "../../support/process-probe.js";
import { realClock, until } from "../../support/real-clock.js";

const OWNER = path.resolve(import.meta.dirname, "../../support/programs/owner.ts");

let folder: string;
const started: ChildProcess[] = [];

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "splashdown-keeper-"));
});
afterEach(async () => {
  for (const child of started.splice(0)) child.kill("SIGKILL");
  await rm(folder, { recursive: true });
});

interface OwnerFacts {
  readonly owner: number;
  readonly keeper: number;
  readonly children: readonly number[];
}

async function startOwner(...parameters: string[]): Promise<OwnerFacts> {
  const owner = spawn(process.execPath, ["--import", "tsx", OWNER, ...parameters], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  started.push(owner);
  let text = "";
  owner.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
  await until("the owner tells its children", () => text.endsWith("\n"));
  return JSON.parse(text) as OwnerFacts;
}

/** A process in a group and session of its own, with its start as the keeper reads it. */
function startStranger(): { readonly pid: number; readonly start: string } {
  const child = spawn("sleep", ["60"], { detached: true, stdio: "ignore" });
  started.push(child);
  const pid = child.pid ?? 0;
  return { pid, start: openProcessTable().read(pid)?.startText ?? "" };
}

function startKeeper(): ChildProcess & { readonly answers: string[] } {
  const keeper = spawn("/bin/sh", ["-c", KEEPER_PROGRAM], {
    detached: true,
    env: { PATH: "/usr/bin:/bin" },
    stdio: ["pipe", "pipe", "inherit"],
  });
  started.push(keeper);
  const answers: string[] = [];
  keeper.stdout.on("data", (chunk: Buffer) => answers.push(...chunk.toString().trim().split("\n")));
  return Object.assign(keeper, { answers });
}

/** Its streams too: what it answered has been read. */
const endOf = (keeper: ChildProcess) => new Promise((resolve) => keeper.once("close", resolve));

async function expectEnd(pids: readonly number[]): Promise<void> {
  await until("nothing runs", () => !pids.some(isRunning));
  expect(pids.filter(isRunning)).toEqual([]);
}

describe("the keeper of a killed owner", () => {
  it("P2: ends every group with its grandchildren, deaf ones too", async () => {
    const tell = (name: string) => `touch ${folder}/${name}-$$`;
    const facts = await startOwner(
      "run",
      `${tell("leader")}; sh -c '${tell("deaf")}; trap "" TERM HUP INT; while :; do sleep 0.05; done' & sleep 600`,
      `${tell("leader")}; sh -c '${tell("plain")}; exec sleep 600' & sleep 600`,
    );
    await until("the trees stand", async () => (await readdir(folder)).length === 4);
    const numbers = (await readdir(folder)).map((name) => Number(name.split("-")[1]));
    expect(numbers.filter(isRunning)).toHaveLength(4);
    process.kill(facts.owner, "SIGKILL");
    await until("nothing runs", () => !numbers.some(isRunning));
    await until("the keeper has left", () => !isRunning(facts.keeper));
  });

  it("P1: a program that was never released never runs", async () => {
    const facts = await startOwner("hold", `echo ran > ${folder}/mark`);
    expect(facts.children.map(isRunning)).toEqual([true]);
    process.kill(facts.owner, "SIGKILL");
    await expectEnd([...facts.children, facts.keeper]);
    expect(await readdir(folder)).toEqual([]);
  });

  it("does not fall to the signals that ended its owner", async () => {
    const facts = await startOwner("run", "exec sleep 600");
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"]) process.kill(facts.keeper, signal);
    expect(isRunning(facts.keeper)).toBe(true);
    process.kill(facts.owner, "SIGTERM");
    await expectEnd([...facts.children, facts.keeper]);
  });
});

describe.skipIf(process.platform !== "linux")("the keeper and what left the group (Linux alone shows it)", () => {
  it("[public S] ends a process with a session of its own when the owner dies", async () => {
    const facts = await startOwner("run", `setsid sh -c 'echo > ${folder}/$$; exec sleep 600' & sleep 600`);
    await until("it has left", async () => (await readdir(folder)).length === 1);
    const escaped = (await readdir(folder)).map(Number);
    process.kill(facts.owner, "SIGKILL");
    await expectEnd([...facts.children, ...escaped, facts.keeper]);
  });

  it("[public S kin] ends one that was left by its parents, and is deaf", async () => {
    const deaf = `trap "" TERM; echo > ${folder}/$$; while :; do sleep 0.05; done`;
    const facts = await startOwner("run", `(setsid sh -c '${deaf}' &) & sleep 600`);
    await until("it has left", async () => (await readdir(folder)).length === 1);
    const escaped = (await readdir(folder)).map(Number);
    process.kill(facts.owner, "SIGKILL");
    await expectEnd([...facts.children, ...escaped, facts.keeper]);
  });

  it("[public S kin] leaves alone what has the mark of another group", async () => {
    const other = spawn("sleep", ["60"], { detached: true, env: { PATH: "/usr/bin:/bin", SPLASHDOWN_GROUP: "1-12." } });
    started.push(other);
    const { pid, start } = startStranger();
    const keeper = startKeeper();
    keeper.stdin?.end(`add ${pid} ${start} 1-1.\n`);
    await endOf(keeper);
    expect([isRunning(pid), isRunning(other.pid ?? 0)]).toEqual([false, true]);
  });

  it("[public S kin] leaves alone what has the mark of a group that was dropped", async () => {
    const service = spawn("sleep", ["60"], {
      detached: true,
      env: { PATH: "/usr/bin:/bin", SPLASHDOWN_GROUP: "1-1." },
    });
    started.push(service);
    const { pid, start } = startStranger();
    const keeper = startKeeper();
    keeper.stdin?.end(`add ${pid} ${start} 1-1.\ndrop ${pid} ${start} 1-1.\n`);
    await endOf(keeper);
    expect([isRunning(pid), isRunning(service.pid ?? 0)]).toEqual([true, true]);
  });

  it("[reliability P04] is told by its successor's owner of the groups of the one before", async () => {
    const facts = await startOwner("run", "exec sleep 600");
    process.kill(facts.keeper, "SIGKILL");
    await until("another keeper is there", () =>
      listChildren(facts.owner).some((pid) => pid !== facts.keeper && !facts.children.includes(pid)),
    );
    process.kill(facts.owner, "SIGKILL");
    await expectEnd(facts.children);
  });

  it("[reliability P05] is told that a group has ended, and keeps it no longer", async () => {
    const program = `while read -r word group rest; do echo "$word" >> ${folder}/told; [ $word = add ] && echo $group; done`;
    const host = openProcessHost({ clock: realClock, keeper: new Keeper({ program }) });
    const spec = { program: "true", arguments: [], environment: {}, stdoutBytesMax: 9, stderrTailBytes: 9 };
    const child = await host.spawn(spec);
    child.release();
    await child.result;
    await host.close();
    expect(await readFile(path.join(folder, "told"), "utf8")).toBe("add\ndrop\n");
  });

  it("[reliability 10 kin] is replaced when it is stopped, and holds no step up", async () => {
    const host = openProcessHost({ clock: realClock });
    const spec = { program: "true", arguments: [], environment: {}, stdoutBytesMax: 9, stderrTailBytes: 9 };
    const first = await host.spawn({ ...spec, program: "sleep", arguments: ["600"] });
    first.release();
    const stopped = host.keeperPid ?? 0;
    process.kill(stopped, "SIGSTOP");
    const second = await host.spawn(spec);
    second.release();
    expect((await second.result).exitCode).toBe(0);
    expect([host.keeperPid === stopped, isRunning(stopped)]).toEqual([false, false]);
    await host.close();
    expect(isRunning(first.identity.pid)).toBe(false);
  });
});

describe("the keeper's program", () => {
  it("P4: kills only the process whose start it was told", async () => {
    const [own, reused] = [startStranger(), startStranger()];
    const keeper = startKeeper();
    keeper.stdin?.end(`add ${own.pid} ${own.start}\nadd ${reused.pid} ${Number(reused.start) - 1}\n`);
    await endOf(keeper);
    expect(keeper.answers).toEqual([String(own.pid), String(reused.pid)]);
    expect(isRunning(own.pid)).toBe(false);
    expect(isRunning(reused.pid)).toBe(true);
  });

  it("leaves alone what was dropped", async () => {
    const [first, second, third] = [startStranger(), startStranger(), startStranger()];
    const keeper = startKeeper();
    const all = [first, second, third].map(({ pid, start }) => `${pid} ${start}\n`);
    keeper.stdin?.end(`${all.map((line) => `add ${line}`).join("")}drop ${all[1] ?? ""}`);
    await endOf(keeper);
    expect([first, second, third].map(({ pid }) => isRunning(pid))).toEqual([false, true, false]);
  });

  it("ends at once with its input when nothing is registered", async () => {
    const keeper = startKeeper();
    keeper.stdin?.end();
    await endOf(keeper);
    expect(keeper.exitCode).toBe(0);
  });

  it("does not act on a line that was cut short by the owner's death", async () => {
    const stranger = startStranger();
    const keeper = startKeeper();
    keeper.stdin?.end(`add ${stranger.pid} ${stranger.start}`);
    await endOf(keeper);
    expect(isRunning(stranger.pid)).toBe(true);
  });
});

describe("a keeper that cannot be started", () => {
  it("P2: is STORE_BUSY, and the program never runs", async () => {
    const host = openProcessHost({ clock: realClock, keeper: new Keeper({ program: "exit 0" }) });
    const parameters = ["-c", `touch ${folder}/mark`];
    const spec = { program: "sh", arguments: parameters, environment: {}, stdoutBytesMax: 10, stderrTailBytes: 10 };
    await expect(host.spawn(spec)).rejects.toMatchObject({
      code: "STORE_BUSY",
      message: "the keeper of child processes cannot be started: it ended 5 times without an answer",
    });
    expect(await readdir(folder)).toEqual([]);
    await host.close();
  });
});

describe("a keeper that dies", () => {
  it("is replaced, and the new one knows the living groups", async () => {
    const host = openProcessHost({ clock: realClock });
    const spec = { program: "sleep", arguments: ["60"], environment: {}, stdoutBytesMax: 10, stderrTailBytes: 10 };
    const child = await host.spawn(spec);
    child.release();
    const first = host.keeperPid ?? 0;
    process.kill(first, "SIGKILL");
    await until("another keeper", () => host.keeperPid !== undefined && host.keeperPid !== first);
    const later = await host.spawn(spec);
    later.release();
    await host.close();
    expect([child, later].map((one) => isRunning(one.identity.pid))).toEqual([false, false]);
  });
});
