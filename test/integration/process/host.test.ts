import { createHash } from "node:crypto";
import { existsSync, writeFileSync } from "node:fs";
import { chmod, mkdtemp, readFile, readdir, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Clock } from "../../../src/base/clock.js";
import type { Child, ChildSpec } from "../../../src/process/contract.js";
import { openProcessHost, type SystemProcessHost } from "../../../src/process/host.js";
import { openProcessTable, type ProcessTable } from "../../../src/process/process-table.js";
import { isRunning } from "../../support/process-probe.js";
import { realClock, until } from "../../support/real-clock.js";

const PATH = "/usr/bin:/bin";
let host: SystemProcessHost;
let folder: string;

beforeEach(async () => {
  host = openProcessHost({ clock: realClock });
  folder = await realpath(await mkdtemp(path.join(tmpdir(), "splashdown-process-")));
});
afterEach(async () => {
  await host.close();
  await rm(folder, { recursive: true });
});

function specOf(program: string, parameters: readonly string[], more: Partial<ChildSpec> = {}): ChildSpec {
  return {
    program,
    arguments: parameters,
    folder,
    environment: { PATH },
    stdoutBytesMax: 1e6,
    stderrTailBytes: 1000,
    ...more,
  };
}

async function start(program: string, parameters: readonly string[], more: Partial<ChildSpec> = {}): Promise<Child> {
  const child = await host.spawn(specOf(program, parameters, more));
  child.release();
  return child;
}

const shell = (script: string, more: Partial<ChildSpec> = {}) => start("sh", ["-c", script], more);

describe("a released child", () => {
  it("gives its output, its status and the tail of its stderr", async () => {
    const result = await (await shell("echo out; echo err >&2; exit 7")).result;
    expect(result).toMatchObject({
      exitCode: 7,
      signal: undefined,
      stderrTail: "err\n",
      stdoutOverflow: false,
      leftoversEnded: false,
    });
    expect(result.stdout.toString()).toBe("out\n");
    expect(result.durationMs).toBeGreaterThan(0);
  });

  it("gets its arguments verbatim", async () => {
    const odd = [
      "",
      "two words",
      "$HOME `id` $(id)",
      "'single' \"double\"",
      "line\nbreak",
      "ünï→😀",
      "-n",
      "--",
      "*",
      "\\0",
    ];
    const result = await (
      await start(process.execPath, ["-e", "console.log(JSON.stringify(process.argv.slice(1)))", "--", ...odd])
    ).result;
    expect(JSON.parse(result.stdout.toString())).toEqual(odd);
  });

  it("gets its environment exactly as given", async () => {
    const environment = { PATH, EMPTY: "", ODD: "a=b\n'c' $PATH", UNI: "→😀", gate: "mine" };
    const child = await start(process.execPath, ["-e", "console.log(JSON.stringify(process.env))"], { environment });
    // Beside it stands the mark of its group alone.
    const mark = { SPLASHDOWN_GROUP: child.identity.mark };
    expect(JSON.parse((await child.result).stdout.toString())).toEqual({ ...environment, ...mark });
  });

  it("does not get a variable whose name no shell can hold", async () => {
    const environment = { PATH, "a.b": "1", "BASH_FUNC_x%%": "() { :; }" };
    const lines = (await (await start("env", [], { environment })).result).stdout.toString().split("\n");
    expect(lines.filter((line) => !line.startsWith("SPLASHDOWN_GROUP="))).toEqual([`PATH=${PATH}`, ""]);
  });

  it("gets its whole input, and an end of it", async () => {
    const input = "ä".repeat(300_000);
    const result = await (await start("cat", [], { input })).result;
    expect(result.stdout.toString()).toBe(input);
    expect((await (await start("cat", [])).result).stdout).toHaveLength(0);
  });

  it("may open its stdin again, as many programs do, and leaves nothing behind of it", async () => {
    const result = await (await start("cat", ["/dev/stdin", "/dev/stdin"], { input: "once " })).result;
    expect(result.stdout.toString()).toBe("once once ");
    const left = (await readdir("/dev/shm")).filter((name) => name.startsWith(`splashdown-${process.pid}-`));
    expect(left).toEqual([]);
  });

  it("gets an input through a pipe that is too large for memory", async () => {
    const input = Buffer.alloc(9 * 1024 * 1024, "x");
    const result = await (await start("sha256sum", [], { input })).result;
    expect(result.stdout.toString()).toBe(`${createHash("sha256").update(input).digest("hex")}  -\n`);
    const unread = await (await start("true", [], { input })).result;
    expect(unread.exitCode).toBe(0);
  });

  it("does not take bash for a remote login", async () => {
    await writeFile(path.join(folder, ".bashrc"), "echo from the profile\n");
    const environment = { PATH, HOME: folder };
    const result = await (await start("bash", ["-c", "cat"], { input: "{}", environment })).result;
    expect(result.stdout.toString()).toBe("{}");
  });

  it("may end without reading its input", async () => {
    const result = await (await start("true", [], { input: Buffer.alloc(4_000_000) })).result;
    expect(result.exitCode).toBe(0);
  });

  it("sees no descriptor but the standard ones and its control channel", async () => {
    const list = "for fd in /proc/self/fd/*; do echo ${fd##*/}; done";
    const open = async (more: Partial<ChildSpec>) =>
      (await (await start("bash", ["-c", list], more)).result).stdout.toString();
    const plain = (await open({})).split("\n");
    const withControl = (await open({ onControlLine: () => undefined })).split("\n");
    expect(withControl).toHaveLength(plain.length + 1);
    for (const seen of [plain, withControl]) {
      expect(seen).toEqual(expect.arrayContaining(["0", "1", "2", "3"]));
      expect(seen).not.toContain("5");
    }
    expect(plain).not.toContain("4");
  });

  it("runs in the folder it is given", async () => {
    expect((await (await start("pwd", [])).result).stdout.toString()).toBe(`${folder}\n`);
  });

  it("is ended by a signal and says which", async () => {
    const result = await (await shell("kill -s KILL $$")).result;
    expect(result).toMatchObject({ exitCode: undefined, signal: "SIGKILL" });
  });

  it("hands over a thousand lines of descriptor 3 in order, beside its stdout", async () => {
    const lines: string[] = [];
    const script = 'i=0; while [ $i -lt 1000 ]; do echo "{\\"n\\":$i}" >&3; i=$((i+1)); done; echo done';
    const result = await (await shell(script, { onControlLine: (line) => lines.push(line) })).result;
    expect(lines).toEqual(Array.from({ length: 1000 }, (_, index) => `{"n":${index}}`));
    expect(result.stdout.toString()).toBe("done\n");
  });

  it("streams its stderr while it runs", async () => {
    let seen = "";
    const child = await shell("printf 'half é' >&2; exec sleep 60", { onStderr: (chunk) => (seen += chunk) });
    await until("stderr is seen", () => seen.length === 6);
    expect(seen).toBe("half é");
    await child.end(1000);
  });
});

