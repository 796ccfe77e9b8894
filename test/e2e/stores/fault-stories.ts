/** What users of such tools suffer from, on every store it concerns (FAULTS; 25 and 36 are among the stories of a task). */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { PruneView, RecoverView, RunView, TaskSummaryView, TrashView } from "../../../src/runtime/contract.js";
import type { CommandPlace } from "../../support/command-place.js";
import { crashAt, writeHeldSteps } from "../../support/held-steps.js";
import { realClock } from "../../support/real-clock.js";
import type { StorePlace } from "./store-places.js";
import type { Story } from "./story.js";
import { runPast, show } from "./task-stories.js";

const STEPS = ["s1", "s2", "s3"];
const AT_ONCE = 4;
const STRANGER = { SPLASHDOWN_KEY: Buffer.alloc(32, 8).toString("base64") };

/** A file for every checkpoint, before anything follows. */
async function crashWithFiles(place: CommandPlace): Promise<void> {
  place.write("splashdown.config.yaml", "performance_config: {async_writes: false}\n");
  await crashAt(place, "s3", ["run", writeHeldSteps(place, STEPS, { effects: "none" }), "--task", "t"]);
}

/** Resumes over a newest file that was changed: it is named, nothing is lost, and nothing done is done again. */
async function resumeOver(place: StorePlace, damage: (bytes: Buffer) => Uint8Array): Promise<void> {
  await crashWithFiles(place);
  const file = await place.damageNewest("t", damage);
  const result = await place.run(["resume", "t"]);
  expect([result.code, result.stderr.includes(file)]).toEqual([0, true]);
  expect(place.ledger()).toEqual(["s1", "s2", "s3", "s3"]);
  expect((await show(place)).status).toBe("done");
}

function atOnce(place: CommandPlace, args: readonly string[]) {
  return Promise.all(Array.from({ length: AT_ONCE }, () => place.run(args)));
}

async function list(place: CommandPlace): Promise<TaskSummaryView[]> {
  return (await place.run(["list", "--json"])).json<TaskSummaryView[]>();
}

/** A step whose command gives the value of a JSON text. */
function giving(place: CommandPlace, command: readonly string[], more = ""): string {
  const step = `  - {name: a, command: ${JSON.stringify(command)}, effects: none${more}}`;
  return place.write("giving.yaml", `workflow: {name: giving}\nsteps:\n${step}\n`);
}

