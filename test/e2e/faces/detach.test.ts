/** `run --detach`: the task outlives the terminal that started it, and only a real start is called one. */
import { readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { join } from "node:path";
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

/** Files below the place that hold a text. */
function listHolding(place: CommandPlace, text: string): string[] {
  const files = readdirSync(place.folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  expect(files.length).toBeGreaterThan(3);
  return files
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((file) => readFileSync(file, "latin1").includes(text));
}

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
      output: { hold: { held: true } },
    });
    expect(place.ledger()).toEqual(["acted"]);
  });

  it("[security M5] prints commands that work, with the store that was asked for, and leaves no log of what it does", async () => {
    const place = openPlace();
    writeWorkflow(place);
    const started = await place.run(["--store", "file:kept here", "run", "--detach", "--task", "held", "w.yaml"]);
    expect(started.code).toBe(0);
    const [stop] = /splashdown .* stop held/.exec(started.stdout) ?? [];
    expect(stop).toBe("splashdown --store 'file:kept here' stop held");
    const stopped = await place.run(["--store", "file:kept here", "stop", "held"]);
    expect(stopped.code).toBe(0);
    const show = ["--store", "file:kept here", "--json", "show", "held"];
    await until("it stopped", async () => (await place.run(show)).json<{ status: string }>().status === "stopped");
    place.write("go", "");
    const resumed = await place.run(["--store", "file:kept here", "--json", "resume", "held", "--detach"]);
    expectView("detached", resumed.json());
    await until("it went on without anybody", () => !isAlive(resumed.json<Detached>().pid));
    expect(place.ledger()).toEqual(["acted", "acted"]);
    const kept = readdirSync(join(place.folder, "home"), { recursive: true, encoding: "utf8" });
    expect(kept.filter((file) => /(?:^|\/)(?:logs|start-)/.test(file))).toEqual([]);
  });

  it("[security M5 kin] keeps no text of a task outside of what is sealed, nor in the folder of deliverables", async () => {
    const place = openPlace();
    const canaries = ["canary-input-7Q", "canary-gate-7Q", "canary-progress-7Q", "canary-error-7Q"];
    const [input, gate, progress, error] = canaries;
    place.write(
      "w.yaml",
      `workflow: {name: said, input: {a: {type: string}}}
steps:
  - {name: note, command: [sh, -c, "echo '{\\"message\\": \\"${progress}\\"}' >&3; echo ${error} >&2; exit 0"], input: {a: "{{ workflow.input.a }}"}, effects: none}
  - {name: ask, type: human_gate, prompt: "${gate}?", depends_on: [note], options: [{value: yes, label: Yes}]}
`,
    );
    const started = await place.run(["--json", "run", "w.yaml", "--detach", "--task", "said", "--input", `a=${input}`]);
    const { pid } = started.json<Detached>();
    await until("the process left", () => !isAlive(pid));
    rmSync(join(place.folder, "w.yaml"));
    for (const canary of canaries) expect(listHolding(place, canary)).toEqual([]);
  });

  it("[security M5 kin] leaves nothing behind of a start that failed, and of a task that was removed", async () => {
    const place = openPlace();
    const canary = "canary-of-the-input-9Z";
    place.write(
      "w.yaml",
      "workflow: {name: w, input: {a: {type: number}}}\nsteps:\n  - {name: a, type: set, value: 7}\n",
    );
    const failed = await place.run(["run", "w.yaml", "--detach", "--input", `a=${canary}`]);
    expect(failed).toMatchObject({ code: 2 });
    place.write(
      "w.yaml",
      "workflow: {name: w, input: {a: {type: string}}}\nsteps:\n  - {name: a, type: set, value: 7}\n",
    );
    const started = await place.run([
      "--json",
      "run",
      "w.yaml",
      "--detach",
      "--task",
      "gone",
      "--input",
      `a=${canary}`,
    ]);
    const { pid } = started.json<{ pid?: number }>();
    await until("the process left", () => pid === undefined || !isAlive(pid));
    expect((await place.run(["store", "remove", "gone", "--yes"])).code).toBe(0);
    expect((await place.run(["store", "purge", "gone", "--yes"])).code).toBe(0);
    expect(listHolding(place, canary)).toEqual([]);
  });

  it("[security M5 kin] keeps what a background process says in no file that has a name", async () => {
    const place = openPlace();
    writeWorkflow(place);
    const { pid } = (await place.run(["--json", "run", "w.yaml", "--detach", "--task", "held"])).json<Detached>();
    onTestFinished(() => void (isAlive(pid) && process.kill(pid, "SIGKILL")));
    await until("the step acted", () => place.ledger().length === 1);
    const target = readlinkSync(`/proc/${pid}/fd/2`);
    expect(target).toMatch(/ \(deleted\)$/);
    place.write("go", "");
    await until("the process left", () => !isAlive(pid));
  });

  it("leaves alone what stands behind --, the word --detach too", async () => {
    const place = openPlace();
    place.write("--detach", "workflow: {name: odd}\nsteps:\n  - {name: a, type: set, value: 7}\n");
    const odd = await place.run(["--json", "run", "--task", "odd", "--", "--detach"]);
    expect(odd).toMatchObject({ code: 2 });
    expect(odd.stderr).toContain("--detach is no workflow file");
  });

  it("[reliability C02] changes --detach before -- for the child, and hands on what follows it", async () => {
    const place = openPlace();
    place.write("--detach", "nothing");
    const odd = await place.run(["--json", "run", "--detach", "--", "--detach"]);
    expect(odd).toMatchObject({ code: 2, stdout: "" });
    expect(odd.stderr).toContain("--detach is no workflow file");
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
    expect(again.json()).toMatchObject({ task: "short", how: "finished_before", output: { a: 7 } });
  });
});