describe("the gate", () => {
  it("P1: holds the program until release", async () => {
    const mark = path.join(folder, "mark");
    const child = await host.spawn(specOf("sh", ["-c", `echo ran > ${mark}`]));
    expect(isRunning(child.identity.pid)).toBe(true);
    await (
      await shell("true")
    ).result;
    await expect(readFile(mark)).rejects.toMatchObject({ code: "ENOENT" });
    child.release();
    await child.result;
    expect(await readFile(mark, "utf8")).toBe("ran\n");
  });

  it("P1: a child that is ended before release never runs its program", async () => {
    const mark = path.join(folder, "mark");
    const child = await host.spawn(specOf("sh", ["-c", `echo ran > ${mark}`]));
    await child.end(1000);
    child.release();
    expect(await child.result).toMatchObject({ exitCode: undefined, signal: "SIGTERM" });
    await expect(readFile(mark)).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("keeps process number, group and start over the change from launcher to program", async () => {
    const child = await host.spawn(specOf("sh", ["-c", "exec sleep 60"]));
    child.release();
    await until("the program runs", async () =>
      (await readFile(`/proc/${child.identity.pid}/cmdline`, "utf8")).startsWith("sleep"),
    );
    expect(await host.groupState(child.identity)).toBe("running");
    await child.end(1000);
    expect(await host.groupState(child.identity)).toBe("gone");
  });
});

describe("a program that cannot run", () => {
  it.each([
    ["no such name", "splashdown-no-such-program", 'no folder of PATH has a program "splashdown-no-such-program"'],
    ["no such file", "./missing", "does not exist"],
    ["an empty name", "", 'no folder of PATH has a program ""'],
    ["a folder", "/tmp", "is not a file"],
  ])("is PROGRAM_NOT_FOUND: %s", async (_title, program, text) => {
    await expect(host.spawn(specOf(program, []))).rejects.toMatchObject({
      code: "PROGRAM_NOT_FOUND",
      message: expect.stringContaining(text) as string,
      details: { program },
    });
  });

  it("is PROGRAM_NOT_FOUND when the file is not executable", async () => {
    await writeFile(path.join(folder, "plain"), "#!/bin/sh\n", { mode: 0o600 });
    for (const program of ["./plain", "plain"]) {
      await expect(host.spawn(specOf(program, [], { environment: { PATH: folder } }))).rejects.toMatchObject({
        code: "PROGRAM_NOT_FOUND",
        message: `${folder}/plain is not executable`,
      });
    }
  });

  it("is PROGRAM_NOT_FOUND when its folder is missing", async () => {
    await expect(host.spawn(specOf("true", [], { folder: `${folder}/gone` }))).rejects.toMatchObject({
      code: "PROGRAM_NOT_FOUND",
      message: `the folder ${folder}/gone for true does not exist`,
    });
  });

  it("is PROGRAM_NOT_FOUND from the result when its interpreter is missing", async () => {
    const file = path.join(folder, "script");
    await writeFile(file, "#!/no/such/interpreter\n");
    await chmod(file, 0o700);
    const child = await start(file, []);
    await expect(child.result).rejects.toMatchObject({ code: "PROGRAM_NOT_FOUND" });
  });

  it("is told apart from a program that ends with 127", async () => {
    expect(await (await shell("echo 'sh: not found' >&2; exit 127")).result).toMatchObject({ exitCode: 127 });
  });

  it("is refused when an argument holds a NUL", async () => {
    await expect(host.spawn(specOf("true", ["a\0b"]))).rejects.toMatchObject({ code: "VALUE_UNSUPPORTED" });
  });

  it("is VALUE_TOO_LARGE when the system does not take its arguments", async () => {
    await expect(host.spawn(specOf("true", ["x".repeat(4_000_000)]))).rejects.toMatchObject({
      code: "VALUE_TOO_LARGE",
    });
  });
});

describe("a system that is short of descriptors", () => {
  it("gets its children one after the other, and none is lost", async () => {
    const program = path.resolve(import.meta.dirname, "../../support/programs/many-children.ts");
    const script = `ulimit -n 80; exec ${process.execPath} --import tsx ${program} 60`;
    const child = await shell(script, { folder: process.cwd(), environment: { PATH, TMPDIR: folder } });
    const result = await child.result;
    expect(result.stderrTail).toBe("");
    expect(result.stdout.toString()).toBe("60\n");
  });
});

describe("a child that writes too much", () => {
  it("is ended at the cap, with bounded memory", async () => {
    const before = process.memoryUsage().rss;
    const child = await start("head", ["-c", "70000000", "/dev/zero"], { stdoutBytesMax: 1_000_000 });
    const result = await child.result;
    expect(result.stdoutOverflow).toBe(true);
    expect(result.stdout).toHaveLength(1_000_000);
    expect(process.memoryUsage().rss - before).toBeLessThan(60_000_000);
  });

  it("keeps only the tail of an endless stderr", async () => {
    const result = await (await shell("head -c 5000000 /dev/zero >&2; printf last >&2", { stderrTailBytes: 8 })).result;
    expect(result.stderrTail).toBe("\0\0\0\0last");
  });
});

describe("ending", () => {
  const tree = 'sh -c "trap : TERM; echo \\$\\$; sleep 60" & sleep 60 & echo $!; wait';

  it("P3: ends grandchildren too, and waits for them", async () => {
    let numbers: number[] = [];
    const child = await shell(`{ ${tree}; } >&3`, { onControlLine: (line) => numbers.push(Number(line)) });
    await until("two grandchildren", () => numbers.length === 2);
    await child.end(2000);
    expect(numbers.filter(isRunning)).toEqual([]);
    expect(isRunning(child.identity.pid)).toBe(false);
  });

  it("P3: kills what ignores TERM, after the grace time and not before", async () => {
    let ready = false;
    const child = await shell("trap '' TERM; echo >&3 ready; while :; do sleep 0.05; done", {
      onControlLine: () => (ready = true),
    });
    await until("it is deaf", () => ready);
    const startedMs = performance.now();
    await child.end(300);
    // A timer may fire within the millisecond before its time.
    expect(performance.now() - startedMs).toBeGreaterThan(298);
    expect(await child.result).toMatchObject({ signal: "SIGKILL" });
  });

  it("lets a child that heeds TERM say its last words", async () => {
    let ready = false;
    const script = "trap 'echo bye; exit 3' TERM; echo >&3 ready; while :; do sleep 0.01; done";
    const child = await shell(script, { onControlLine: () => (ready = true) });
    await until("it listens", () => ready);
    await child.end(5000);
    const result = await child.result;
    expect(result.exitCode).toBe(3);
    expect(result.stdout.toString()).toBe("bye\n");
  });

  it("P5: a program's end ends what it left behind in its group", async () => {
    const result = await (await shell("sleep 60 & echo $!")).result;
    expect(result).toMatchObject({ exitCode: 0, leftoversEnded: true });
    expect(isRunning(Number(result.stdout.toString()))).toBe(false);
  });

  it("does not wait for a process that left the session, the stated exception", async () => {
    const result = await (
      await shell("setsid sleep 60 & until [ $(ps -o sid= -p $!) = $! ]; do :; done; echo $!")
    ).result;
    const escaped = Number(result.stdout.toString());
    expect(result.exitCode).toBe(0);
    expect(isRunning(escaped)).toBe(true);
    process.kill(escaped, "SIGKILL");
  });

  it("reads to the end what lay there when this process was held up beyond its patience", async () => {
    const mark = (name: string) => path.join(folder, name);
    const holdUp = (durationMs: number) => {
      writeFileSync(mark("go"), "");
      const startMs = performance.now();
      const isOver = (limitMs: number) => performance.now() > startMs + limitMs;
      while (!isOver(durationMs) || !(existsSync(mark("written")) || isOver(60_000)));
    };
    const clock: Clock = {
      ...realClock,
      schedule: (durationMs, callback) => {
        const cancel = realClock.schedule(durationMs, callback);
        // What is scheduled before concerns the start.
        if (existsSync(mark("left"))) holdUp(durationMs + 50);
        return cancel;
      },
    };
    const own = openProcessHost({ clock });
    const late = "touch left; until [ -e go ]; do sleep 0.01; done; printf late; touch written";
    const child = await own.spawn(specOf("sh", ["-c", `setsid sh -c '${late}' & until [ -e left ]; do :; done`]));
    child.release();
    expect((await child.result).stdout.toString()).toBe("late");
    await own.close();
  });

  it("of a child that may not be ended fails its result instead of waiting for ever", async () => {
    const table = openProcessTable();
    let isLost = false;
    const blind: ProcessTable = {
      place: table.place,
      hasMark: () => false,
      read: (pid) => {
        if (isLost) throw new Error("the table is gone");
        return table.read(pid);
      },
      list: () => table.list(),
    };
    const own = openProcessHost({ clock: realClock, table: blind });
    const child = await own.spawn(specOf("sleep", ["60"]));
    child.release();
    isLost = true;
    await child.end(1000);
    await expect(child.result).rejects.toThrow("the table is gone");
    process.kill(-child.identity.pid, "SIGKILL");
    await own.close();
  });

  it("twice at once is one end", async () => {
    const child = await shell("exec sleep 60");
    await Promise.all([child.end(1000), child.end(0)]);
    await child.end(1000);
    expect(isRunning(child.identity.pid)).toBe(false);
  });

  it("of the host ends every child and the keeper", async () => {
    const children = await Promise.all([
      shell("exec sleep 60"),
      shell("exec sleep 60"),
      host.spawn(specOf("sleep", ["60"])),
    ]);
    const keeper = host.keeperPid ?? 0;
    expect(isRunning(keeper)).toBe(true);
    await host.close();
    expect(children.map((child) => isRunning(child.identity.pid))).toEqual([false, false, false]);
    expect(isRunning(keeper)).toBe(false);
  });
});

describe("a surviving group of an earlier owner", () => {
  it("is ended by its identity", async () => {
    const child = await shell("sleep 60 & exec sleep 60");
    const other = openProcessHost({ clock: realClock });
    expect(await other.groupState(child.identity)).toBe("running");
    await other.endGroup(child.identity, 1000);
    expect(await other.groupState(child.identity)).toBe("gone");
    expect(await child.result).toMatchObject({ signal: "SIGTERM" });
    await other.close();
  });

  it("counts as alive while only a grandchild is left", async () => {
    const child = await host.spawn(
      specOf("sh", ["-c", "(trap '' TERM; echo ready >&3; while :; do sleep 0.05; done) & sleep 60"], {
        onControlLine: () => (ready = true),
      }),
    );
    let ready = false;
    child.release();
    await until("the grandchild is deaf", () => ready);
    process.kill(child.identity.pid, "SIGKILL");
    await until("the leader is gone", () => !isRunning(child.identity.pid));
    expect(await host.groupState(child.identity)).toBe("running");
    await host.endGroup(child.identity, 0);
    expect(await host.groupState(child.identity)).toBe("gone");
  });

  it("P4: is left alone when its number belongs to a later process or another boot", async () => {
    const child = await shell("exec sleep 60");
    const { pid, startTicks } = child.identity;
    await host.endGroup({ ...child.identity, startTicks: startTicks - 1 }, 0);
    await host.endGroup({ ...child.identity, bootId: "another" }, 0);
    expect(isRunning(pid)).toBe(true);
  });
});
