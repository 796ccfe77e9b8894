/** Every verb that opens a task, or does something to it, leaves word of it in the task's audit trail. */
import { beforeAll, describe, expect, it } from "vitest";
import { FaultyFileSystem } from "../../simulation/faulty-file-system.js";
import { ExploredPlace, type WorkflowOf } from "../../simulation/verbs/explored-place.js";
import { HOME } from "../../simulation/verbs/verb-room.js";
import { contentOf, type DiskModel } from "../../support/disk-model.js";
import { MODEL_ROOT } from "../../support/store-places.js";
import { errorCodeOf } from "../../../src/base/errors.js";
import type { Splashdown } from "../../../src/index.js";

const BUNDLE = `${HOME}/t.zip`;
const OTHER_KEY = Buffer.alloc(32, 9).toString("base64");

const asking =
  (name: string): WorkflowOf =>
  (call) => ({
    performance_config: { async_writes: false },
    workflow: { name: "asking", limits: { max_iterations: 1 } },
    steps: [
      { name: "a", function: call("a"), effects: "idempotent" },
      { name, function: call("b"), effects: "idempotent", depends_on: ["a"] },
    ],
  });

type Act = (verbs: Splashdown, place: ExploredPlace) => Promise<unknown>;

/** What each does, and what stands in the trail then; that it was unlocked stands before. */
const VERBS: readonly (readonly [verb: string, act: Act, told: readonly string[]])[] = [
  ["show", (verbs) => verbs.show("t"), ["read show"]],
  ["show --timeline", (verbs) => verbs.timeline("t"), ["read show"]],
  ["show --confidence", (verbs) => verbs.confidence("t"), ["read show"]],
  [
    "events",
    async (verbs) => {
      for await (const event of verbs.events("t")) if (event.n > 0) return;
    },
    ["read events"],
  ],
  ["checkpoints list", (verbs) => verbs.checkpoints.list("t"), ["read checkpoints list"]],
  ["checkpoints show", (verbs) => verbs.checkpoints.show("t:1"), ["read checkpoints show"]],
  ["debug replay", (verbs) => verbs.debug.replay("t:1"), ["read debug replay"]],
  [
    "debug diff-checkpoints",
    (verbs) => verbs.debug.diffCheckpoints("t:1", "t:2"),
    Array(2).fill("read debug diff-checkpoints"),
  ],
  ["fork", (verbs) => verbs.fork("t", { from: "1", task: "f" }), ["read fork"]],
  ["answer", (verbs) => verbs.answer({ task: "t", answer: "extend", value: { iterations: 5 } }), ["answered answer"]],
  ["guide", (verbs) => verbs.guide({ task: "t", text: "be brief" }), ["guided guide"]],
  ["checkpoints pin", (verbs) => verbs.checkpoints.pin("t:1"), ["pinned checkpoints pin"]],
  ["checkpoints export", (verbs) => verbs.checkpoints.export("t", { file: BUNDLE }), ["exported checkpoints export"]],
  [
    "checkpoints export --redacted",
    (verbs) => verbs.checkpoints.export("t", { file: BUNDLE, redacted: true }),
    ["exported checkpoints export"],
  ],
  ["keys add", (verbs) => verbs.keys.add({ task: "t" }, { kind: "env", name: "OTHER_KEY" }), ["keys_changed keys add"]],
  ["keys rotate", (verbs) => verbs.keys.rotate({ task: "t" }), ["keys_changed keys rotate"]],
  [
    "keys rotate --task-key",
    (verbs) => verbs.keys.rotate({ task: "t" }, { taskKey: true }),
    ["keys_changed keys rotate"],
  ],
  [
    "keys rotate --task-key --reencrypt",
    (verbs) => verbs.keys.rotate({ task: "t" }, { taskKey: true, reencrypt: true }),
    ["keys_changed keys rotate --reencrypt", "keys_changed keys rotate --reencrypt"],
  ],
  ["resume", (verbs, { workflow }) => verbs.resume({ task: "t", workflow }), ["resumed resume"]],
  [
    "resume --from",
    (verbs, { workflow }) => verbs.resume({ task: "t", workflow, from: "1" }),
    ["resumed resume", "rolled_back resume"],
  ],
  [
    "resume --accept-changes",
    (verbs, { workflow }) => verbs.resume({ task: "t", workflow, acceptChanges: true, extend: { iterations: "5" } }),
    ["answered answer", "resumed resume", "changes_accepted resume"],
  ],
];

/** Those that need no key: what became of the task's keys, and of the task. */
const KEYLESS: readonly (readonly [verb: string, act: Act, told: readonly string[]])[] = [
  ["keys shred", (verbs) => verbs.keys.shred("t"), ["shredded keys shred"]],
  [
    "store remove and restore",
    async (verbs) => {
      await verbs.store.remove(["t"]);
      await verbs.store.restore(["t"]);
    },
    ["trashed store remove", "restored store restore"],
  ],
];

let prepared: DiskModel;

beforeAll(async () => {
  const disk = new FaultyFileSystem();
  const place = await ExploredPlace.open(
    { fileSystem: disk, now: () => disk.operationCount, seed: "first" },
    { workflow: asking("b") },
  );
  await place.run("t");
  await place.verbs.close();
  prepared = disk.imageAt(disk.operationCount, { kind: "kill" });
});

