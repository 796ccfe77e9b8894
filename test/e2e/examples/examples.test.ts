/** The examples of this project, each in full and killed once; code-audit and first-steps have tests of their own. */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { EventView, ReplayView, RunView, TaskView } from "../../../src/runtime/contract.js";
import { PROJECT_FOLDER } from "../../support/built-program.js";
import { openPlace, type CommandPlace } from "../../support/command-place.js";
import { countRecords, runKilledAt } from "../../support/killed-run.js";
import { until } from "../../support/real-clock.js";

const fileOf = (name: string) => join(PROJECT_FOLDER, "examples", name);

async function view(place: CommandPlace, task = "t"): Promise<TaskView> {
  return (await place.run(["show", task, "--json"])).json<TaskView>();
}

/** Runs the example in full, then another task of it that is killed at that share of its records, and resumed. */
async function runTwice(
  name: string,
  share: number,
): Promise<{ place: CommandPlace; whole: RunView; resumed: RunView }> {
  const place = openPlace();
  const run = ["run", fileOf(name), "--json", "--new", "--task"];
  const whole = (await place.run([...run, "whole"])).json<RunView>();
  const point = Math.floor(countRecords(place, "whole") * share);
  const { signal } = await runKilledAt(place, `record:${point}`, ["run", fileOf(name), "t"]);
  expect(signal).toBe("SIGKILL");
  const resumed = (await place.run(["resume", "t", "--json"])).json<RunView>();
  return { place, whole, resumed };
}

/** The packages beside an example that is a package of its own. */
function packagesFor(name: string): readonly string[] {
  const isPackage = existsSync(join(fileOf(name), "package.json"));
  return isPackage ? readdirSync(join(PROJECT_FOLDER, "node_modules")).filter((entry) => !entry.startsWith(".")) : [];
}

describe("the examples of docs/examples.md", () => {
  const page = readFileSync(join(PROJECT_FOLDER, "docs/examples.md"), "utf8");
  const commands = [...page.matchAll(/\| `splashdown (run examples\/([^/]+)\/\S+)` \|$/gm)].map(
    ([, words = "", name = ""]) => ({
      name,
      words: words.split(" "),
    }),
  );
  /** One asks an agent that is installed on the machine, the other is no workflow but a container for any. */
  const OTHERS: readonly string[] = ["agent-review", "container"];
  /** They wait for a person, who then answers with one more command. */
  const WAITS: Readonly<Record<string, string>> = { approval: "send", goal: "follow" };

  it("are all that there are", () => {
    const folders = readdirSync(fileOf(""), { withFileTypes: true }).flatMap((entry) =>
      entry.isDirectory() && !OTHERS.includes(entry.name) ? [entry.name] : [],
    );
    expect(commands.map(({ name }) => name).toSorted()).toEqual(folders.toSorted());
  });

  it.each(commands)(
    "$name runs with its one command, offline, in a place that knows nothing of it",
    async ({ name, words }) => {
      const place = openPlace();
      cpSync(fileOf(name), join(place.folder, "examples", name), { recursive: true });
      // As installed: a program's own workflow imports the package.
      mkdirSync(join(place.folder, "node_modules"));
      symlinkSync(PROJECT_FOLDER, join(place.folder, "node_modules", "splashdown"));
      for (const each of packagesFor(name))
        symlinkSync(join(PROJECT_FOLDER, "node_modules", each), join(place.folder, "node_modules", each));
      const list = () => readdirSync(join(place.folder, "examples"), { recursive: true }).map(String).toSorted();
      const before = list();
      const { code, stderr } = await place.run([...words, "--quiet"]);
      expect(list()).toEqual(before);
      expect({ code, stderr: code === 0 ? "" : stderr }).toMatchObject({ code: name in WAITS ? 20 : 0 });
      const [task = ""] = readdirSync(join(place.folder, "outputs"));
      const replay = await place.run(["debug", "replay", `--checkpoint=${task}:latest`, "--json"]);
      expect(replay.json<ReplayView>().differences).toEqual([]);
      const answer = WAITS[name];
      if (answer === undefined) return;
      expect((await place.run(["answer", name, answer])).code).toBe(0);
      expect((await place.run([...words, "--quiet"])).code).toBe(0);
      if (name !== "approval") return;
      expect(place.ledger(`outputs/${task}/final/outbox.txt`)).toEqual(["Please be quiet at night."]);
    },
  );
});

