/** A step whose program fails: its real error stands on the screen of `run`, `resume` and `show`, and in their answers. */
import { describe, expect, it } from "vitest";
import { openKeyboard } from "../../support/typed-command.js";
import { expectView } from "../../support/view-schemas.js";

const FAILING = `workflow: {name: failing}
steps:
  - {name: price, command: ["${process.execPath}", -e, "const cfg = undefined; console.log(cfg.price)"], effects: none}
`;
const ERROR = "TypeError: Cannot read properties of undefined (reading 'price')";

describe("a program that dies of an uncaught error", () => {
  it("[first-use F2 kin] is told by run, with the last lines of stderr below the step", async () => {
    const { type, write } = await openKeyboard();
    const { out, error, status } = await type(["run", write("f.yaml", FAILING), "--task", "t"]);
    expect(status).toBe(4);
    expect(out).toContain(
      `failed  t: price failed: ${process.execPath} exited with 1: ${ERROR}\n  0 steps done, 1 failed in `,
    );
    expect(out).toContain(`\n    | ${ERROR}\n`);
    expect(`${out}${error}`).not.toContain(`: Node.js ${process.version}`);
    expect(error).toContain(`exited with 1: ${ERROR}`);
  });

  it("[first-use F2 kin] is told by show and by resume", async () => {
    const { type, write } = await openKeyboard();
    await type(["run", write("f.yaml", FAILING), "--task", "t"]);
    const shown = await type(["show", "t"]);
    expect(shown.out).toContain(`\n      | ${ERROR}\n`);
    const resumed = await type(["resume", "t"]);
    expect(resumed.out).toContain(`\n    | ${ERROR}\n`);
  });

  it("[first-use F2 kin] stands in the answers for machines", async () => {
    const { type, write, splashdown } = await openKeyboard();
    const { out } = await type(["run", write("f.yaml", FAILING), "--task", "t", "--json"]);
    const view = JSON.parse(out) as { failures: unknown };
    expectView("run", view);
    expect(view.failures).toEqual([
      {
        step: "main/price@1.1",
        code: "STEP_FAILED",
        message: `${process.execPath} exited with 1: ${ERROR}`,
        stderr: expect.stringContaining(ERROR) as string,
      },
    ]);
    const task = await splashdown.show("t");
    expectView("show", task);
    expect(task.steps[0]?.error?.["stderr"]).toContain(ERROR);
  });
});