async function openOn(verb: string, variables: Readonly<Record<string, string>> = {}): Promise<ExploredPlace> {
  const disk = new FaultyFileSystem({ disk: prepared });
  const keys = { SPLASHDOWN_KEY: Buffer.alloc(32, 7).toString("base64"), OTHER_KEY };
  return ExploredPlace.open(
    { fileSystem: disk, now: () => disk.operationCount, seed: verb, variables: { ...keys, ...variables } },
    { workflow: asking(verb.includes("changes") ? "c" : "b") },
  );
}

/** What came into the trail since the task was made. */
async function toldIn(place: ExploredPlace): Promise<string[]> {
  const { entries } = await place.verbs.audit.show("t");
  return entries.filter(({ verb }) => verb !== "run").map(({ event, verb }) => `${event} ${verb}`);
}

async function faultsOf(place: ExploredPlace): Promise<string[]> {
  const { checks } = await place.verbs.audit.verify("t");
  return checks.filter(({ ok }) => !ok).map(({ text }) => text);
}

function bytesOf(disk: FaultyFileSystem, path: string): Uint8Array {
  const node = disk.disk.find(path);
  if (node.kind !== "file") throw new Error(`${path} is no file`);
  return contentOf(node);
}

async function putBytes(disk: FaultyFileSystem, path: string, bytes: Uint8Array): Promise<void> {
  const handle = await disk.open(path, "create");
  await handle.write(bytes);
  await handle.close();
}

describe("the audit trail of a task", () => {
  it.each([...VERBS, ...KEYLESS])("is told by %s that it was opened, and what was done", async (verb, act, told) => {
    const place = await openOn(verb);
    await act(place.verbs, place);
    const found = await toldIn(place);
    expect(found.filter((entry) => !entry.startsWith("unlocked "))).toEqual(told);
    expect(found.filter((entry) => entry.startsWith("unlocked "))).toHaveLength(1);
    await place.verbs.close();
  });

  it("tells who pinned, cleared, forked and went back, and to which checkpoint; and which files were pruned", async () => {
    const place = await openOn("the past");
    const { verbs, workflow } = place;
    await verbs.answer({ task: "t", answer: "extend", value: { iterations: 5 } });
    await verbs.resume({ task: "t", workflow });
    expect((await verbs.checkpoints.pin("t:1")).changed).toBe(true);
    expect((await verbs.checkpoints.pin("t:1")).changed).toBe(false);
    await verbs.checkpoints.unpin("t:1");
    await verbs.checkpoints.prune({ task: "t", keep: 2 });
    await verbs.checkpoints.clear("t");
    await verbs.fork("t", { from: "1", task: "f" });
    await verbs.resume({ task: "t", workflow, from: "1" });
    const told = (await verbs.audit.show("t")).entries.toSorted((left, right) => left.n - right.n);
    const news = told.filter(({ event }) => !["unlocked", "answered", "started"].includes(event));
    expect(news.map(({ event, verb, details }) => [event, verb, details?.["seq"]])).toEqual([
      ["resumed", "resume", undefined],
      ["pinned", "checkpoints pin", 1],
      ["unpinned", "checkpoints unpin", 1],
      ["pruned", "checkpoints prune", undefined],
      ["pruned", "checkpoints clear", undefined],
      ["read", "fork", 1],
      ["resumed", "resume", undefined],
      ["rolled_back", "resume", 1],
    ]);
    expect(news.every(({ by }) => by === "explorer")).toBe(true);
    expect(news[3]?.details).toMatchObject({ files: Array(2).fill(expect.stringMatching(/^checkpoint_phase/)) });
    const forked = (await verbs.audit.show("f")).entries;
    expect(forked.at(-1)).toMatchObject({ event: "started", verb: "fork", details: { origin: { name: "t", seq: 1 } } });
    expect((await verbs.audit.verify("t")).intact).toBe(true);
    await verbs.close();
  });

  it("that was put back from an older copy, and went on from there, is not the one that was seen here", async () => {
    const disk = new FaultyFileSystem({ disk: prepared });
    const options = { fileSystem: disk, now: () => disk.operationCount, seed: "seen" };
    const place = await ExploredPlace.open(options, { workflow: asking("b") });
    await place.verbs.checkpoints.pin("t:1");
    const { workflow_id: id } = await place.verbs.show("t");
    const [second, anchor] = [
      `${MODEL_ROOT}/t/checkpoints/audit/00000002.jsonl`,
      `${HOME}/.local/state/splashdown/audit/anchors/${id}.json`,
    ];
    const seen = bytesOf(disk, anchor);
    await disk.unlink(second);
    expect(await faultsOf(place)).toEqual([
      "audit/00000002.jsonl was seen on this machine and is missing, with all from audit/00000002.jsonl on",
    ]);
    // On another machine, which remembers nothing of it.
    await disk.unlink(anchor);
    await (await place.another()).checkpoints.pin("t:2");
    expect(await faultsOf(place)).toEqual([]);
    await disk.unlink(anchor);
    await putBytes(disk, anchor, seen);
    expect(await faultsOf(place)).toEqual(["audit/00000002.jsonl is not the one that was seen on this machine"]);
    await place.verbs.close();
  });

  it.each(VERBS)("is told by %s that somebody came with another key", async (verb, act) => {
    const place = await openOn(verb, { SPLASHDOWN_KEY: OTHER_KEY });
    const code = await act(place.verbs, place).then(
      () => "none",
      (error: unknown) => errorCodeOf(error),
    );
    expect([code, (await toldIn(place)).map((entry) => entry.split(" ")[0])]).toEqual(["KEY_WRONG", ["unlock_failed"]]);
    await place.verbs.close();
  });
});