describe("examples/rate-limit-story", () => {
  it("FAULTS 1: waits where the ninth agent is refused; killed while it waits, it calls nobody again but the ninth", async () => {
    const place = openPlace();
    const running = place.start(["run", fileOf("rate-limit-story/workflow.yaml"), "--task", "t"]);
    const waits = () => running.stderr().includes("rate limit") || running.stderr().includes("too many requests");
    await until("the ninth is refused", waits);
    running.child.kill("SIGKILL");
    await running.done;
    const { steps } = await view(place);
    expect(steps.filter(({ status }) => status === "completed")).toHaveLength(8);
    const resumed = (await place.run(["resume", "t", "--json"])).json<RunView>();
    expect(resumed).toMatchObject({ exit_status: 0, output: { ending: "Everyone came home.", agents: 10 } });
    const events = (await place.run(["events", "t", "--json"])).json<EventView[]>();
    const ended = events.filter(({ type }) => type === "step_completed").map(({ text }) => text);
    expect([ended.length, new Set(ended).size]).toEqual([10, 10]);
    const after = (await view(place)).steps;
    expect(after.map(({ step }) => step)).toEqual(after.map((_step, index) => `main/chapter_${index + 1}@1.1`));
    expect(after.map(({ attempt }) => attempt)).toEqual([1, 1, 1, 1, 1, 1, 1, 1, 2, 1]);
  });
});

describe("examples/layers", () => {
  it("does a thousand tasks, and killed in the middle the rest only", async () => {
    const { place, whole, resumed } = await runTwice("layers/workflow.mjs", 0.5);
    expect(whole).toMatchObject({ exit_status: 0, output: { first: 512, last: 512 } });
    expect(resumed).toMatchObject({ exit_status: 0, output: whole.output });
    const events = (await place.run(["events", "t", "--json"])).json<EventView[]>();
    expect(events.filter(({ type }) => type === "step_completed")).toHaveLength(1000);
  });
});

describe("examples/approval", () => {
  it("stands open until somebody answers, goes back for another draft, and sends one letter", async () => {
    const place = openPlace();
    const args = [
      "run",
      fileOf("approval/workflow.yaml"),
      "--task",
      "t",
      "--input",
      `outbox=${join(place.folder, "ledger")}`,
    ];
    expect((await place.run(args)).code).toBe(20);
    expect((await place.run(["answer", "t", "look", "revise", "be kinder"])).code).toBe(0);
    expect((await runKilledAt(place, "record:2", ["resume", "t"])).signal).toBe("SIGKILL");
    expect((await place.run(["resume", "t"])).code).toBe(20);
    expect(place.ledger()).toEqual([]);
    expect((await place.run(["answer", "t", "send"])).code).toBe(0);
    expect((await place.run(["resume", "t"])).code).toBe(0);
    expect(place.ledger()).toEqual(["Dear neighbours, could we keep the nights quiet? Thank you."]);
  });
});

describe("examples/orders", () => {
  it("E9: moves an order through its states; killed at any point of the way, no move counts twice", async () => {
    const place = openPlace();
    const run = ["run", fileOf("orders/workflow.yaml"), "--json", "--new", "--task"];
    const whole = (await place.run([...run, "whole"])).json<RunView>();
    expect(whole.output).toEqual({
      order: "A-17",
      state: "delivered",
      history: [
        "placed to paid",
        "paid to packing",
        "packing to packing",
        "packing to shipped",
        "shipped to delivered",
      ],
      packed: 2,
      moves: 5,
    });
    const count = countRecords(place, "whole");
    const points = Array.from({ length: 8 }, (_, index) => Math.floor((count * (index + 1)) / 9));
    for (const point of points) {
      const task = `at-${point}`;
      const { signal } = await runKilledAt(place, `record:${point}`, ["run", fileOf("orders/workflow.yaml"), task]);
      expect(signal).toBe("SIGKILL");
      const resumed = (await place.run(["resume", task, "--json"])).json<RunView>();
      expect(resumed).toMatchObject({ exit_status: 0, output: whole.output });
    }
  });
});
