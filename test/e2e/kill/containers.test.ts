/** Containers of one kernel that share a folder: nobody is taken for gone, and nothing for ended, that nothing there shows. */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { RunningCommand } from "../../support/built-program.js";
import { PROGRAM } from "../../support/built-program.js";
import { openPlace, type CommandPlace } from "../../support/command-place.js";
import { until } from "../../support/real-clock.js";

const NAMESPACES = ["-m", "-p", "-f", "--mount-proc", "--kill-child"];
const canSeparate = spawnSync("unshare", [...NAMESPACES, "true"]).status === 0;
const NODE = process.execPath;

/** `pay` acts until it may end; whoever asks the probe is noted. */
const PAY = (folder: string) => `workflow: {name: w, entry_point: pay}
agents:
  - name: pay
    type: script
    command: sh
    args: [-c, 'echo begin >> ${folder}/ledger; until [ -e ${folder}/go ]; do sleep 0.05; done; echo end >> ${folder}/ledger']
    effects: external
    probe: [sh, -c, 'echo probed >> ${folder}/ledger; echo no; exit 1']
    routes: [{to: $end}]
`;

/** Runs in a container of its own, whose first process stays; the command's number there is not ours. */
function startContainer(place: CommandPlace, args: readonly string[]): RunningCommand {
  const command = [NODE, PROGRAM, ...args].map((word) => `'${word}'`).join(" ");
  const running = place.start([...NAMESPACES, "sh", "-c", `${command} & wait; sleep 600`], { program: "unshare" });
  onTestFinished(() => void running.child.kill("SIGKILL"));
  return running;
}

function inContainer(place: CommandPlace, script: string) {
  return place.run([...NAMESPACES, "sh", "-c", script], { program: "unshare" });
}

const recover = `'${NODE}' '${PROGRAM}' recover --json`;

const linesOf = (place: CommandPlace): string[] =>
  existsSync(join(place.folder, "ledger")) ? readFileSync(join(place.folder, "ledger"), "utf8").trim().split("\n") : [];

/** Owner and keeper: what runs the program in the container, and what stands by it. */
function killOwnerAndKeeper(place: CommandPlace): void {
  const numbers = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  const isOurs = (pid: string): boolean => {
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, "latin1");
      const isOwner = command.includes(PROGRAM) && command.startsWith(NODE);
      const isKeeper = command.includes("splashdown-keeper");
      return (isOwner || isKeeper) && readlinkSync(`/proc/${pid}/ns/pid`) !== readlinkSync("/proc/self/ns/pid");
    } catch {
      return false;
    }
  };
  const own = numbers.filter(isOurs).filter((pid) => {
    const owner = readFileSync(`/proc/${pid}/cmdline`, "latin1");
    return owner.includes("splashdown-keeper") || readlinkSync(`/proc/${pid}/cwd`) === place.folder;
  });
  for (const pid of own) process.kill(Number(pid), "SIGKILL");
}

describe.skipIf(!canSeparate)(
  `containers that share a folder${canSeparate ? "" : " (3 left out: no namespaces here)"}`,
  () => {
    it("[reliability 1a kin] an owner that answers is alive, whatever boot another container of its name shows", async () => {
      const place = openPlace();
      place.write("w.yaml", PAY(place.folder));
      place.write("boot", "11111111-2222-3333-4444-555555555555\n");
      const owner = place.start(["run", "w.yaml", "--task", "t", "--json"]);
      await until("it has begun", () => linesOf(place).length === 1);
      const mount = `mount --bind ${place.folder}/boot /proc/sys/kernel/random/boot_id`;
      const seen = await inContainer(place, `${mount} && ${recover}`);
      expect(seen.stdout).toContain("is alive");
      place.write("go", "");
      expect((await owner.done).code).toBe(0);
      expect(linesOf(place)).toEqual(["begin", "end"]);
    });

    it("[reliability 1c] a step whose process lives on in another container is asked about, and neither probed nor run again", async () => {
      const place = openPlace();
      place.write("w.yaml", PAY(place.folder));
      startContainer(place, ["run", "w.yaml", "--task", "t"]);
      await until("it has begun", () => linesOf(place).length === 1);
      killOwnerAndKeeper(place);
      const taken = await inContainer(place, recover);
      expect(taken.stderr + taken.stdout).toMatch(/process \d+ of host \S+.* may still run/);
      const shown = await place.run(["show", "t", "--json"]);
      const { status, questions } = shown.json<{ status: string; questions: { text: string }[] }>();
      expect([status, questions.length]).toEqual(["waiting", 1]);
      expect(questions[0]?.text).toMatch(/process \d+ of host \S+ may still run/);
      place.write("go", "");
      await until("the first attempt has acted", () => linesOf(place).includes("end"));
      expect(linesOf(place)).toEqual(["begin", "end"]);
    });

    it("[reliability 1c kin] the same where the recovery is one by hand, and a flag says to run it again", async () => {
      const place = openPlace();
      place.write("w.yaml", PAY(place.folder));
      startContainer(place, ["run", "w.yaml", "--task", "t"]);
      await until("it has begun", () => linesOf(place).length === 1);
      killOwnerAndKeeper(place);
      const taken = await inContainer(place, `'${NODE}' '${PROGRAM}' resume t --on-unknown rerun --json`);
      expect(taken.code).toBe(22);
      expect(linesOf(place)).toEqual(["begin"]);
      place.write("go", "");
      await until("the first attempt has acted", () => linesOf(place).includes("end"));
    });
  },
);

describe("what a task leaves behind when its owner has left", () => {
  const one = (type: string) =>
    `workflow: {name: w, entry_point: a}\nagents: [{name: a, ${type}, routes: [{to: $end}]}]\n`;
  const ENDS = {
    done: one("type: script, command: 'true'"),
    failed: one("type: script, command: ./is-not-there"),
    waiting: one("type: human_gate, prompt: Continue?, options: [{value: yes, route: $end}]").replace(
      ", routes: [{to: $end}]",
      "",
    ),
  };

  it.each([
    {
      title: "[reliability 10 kin] is no reserve, and one size in list and show: done",
      end: "done",
      store: "file:outputs",
      status: "done",
    },
    {
      title: "[reliability 10 kin] is no reserve, and one size in list and show: failed",
      end: "failed",
      store: "file:outputs",
      status: "failed",
    },
    {
      title: "[reliability 10 kin] is no reserve, and one size in list and show: waiting",
      end: "waiting",
      store: "file:outputs",
      status: "waiting",
    },
  ] as const)("$title", async ({ end, store, status }) => {
    const place = openPlace({ SPLASHDOWN_STORE: store });
    place.write("w.yaml", ENDS[end]);
    await place.run(["run", "w.yaml", "--task", "t"]);
    const [listed] = (await place.run(["list", "--json"])).json<{ status: string; size: number }[]>();
    const shown = (await place.run(["show", "t", "--json"])).json<{ size: number }>();
    expect([listed?.status, listed?.size]).toEqual([status, shown.size]);
    const files = readdirSync(join(place.folder, "outputs"), { recursive: true, encoding: "utf8" });
    expect(files.filter((file) => file.includes(".ballast"))).toEqual([]);
    expect(files.length).toBeGreaterThan(0);
  });
});
