/** `attach` on a terminal: a task that another process runs is watched, and its question answered there. */
import { describe, expect, it } from "vitest";
import { openPlace } from "../../support/command-place.js";
import { hold, release } from "../../support/held-steps.js";
import { NO_TERMINAL, TerminalRun } from "../../support/terminal.js";
import { until } from "../../support/real-clock.js";

const WORKFLOW = `workflow: {name: asked}
steps:
  - {name: ok, type: human_gate, prompt: "Send?", options: [{value: send, label: Send}]}
  - {name: slow, command: [sh, -c, "while [ -e hold-slow ]; do sleep 0.02; done; echo '{}'"], effects: none}
`;

describe.skipIf(NO_TERMINAL !== undefined)("attach on a terminal", () => {
  it("asks the question of a task that runs elsewhere, and the answer counts there", async () => {
    const place = openPlace();
    hold(place, "slow");
    const running = place.start(["run", place.write("w.yaml", WORKFLOW), "--task", "t"]);
    await until("the question is open", async () => (await place.run(["show", "t"])).stdout.includes("? Send?"));
    const attached = new TerminalRun(place, ["attach", "t"]);
    await attached.shows("Send?");
    attached.press("\r");
    await until("the answer is there", async () => !(await place.run(["show", "t"])).stdout.includes("? Send?"));
    release(place, "slow");
    expect((await running.done).code).toBe(0);
    expect((await attached.done).code).toBe(0);
  });
});