export const FAULT_STORIES: readonly Story[] = [
  {
    title: "FAULTS 6: of several that answer at once one wins, of several that resume one continues",
    tell: async (place, { isShared }) => {
      await crashAt(place, "s2", ["run", writeHeldSteps(place, STEPS), "--task", "t"]);
      expect((await place.run(["resume", "t"])).code).toBe(22);
      const answers = (await atOnce(place, ["answer", "t", "rerun"])).map(({ code }) => code);
      expect(answers.filter((code) => code === 0)).toHaveLength(1);
      for (const code of answers.filter((each) => each !== 0)) expect(isShared ? [2] : [2, 4]).toContain(code);
      const codes = (await atOnce(place, ["resume", "t"])).map(({ code }) => code);
      expect(codes.filter((code) => code === 0).length).toBeGreaterThan(0);
      for (const code of codes) expect(isShared ? [0, 11] : [0, 4]).toContain(code);
      expect(place.ledger()).toEqual(["s1", "s2", "s2", "s3"]);
    },
  },
  {
    title: "FAULTS 10: a newest file that is empty is named and passed over",
    tell: (place) => resumeOver(place, () => Buffer.alloc(0)),
  },
  {
    title: "FAULTS 10: a newest file that is half there is named and passed over",
    tell: (place) => resumeOver(place, (bytes) => bytes.subarray(0, bytes.length >> 1)),
  },
  {
    title: "FAULTS 10: a newest file with one changed bit is named and passed over",
    tell: (place) =>
      resumeOver(place, (bytes) => bytes.map((byte, at) => (at === bytes.length - 40 ? byte ^ 1 : byte))),
  },
  {
    title: "FAULTS 11: what retention removes was shown before, lies in the trash, and comes back as it was",
    tell: async (place) => {
      place.write("splashdown.config.yaml", "checkpoint_config: {max_tasks: 1}\n");
      await runPast(place);
      const before = await show(place);
      expect((await place.run(["run", "wf.yaml", "--task", "u", "--new"])).code).toBe(0);
      const digests = await place.digests("t");
      const plan = (await place.run(["checkpoints", "prune", "--dry-run", "--json"])).json<PruneView>();
      expect(plan.tasks.map(({ task, action }) => [task, action])).toContainEqual(["t", "trash"]);
      expect(await place.digests("t")).toEqual(digests);
      const pruned = (await place.run(["checkpoints", "prune", "--yes", "--json"])).json<PruneView>();
      expect(pruned.tasks.map(({ task, action, why }) => [task, action, why])).toEqual(
        plan.tasks.map(({ task, action, why }) => [task, action, why]),
      );
      expect((await list(place)).map(({ task, problem }) => [task, problem])).toEqual([["u", undefined]]);
      const trash = (await place.run(["store", "trash", "--json"])).json<TrashView>();
      expect(trash.tasks.map(({ task, size }) => [task, size > 1000])).toEqual([["t", true]]);
      expect((await place.run(["show", "t"])).code).toBe(10);
      expect((await place.run(["store", "restore", "t"])).code).toBe(0);
      expect(await show(place)).toEqual(before);
      expect((await place.run(["store", "remove", "t", "--yes"])).code).toBe(0);
      expect((await place.run(["store", "purge", "--yes"])).code).toBe(0);
      expect((await place.run(["store", "trash", "--json"])).json<TrashView>().tasks).toEqual([]);
      expect((await place.run(["store", "restore", "t"])).code).toBe(10);
    },
  },
  {
    title: "FAULTS 14: without the key, with another and with none nothing is read, written or removed",
    tell: async (place) => {
      await crashWithFiles(place);
      const before = await place.digests("t");
      for (const env of [STRANGER, { SPLASHDOWN_KEY: "" }]) {
        for (const args of [
          ["resume", "t"],
          ["show", "t"],
          ["checkpoints", "prune", "t", "--keep", "2", "--yes"],
        ])
          expect((await place.run(args, { env })).code).toBe(12);
      }
      expect(await place.digests("t")).toEqual(before);
      expect((await place.run(["resume", "t"])).code).toBe(0);
      expect(place.ledger()).toEqual(["s1", "s2", "s3", "s3"]);
    },
  },
  {
    title: "FAULTS 15: a secret that a step says stands in no byte of the store",
    tell: async (place) => {
      const secret = "canary-secret-7Q-of-this-store";
      const said = 'echo "{\\"output\\":{\\"said\\":\\"$TOKEN\\"}}"; echo "$TOKEN" >&2';
      const file = giving(place, ["sh", "-c", said], ", secrets: [TOKEN]");
      const run = await place.run(["run", file, "--task", "t", "--json"], { env: { TOKEN: secret } });
      expect([run.code, run.stdout.includes(secret), run.stderr.includes(secret)]).toEqual([0, false, false]);
      const texts = await place.onTask("t", async (task) => {
        const all = [];
        for (const segment of await task.segments()) all.push(await task.read(segment));
        for (const { key } of await task.list("")) all.push((await task.get(key)) ?? Buffer.alloc(0));
        return all.map((bytes) => Buffer.from(bytes).toString("latin1"));
      });
      expect(texts.length).toBeGreaterThan(2);
      expect(texts.filter((text) => text.includes(secret))).toEqual([]);
    },
  },
  {
    title: "FAULTS 18: values come back from the store as they were",
    tell: async (place) => {
      const value = { emoji: "😀\u0000", deep: [[[{ gone: null, "": -1.5e-7 }]]], large: 2 ** 53, ["a.b"]: [[], {}] };
      place.write("value.json", JSON.stringify({ output: value }));
      const file = giving(place, ["sh", "-c", 'cat "$(dirname "$0")/value.json"', join(place.folder, "here")]);
      const first = (await place.run(["run", file, "--task", "t", "--json"])).json<RunView>();
      const again = (await place.run(["run", file, "--task", "t", "--json"])).json<RunView>();
      expect(first.output).toMatchObject({ a: value });
      expect(again.output).toEqual(first.output);
    },
  },
  {
    title: "FAULTS 24: sizes are shown, and pruning gives room back",
    tell: async (place) => {
      await crashWithFiles(place);
      expect((await place.run(["resume", "t"])).code).toBe(0);
      const [before] = await list(place);
      const plan = (await place.run(["checkpoints", "prune", "t", "--keep", "2", "--yes", "--json"])).json<PruneView>();
      const [after] = await list(place);
      expect(plan.freed).toBeGreaterThan(0);
      expect(after?.size).toBeLessThan((before?.size ?? 0) - plan.freed / 2);
      expect((await show(place)).damage).toEqual([]);
    },
  },
  {
    title: "FAULTS 31: a resume that fails or is killed at its start takes nothing away",
    tell: async (place) => {
      await crashWithFiles(place);
      const before = await place.digests("t");
      expect((await place.run(["resume", "t"], { env: STRANGER })).code).toBe(12);
      for (const delayMs of [10, 120, 300]) {
        const running = place.start(["resume", "t"]);
        await realClock.sleep(delayMs);
        running.child.kill("SIGKILL");
        await running.done;
        if ((await show(place)).status === "done") break;
        expect(await place.digests("t")).toMatchObject(before);
      }
      expect((await place.run(["run", "steps.yaml", "--task", "t"])).code).toBe(0);
      expect(place.ledger().slice(0, 2)).toEqual(["s1", "s2"]);
      expect(
        place
          .ledger()
          .slice(2)
          .every((step) => step === "s3"),
      ).toBe(true);
    },
  },
  {
    title: "FAULTS 32: a step that ends its process each time is parked, and a person's resume gives it another chance",
    tell: async (place) => {
      const file = writeHeldSteps(place, ["s1", "s2"], { effects: "none" });
      await crashAt(place, "s2", ["run", file, "--task", "t"]);
      for (let crash = 2; crash <= 3; crash += 1) await crashAt(place, "s2", ["recover"]);
      const recovered = (await place.run(["recover", "--json"])).json<RecoverView>();
      expect(recovered.tasks).toMatchObject([{ task: "t", result: { status: "waiting", exit_status: 14 } }]);
      expect(place.ledger()).toEqual(["s1", "s2", "s2", "s2"]);
      expect((await place.run(["resume", "t"])).code).toBe(0);
    },
  },
  {
    title: "FAULTS 40: a newest file that says it is not sealed is not believed",
    tell: (place) =>
      resumeOver(place, (bytes) =>
        Buffer.from(bytes.toString("latin1").replace(/"suite":"[^"]*"/, '"suite":"none"'), "latin1"),
      ),
  },
  {
    title: "FAULTS 47: an output of a megabyte is kept, one over the limit fails once and by name",
    tell: async (place) => {
      const print = (bytes: number) => [
        process.execPath,
        "-e",
        `console.log(JSON.stringify({output: {text: "x".repeat(${bytes})}}))`,
      ];
      expect((await place.run(["run", giving(place, print(1_000_000)), "--task", "t"])).code).toBe(0);
      const again = (await place.run(["run", "giving.yaml", "--task", "t", "--json"])).json<RunView>();
      expect(JSON.stringify(again.output).length).toBeGreaterThan(1_000_000);
      rmSync(join(place.folder, "giving.yaml"));
      const failed = await place.run([
        "run",
        giving(place, print(70_000_000), ", retry: {max_attempts: 3}"),
        "--task",
        "u",
      ]);
      expect(failed.code).toBe(4);
      const { steps, status } = await show(place, "u");
      expect([status, steps[0]?.error?.code]).toEqual(["failed", "VALUE_TOO_LARGE"]);
    },
  },
  {
    title: "FAULTS 53: a newest file of a version to come is refused, and what it says is not guessed",
    tell: (place) =>
      resumeOver(place, (bytes) =>
        Buffer.from(bytes.toString("latin1").replace('"version":"1.', '"version":"9.'), "latin1"),
      ),
  },
];
