/** Sealing a task again in states where more than a quiet, whole history stands. The crash explorer cuts it off everywhere. */
import { describe, expect, it } from "vitest";
import type { FaultyFileSystem as Disk } from "../../simulation/faulty-file-system.js";
import { FaultyFileSystem } from "../../simulation/faulty-file-system.js";
import { ExploredPlace, type Bodies, type WorkflowOf } from "../../simulation/verbs/explored-place.js";
import { contentsOf, pictureOfFiles, pictureOfTasks } from "../../simulation/verbs/picture.js";
import type { Splashdown } from "../../../src/index.js";
import { changeFileSystem } from "../../support/changed-file-system.js";
import { codeOfAsync } from "../../support/error-code.js";
import { contentOf, type DiskNode } from "../../support/disk-model.js";
import { MODEL_ROOT } from "../../support/store-places.js";

const LARGE = "x".repeat(270_000);
const AGAIN = { taskKey: true, reencrypt: true };

/** A list over the bound of a blob, gone through item by item; the last one asks for more rounds. */
const overItems: WorkflowOf = (call) => ({
  // A file for every trigger.
  performance_config: { async_writes: false },
  workflow: { name: "items", entry_point: "list", limits: { max_iterations: 4 } },
  agents: [{ name: "list", type: "function", function: call("list"), effects: "idempotent", routes: [{ to: "each" }] }],
  for_each: [
    {
      name: "each",
      type: "for_each",
      source: "list.output.items",
      as: "item",
      max_concurrent: 1,
      agent: {
        name: "one",
        type: "function",
        function: call("one"),
        input: { n: "{{ item | length }}" },
        effects: "idempotent",
      },
      routes: [{ to: "$end" }],
    },
  ],
});

const steps: WorkflowOf = (call) => ({
  workflow: { name: "steps" },
  phases: [1, 2, 3, 4].map((phase) => ({
    name: `p${phase}`,
    specialists: [{ name: `s${phase}`, function: call(`s${phase}`), effects: "idempotent" }],
  })),
});
const asking: WorkflowOf = (call) => ({
  workflow: { name: "asking", limits: { max_iterations: 1 } },
  steps: [
    { name: "a", function: call("a"), effects: "idempotent" },
    { name: "b", function: call("b"), effects: "idempotent", depends_on: ["a"] },
  ],
});

/** What another process was told that wanted to seal again what runs. */
const refusals: (string | undefined)[] = [];

const bodies: Bodies = {
  s4: async (_context, place) => {
    const other = await place.another();
    if (refusals.length === 0) refusals.push(await codeOfAsync(() => other.keys.rotate({ task: "t" }, AGAIN)));
    await other.close();
    return { output: {} };
  },
  s1: () => ({ output: { text: LARGE } }),
  list: () => ({ output: { items: [1, 2, 3].map((n) => `${n}${LARGE}`) } }),
};

async function openPlace(
  workflow: WorkflowOf,
  disk = new FaultyFileSystem(),
): Promise<{ place: ExploredPlace; disk: Disk }> {
  const options = { fileSystem: disk, now: () => disk.operationCount, seed: `life ${disk.operationCount}` };
  return { disk, place: await ExploredPlace.open(options, { workflow, bodies }) };
}

/** The machine stops where the disk stands; another process on what is left. */
function openLater(workflow: WorkflowOf, disk: Disk, at: number): ReturnType<typeof openPlace> {
  return openPlace(workflow, new FaultyFileSystem({ disk: disk.imageAt(at, { kind: "kill" }) }));
}

const rotate = (place: ExploredPlace) => place.verbs.keys.rotate({ task: "t" }, AGAIN);

/** Fingerprint of the key that the task's files are sealed with. */
async function keyOf(place: ExploredPlace): Promise<string> {
  const shown = JSON.stringify(await place.verbs.keys.show("t"));
  return /"id":"([0-9a-f]{16})"/.exec(shown)?.[1] ?? "none";
}

/** Files of the task that have a text in them. */
/** But for the keyring, which goes on naming every key that there was. */
function filesNaming(disk: Disk, text: string): string[] {
  const folder = `${MODEL_ROOT}/t/checkpoints/audit`;
  const audit = [...disk.disk.findFolder(`${folder}/.`).entries.keys()].map((name) => `${folder}/${name}`);
  return [...contentsOf(disk.disk, `${MODEL_ROOT}/t`).keys(), ...audit].filter((path) => {
    const node: DiskNode = disk.disk.find(path);
    return !path.includes("/keyring-") && node.kind === "file" && Buffer.from(contentOf(node)).includes(text);
  });
}

