/** Real system calls that fail under the real program, by strace: a typed end or none at all, and a resume that goes on. */
import { spawnSync } from "node:child_process";
import { describe, expect, it, type TestContext } from "vitest";
import type { RunView } from "../../../src/runtime/contract.js";
import { PROGRAM } from "../../support/built-program.js";
import { openPlace } from "../../support/command-place.js";

const STEPS = ["a", "b", "c"];

const WORKFLOW = {
  workflow: { name: "injected", entry_point: "a" },
  agents: STEPS.map((name, at) => ({
    name,
    command: ["sh", "-c", `echo ${name} >> ledger; echo '{"output":{"did":"${name}"}}'`],
    working_dir: ".",
    effects: "none",
    routes: [{ to: STEPS[at + 1] ?? "$end" }],
  })),
  output: { last: "{{ c.output.did }}" },
};

function requireStrace(context: TestContext): void {
  const probe = spawnSync("strace", ["-f", "-qq", "-o", "/dev/null", "-e", "trace=none", "true"]);
  if (probe.error !== undefined) context.skip("strace is not installed");
  if (probe.status !== 0) context.skip("strace may not trace here: ptrace is forbidden");
}

/** [system call, error, which of the calls of a thread fail] */
const FAULTS = [
  ["fdatasync", "EIO", "2"],
  ["fdatasync", "EIO", "4+"],
  ["fdatasync", "ENOSPC", "3"],
  ["fsync", "EIO", "2"],
  ["fsync", "EIO", "1+"],
  ["link,linkat", "EIO", "1"],
  ["rename,renameat2", "EACCES", "1+"],
  ["unlink", "EROFS", "1+"],
] as const;

describe("a system call that fails", () => {
  it.for(FAULTS)(
    "%s with %s at %s: nothing is recorded that was not done, and a resume ends the work",
    async ([call, error, when], context) => {
      requireStrace(context);
      const place = openPlace();
      place.write("workflow.json", JSON.stringify(WORKFLOW));
      const inject = `inject=${call}:error=${error}:when=${when}`;
      const traced = ["-f", "-qq", "-o", "trace", "-e", `trace=${call}`, "-e", inject, process.execPath, PROGRAM];
      const first = await place.run([...traced, "run", "workflow.json", "--task", "t", "--json"], {
        program: "strace",
      });
      if (first.code === 0) {
        expect(first.json<RunView>()).toMatchObject({ status: "done", output: { last: "c" } });
      } else {
        expect([4, 12]).toContain(first.code);
        expect(`${first.stdout}${first.stderr}`).toMatch(/(STORE|KEY|CHECKPOINT)_[A-Z]+/);
        expect(`${first.stdout}${first.stderr}`).not.toContain("INTERNAL");
      }
      const again = await place.run(["run", "workflow.json", "--task", "t", "--json"]);
      const view = again.code === 0 ? again : await place.run(["resume", "t", "--take-over", "--json"]);
      expect(view.json<RunView>()).toMatchObject({ status: "done", output: { last: "c" } });
      expect([...new Set(place.ledger())]).toEqual(STEPS);
      expect((await place.run(["audit", "verify", "t"])).code).toBe(0);
    },
  );
});

describe("a disk quota, as the kernel says it and Node has no name for", () => {
  it("[reliability 4 kin] ends the run as a full disk does, and the work goes on when there is room", async (context) => {
    requireStrace(context);
    const place = openPlace();
    place.write("workflow.json", JSON.stringify(WORKFLOW));
    const inject = "inject=fdatasync:error=EDQUOT:when=3+";
    const traced = ["-f", "-qq", "-o", "trace", "-e", "trace=fdatasync", "-e", inject, process.execPath, PROGRAM];
    const run = ["run", "workflow.json", "--task", "t", "--json"];
    const full = await place.run([...traced, ...run], { program: "strace" });
    expect([full.code, `${full.stdout}${full.stderr}`]).toEqual([4, expect.stringContaining("STORE_FULL")]);
    const still = await place.run([...traced, "resume", "t", "--take-over", "--json"], { program: "strace" });
    expect(`${still.stdout}${still.stderr}`).not.toContain("INTERNAL");
    const again = await place.run(["resume", "t", "--take-over", "--json"]);
    expect(again.json<RunView>()).toMatchObject({ status: "done", output: { last: "c" } });
    expect([...new Set(place.ledger())]).toEqual(STEPS);
  });
});
