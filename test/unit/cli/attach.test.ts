/** `attach`: watches a task that runs, and owns nothing of it. */
import { rmSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { openKeyboard, type Keyboard } from "../../support/typed-command.js";
import { until } from "../../support/real-clock.js";

async function startHeld(): Promise<Keyboard & { readonly release: () => void; readonly run: Promise<unknown> }> {
  const keyboard = await openKeyboard();
  const held = keyboard.write("hold", "");
  const command = `[sh, -c, "while [ -e ${held} ]; do sleep 0.02; done; echo '{}'; echo seen >&2"]`;
  const workflow = keyboard.write(
    "w.yaml",
    `workflow: {name: held}\nsteps:\n  - {name: slow, command: ${command}, effects: none}\n`,
  );
  const run = keyboard.splashdown.run({ workflow, task: "t" });
  await until("the task runs", async () =>
    (await keyboard.splashdown.list().catch(() => [])).some(({ status }) => status === "running"),
  );
  return { ...keyboard, run, release: () => rmSync(held) };
}

describe("attach", () => {
  it("shows what happens in a running task, and how it ends", async () => {
    const { type, release, run } = await startHeld();
    const attached = type(["attach", "t", "--all"]);
    release();
    await run;
    const { out, error, status } = await attached;
    expect(error).toContain("· task t started: workflow held\n");
    expect(error).toMatch(/✓ slow done in .*\n {9}\| seen\n/);
    expect(out).toMatch(/^done {2}t: all steps are done\n {2}1 steps? done, .*, no model calls\n$/);
    expect(status).toBe(0);
  });

  it("leaves the task running when the person leaves", async () => {
    const { type, release, run, splashdown } = await startHeld();
    const leaving = new AbortController();
    const attached = type(["attach", "t"], leaving.signal);
    leaving.abort({ signal: "SIGINT", exitStatus: 130 });
    const { error, out, status } = await attached;
    expect({ out, status }).toEqual({ out: "", status: 0 });
    expect(error).toContain("left t; it keeps running\n");
    expect((await splashdown.show("t")).status).toBe("running");
    release();
    await run;
  });

  it("says how a task stands that nobody runs", async () => {
    const { type, release, run } = await startHeld();
    release();
    await run;
    expect((await type(["attach", "t"])).out).toContain("done  t: all steps are done\n");
  });
});