function flip(disk: Disk, part: string): string {
  const found = [...contentsOf(disk.disk, `${MODEL_ROOT}/t`).keys()].find((path) => path.includes(part)) ?? "";
  const node: DiskNode = disk.disk.find(found);
  if (node.kind !== "file") throw new Error(`${found} is no file`);
  const bytes = Buffer.from(contentOf(node));
  const at = bytes.length >> 1;
  bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
  node.extents.splice(0, node.extents.length, { bytes, state: "synced" });
  node.settledCount = 1;
  return found;
}

describe("a task that is sealed again", () => {
  it("in the midst of a for_each over a large list goes on with the next item, after a crash as well", async () => {
    const { place, disk } = await openPlace(overItems);
    const first = await place.run("t");
    const asked = disk.operationCount;
    await place.verbs.close();
    const { place: later, disk: again } = await openLater(overItems, disk, asked);
    const [changed] = (await rotate(later)).tasks;
    expect(changed).toMatchObject({ changed: true, generation: 2 });
    expect(changed?.reencrypted?.blobs).toBeGreaterThan(0);
    await later.goOn("t");
    expect((await later.verbs.show("t")).status).toBe(first.status);
    await later.verbs.close();
    for (const share of [0.45, 0.58, 0.7]) {
      const { place: crashed } = await openLater(overItems, disk, Math.floor(asked * share));
      await rotate(crashed);
      await crashed.goOn("t");
      const shown = await crashed.verbs.show("t");
      expect([share, shown.status, shown.damage]).toEqual([share, first.status, []]);
      await crashed.verbs.close();
    }
    expect(again.faultCount).toBe(0);
  });

  it("in the midst of a large list is forked as well, with the list", async () => {
    const { place } = await openPlace(overItems);
    await place.run("t");
    await rotate(place);
    // After the first item.
    await place.verbs.fork("t", { from: "2", task: "forked" });
    await place.goOn("forked");
    expect((await place.verbs.show("forked")).status).toBe("done");
    await place.verbs.close();
  });

  it("keeps a shortened history as short as it was, every checkpoint that can be reached, and what can be forked", async () => {
    const { place } = await openPlace(steps);
    await place.run("t");
    for (let round = 1; round <= 3; round += 1)
      await place.verbs.checkpoints.prune({ task: "t", keep: 2, history: true });
    await place.verbs.checkpoints.pin("t:latest", { note: "good" });
    const before = { files: await pictureOfFiles(place, "t"), tasks: await pictureOfTasks(place) };
    const [changed] = (await rotate(place)).tasks;
    expect(changed?.reencrypted).toMatchObject({ snapshots: 2, left: [] });
    expect({ files: await pictureOfFiles(place, "t"), tasks: await pictureOfTasks(place) }).toEqual(before);
    expect(await place.verbs.checkpoints.pin("t:latest")).toMatchObject({ changed: false, note: "good" });
    expect((await place.verbs.checkpoints.unpin("t:latest")).changed).toBe(true);
    const { file = "" } = (await place.verbs.checkpoints.list("t")).at(-1) ?? {};
    expect(file).toMatch(/_\d{8}~\d+\.json$/);
    expect((await place.verbs.checkpoints.show(file)).file).toBe(file);
    const fork = await place.verbs.fork("t", { from: "latest", task: "forked" });
    expect(fork.task).toBe("forked");
    expect((await place.verbs.audit.verify("t")).intact).toBe(true);
    await place.verbs.close();
  });

  it("leaves a checkpoint file that is damaged behind, says so, and has its checkpoint in the journal", async () => {
    const { place, disk } = await openPlace(steps);
    await place.run("t");
    await place.verbs.close();
    const { place: later, disk: again } = await openLater(steps, disk, disk.operationCount);
    const file = flip(again, "/checkpoint_phase");
    const [changed] = (await rotate(later)).tasks;
    expect(changed?.reencrypted?.left).toEqual([expect.stringContaining(file.slice(file.lastIndexOf("/") + 1))]);
    expect((await later.verbs.debug.replay("t:1")).story.length).toBeGreaterThan(0);
    expect((await later.verbs.show("t")).damage).toEqual([]);
    await later.verbs.close();
  });

  it("is refused, and stays as it was, where a large value is damaged or its journal has a gap", async () => {
    const { place, disk } = await openPlace(steps);
    await place.run("t");
    await place.verbs.close();
    const end = disk.operationCount;
    const { place: one, disk: oneDisk } = await openLater(steps, disk, end);
    flip(oneDisk, "/blobs/");
    expect(await codeOfAsync(() => rotate(one))).toBe("BLOB_CORRUPT");
    expect((await one.verbs.show("t")).steps_done).toBe(4);
    await one.verbs.close();
    const { place: two, disk: twoDisk } = await openLater(steps, disk, end);
    flip(twoDisk, "/journal/");
    expect(["JOURNAL_CORRUPT", "JOURNAL_TAMPERED", "REENCRYPT_REFUSED"]).toContain(
      await codeOfAsync(() => rotate(two)),
    );
    await two.verbs.close();
  });

  it("takes along what waits to be taken: an answer counts, and nothing stays under the old key", async () => {
    const { place, disk } = await openPlace(asking);
    expect((await place.run("t")).status).toBe("waiting");
    await place.verbs.answer({ task: "t", answer: "extend", value: { iterations: 5 } });
    const old = await keyOf(place);
    await rotate(place);
    expect(filesNaming(disk, old)).toEqual([]);
    await place.goOn("t");
    expect((await place.verbs.show("t")).status).toBe("done");
    expect((await rotate(place)).tasks[0]?.reencrypted?.removed.control).toBe(1);
    await place.verbs.close();
  });

  it("K5: carries what waits to be taken before the old key goes, not after", async () => {
    const disk = new FaultyFileSystem();
    const fileSystem = changeFileSystem(disk, {
      link: async (from, to) => {
        if (to.endsWith("/keyring-4.json")) throw new Error("the process is killed");
        return disk.link(from, to);
      },
    });
    const place = await ExploredPlace.open({ fileSystem, now: () => 0, seed: "killed" }, { workflow: asking, bodies });
    await place.run("t");
    await place.verbs.answer({ task: "t", answer: "extend", value: { iterations: 5 } });
    await expect(rotate(place)).rejects.toThrow("the process is killed");
    const controls = [...contentsOf(disk.disk, `${MODEL_ROOT}/t`).keys()].filter((path) => path.includes("/control/"));
    expect(controls.map((path) => path.slice(path.indexOf("~")))).toEqual(["~2"]);
    await place.verbs.close();
  });

  it.each<[string, RegExp, (other: Splashdown) => Promise<unknown>]>([
    ["answers", /control\/answer-/, (other) => other.answer({ task: "t", answer: "extend", value: { iterations: 5 } })],
    ["pins", /control\/pin-/, (other) => other.checkpoints.pin("t:1", { note: "good" })],
    ["writes of what it did", /audit\//, (other) => other.checkpoints.unpin("t:1")],
  ])("K5: loses nothing of a process that was held all the while and then %s", async (_what, path, act) => {
    const { place, disk } = await openPlace(asking);
    await place.run("t");
    await place.verbs.checkpoints.pin("t:1");
    if (path.source.includes("pin")) await place.verbs.checkpoints.unpin("t:1");
    const old = await keyOf(place);
    let isHeld = true;
    const other = await place.another((fileSystem) =>
      changeFileSystem(fileSystem, {
        link: async (from, to) => {
          if (isHeld && path.test(to)) {
            isHeld = false;
            await rotate(place);
          }
          return fileSystem.link(from, to);
        },
      }),
    );
    await act(other);
    await other.close();
    expect(isHeld).toBe(false);
    const audit = await place.verbs.audit.verify("t");
    expect(audit.checks.filter(({ ok }) => !ok)).toEqual([]);
    const isAnswered = (await place.verbs.show("t")).open_questions === 0;
    expect([isAnswered, (await place.verbs.checkpoints.pin("t:1")).note]).toEqual([
      path.source.includes("answer"),
      path.source.includes("pin") ? "good" : undefined,
    ]);
    await rotate(place);
    expect(filesNaming(disk, old)).toEqual([]);
    if (!isAnswered) await place.verbs.answer({ task: "t", answer: "extend", value: { iterations: 5 } });
    await place.goOn("t");
    expect((await place.verbs.show("t")).status).toBe("done");
    await place.verbs.close();
  });

  it("is taken from whoever was held with it: nothing is written under the old key by an owner who opened it before", async () => {
    const { place } = await openPlace(asking);
    await place.run("t");
    await place.verbs.answer({ task: "t", answer: "extend", value: { iterations: 5 } });
    let isHeld = true;
    const other = await place.another((fileSystem) =>
      changeFileSystem(fileSystem, {
        open: async (path, intent) => {
          if (isHeld && intent === "create" && path.includes("/journal/")) {
            isHeld = false;
            await place.verbs.keys.rotate({ task: "t" }, { taskKey: true });
          }
          return fileSystem.open(path, intent);
        },
      }),
    );
    expect(await codeOfAsync(() => other.resume({ task: "t", workflow: place.workflow }))).toBe("OWNER_SUPERSEDED");
    expect(isHeld).toBe(false);
    await other.close();
    await place.goOn("t");
    expect((await place.verbs.show("t")).status).toBe("done");
    await place.verbs.close();
  });

  it("is left as it is while somebody runs it", async () => {
    const { place } = await openPlace(steps);
    refusals.splice(0);
    await place.run("t");
    expect(refusals).toEqual(["OWNER_ALIVE"]);
    await place.verbs.close();
  });
});
