/** `run --detach`: the task outlives the terminal that started it, and only a real start is called one. */
import { readFileSync, statSync } from "node:fs";
import { describe, expect, it, onTestFinished } from "vitest";
import { openPlace, type CommandPlace } from "../../support/command-place.js";
import { until } from "../../support/real-clock.js";
import { expectView } from "../../support/view-schemas.js";

interface Detached {
  readonly task: string;
  readonly pid: number;
  readonly log: string;
  readonly commands: { readonly events: string; readonly show: string; readonly stop: string };
}

/** A step that acts, then waits until the test lets it go. */
function writeWorkflow(place: CommandPlace): void {
  place.write(
    "hold.mjs",
    `import { appendFileSync, existsSync } from "node:fs";
     appendFileSync("ledger", "acted\\n");
     while (!existsSync("go")) await new Promise((done) => setTimeout(done, 20));
     process.stdout.write(JSON.stringify({ held: true }));`,
  );
  place.write("w.yaml", "workflow: {name: held}\nsteps:\n  - {name: hold, command: [node, hold.mjs], effects: none}\n");
}

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

describe("run --detach", () => {
  it("leaves when the task has started, and the task goes on and ends without it", async () => {
    const place = openPlace();
    writeWorkflow(place);
    const { code, json } = await place.run(["--json", "run", "w.yaml", "--detach", "--task", "held"]);
    const view = json<Detached>();
    onTestFinished(() => void (isAlive(view.pid) && process.kill(view.pid, "SIGKILL")));
    expect(code).toBe(0);
    expect(view.task).toBe("held");
    expectView("detached", view);
    await until("the step acted", () => place.ledger().length === 1);
    expect(isAlive(view.pid)).toBe(true);
    expect((await place.run(["--json", "show", "held"])).json()).toMatchObject({ status: "running" });

    place.write("go", "");
    await until("the process left", () => !isAlive(view.pid));
    expect((await place.run(["--json", "show", "held"])).json()).toMatchObject({
      status: "done",
      output: { outputs: { hold: { held: true } } },
    });
    expect(place.ledger()).toEqual(["acted"]);
  });

  it("prints commands that work, with the store that was asked for, and keeps what it says in a private file", async () => {
    const place = openPlace();
    writeWorkflow(place);
    const started = await place.run(["--store", "file:kept here", "run", "--detach", "--task", "held", "w.yaml"]);
    expect(started.code).toBe(0);
    const [stop] = /splashdown .* stop held/.exec(started.stdout) ?? [];
    expect(stop).toBe("splashdown --store 'file:kept here' stop held");
    const stopped = await place.run(["--store", "file:kept here", "stop", "held"]);
    expect(stopped.code).toBe(0);
    const [log] = /\/\S+\.log/.exec(started.stdout) ?? [""];
    await until("the end is in the log", () => readFileSync(log, "utf8").includes("stopped"));
    place.write("go", "");
    const resumed = await place.run(["--store", "file:kept here", "--json", "resume", "held", "--detach"]);
    expectView("detached", resumed.json());
    await until("it went on without anybody", () => !isAlive(resumed.json<Detached>().pid));
    expect(place.ledger()).toEqual(["acted", "acted"]);
    expect(statSync(log).mode & 0o777).toBe(0o600);
    expect(readFileSync(log, "utf8")).not.toContain('"held"');
  });

  it("is the child's own end when nothing started: its words, its answer, its status", async () => {
    const place = openPlace();
    place.write("bad.yaml", "workflow: {name: bad}\nsteps:\n  - {name: a, comand: [node]}\n");
    const bad = await place.run(["run", "bad.yaml", "--detach"]);
    expect(bad).toMatchObject({ code: 2, stdout: "" });
    expect(bad.stderr).toContain("WORKFLOW_INVALID");

    place.write("w.yaml", "workflow: {name: short}\nsteps:\n  - {name: a, type: set, value: 7}\n");
    await place.run(["run", "w.yaml", "--task", "short"]);
    const again = await place.run(["--json", "run", "w.yaml", "--task", "short", "--detach"]);
    expect(again.code).toBe(0);
    expect(again.json()).toMatchObject({ task: "short", how: "finished_before", output: { outputs: { a: 7 } } });
  });
});
