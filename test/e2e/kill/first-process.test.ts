/** The first process of a container without an init, with a root that is read-only and one volume: as the guide runs it. */
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { PROGRAM, PROJECT_FOLDER } from "../../support/built-program.js";
import { openPlace, type CommandPlace } from "../../support/command-place.js";
import { until } from "../../support/real-clock.js";

/** The whole root again, read-only with all that is mounted in it, but for the volume. */
const ENTER = `
set -e
root=$1 volume=$2; shift 2
mount --make-rprivate /
mount --rbind / "$root"
mount --bind "$volume" "$root/srv"
mount -o remount,ro,bind "$root"
for at in $(awk -v root="$root" 'index($5, root "/") == 1 { print $5 }' /proc/self/mountinfo); do
  case $at in "$root/srv" | "$root"/proc* | "$root"/sys* | "$root"/dev*) ;; *) mount -o remount,ro,bind "$at" || true ;; esac
done
mount -t proc proc "$root/proc"
exec chroot "$root" env -i PATH="$PATH" HOME=/srv SPLASHDOWN_KEY_FILE=/srv/keys/k SPLASHDOWN_STATE_DIR=/srv/state \\
  sh -c 'cd /srv && exec "$@"' sh "$@"
`;
const NAMESPACES = ["--mount", "--pid", "--fork", "--kill-child", "bash", "enter.sh"];
const canEnter = spawnSync("unshare", ["--mount", "--pid", "--fork", "mount", "--make-rprivate", "/"]).status === 0;

const WORKFLOW = `workflow: { name: w }
steps:
  - { name: a, command: [sh, -c, "(sleep 300 &) > /dev/null; echo 1"], effects: none }
  - { name: b, command: [sh, -c, "echo b >> ledger; until [ -e go ]; do sleep 0.05; done; echo 2"], effects: none, depends_on: [a] }
`;

function openContainer() {
  const place = openPlace();
  for (const folder of ["root", "volume", "volume/keys"]) mkdirSync(join(place.folder, folder));
  place.write("enter.sh", ENTER);
  place.write("volume/workflow.yaml", WORKFLOW);
  const words = (args: readonly string[]) => [
    ...NAMESPACES,
    join(place.folder, "root"),
    join(place.folder, "volume"),
    ...args,
  ];
  const splashdown = (...args: readonly string[]) => words([process.execPath, PROGRAM, ...args]);
  return { place, words, splashdown };
}

/** The process that is the first one in its container. */
function findFirst(): number {
  const isFirst = (pid: string): boolean => {
    try {
      const numbers = /^NSpid:\s*(.*)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]?.split("\t") ?? [];
      return (
        numbers.length > 1 &&
        numbers.at(-1) === "1" &&
        readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("first-process-task")
      );
    } catch {
      return false;
    }
  };
  return Number(readdirSync("/proc").find((name) => /^\d+$/.test(name) && isFirst(name)) ?? 0);
}

async function startAndWait(place: CommandPlace, words: readonly string[]) {
  const running = place.start(words, { program: "unshare" });
  await until("b is under way", () => readdirSync(join(place.folder, "volume")).includes("ledger"));
  return running;
}

describe.skipIf(!canEnter)("the first process of a container", () => {
  it("has a root that is read-only, saves when it is stopped, and goes on in the next container", async () => {
    const { place, words, splashdown } = openContainer();
    const enter = (all: readonly string[]) => place.run(all, { program: "unshare" });
    expect(await enter(words(["sh", "-c", "echo $$; touch /usr/x || touch /tmp/x"]))).toMatchObject({
      code: 1,
      stdout: "1\n",
    });
    expect((await enter(splashdown("keys", "init", "--key-file", "/srv/keys/k"))).code).toBe(0);
    const run = splashdown("run", "workflow.yaml", "--task", "first-process-task");
    const stopped = await startAndWait(place, run);
    process.kill(findFirst(), "SIGTERM");
    await stopped.done;
    expect((await enter(splashdown("show", "first-process-task", "--json"))).json()).toMatchObject({
      status: "stopped",
    });
    place.write("volume/go", "");
    const next = await enter([...run, "--json"]);
    expect(next.json()).toMatchObject({ status: "done", output: { a: 1, b: 2 } });
    expect(place.read("volume/ledger")).toBe("b\nb\n");
  });

  it("is killed, and the same command goes on in the next container", async () => {
    const { place, splashdown } = openContainer();
    const enter = (all: readonly string[]) => place.run(all, { program: "unshare" });
    await enter(splashdown("keys", "init", "--key-file", "/srv/keys/k"));
    const run = splashdown("run", "workflow.yaml", "--task", "first-process-task");
    const killed = await startAndWait(place, run);
    process.kill(findFirst(), "SIGKILL");
    await killed.done;
    place.write("volume/go", "");
    expect((await enter([...run, "--json"])).json()).toMatchObject({ status: "done", how: "taken_up" });
  });

  it("is started as the container file of the guide says", () => {
    const file = readFileSync(join(PROJECT_FOLDER, "examples/container/Containerfile"), "utf8");
    const guide = readFileSync(join(PROJECT_FOLDER, "docs/guide/6-running-for-days.md"), "utf8");
    expect(guide).toContain(`\`\`\`dockerfile\n${file}\`\`\``);
    expect(file).toContain('ENTRYPOINT ["splashdown"]');
  });
});
