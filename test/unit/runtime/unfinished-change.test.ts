/** A removal of a key that a kill cut off: told by who looks, ended by who goes on. */
import { describe, expect, it } from "vitest";
import { FaultyFileSystem } from "../../simulation/faulty-file-system.js";
import { ExploredPlace, type WorkflowOf } from "../../simulation/verbs/explored-place.js";
import { KEY } from "../../simulation/verbs/verb-room.js";
import { changeFileSystem } from "../../support/changed-file-system.js";
import { MODEL_ROOT } from "../../support/store-places.js";

const OTHER = "OTHER_KEY";
const variables = { SPLASHDOWN_KEY: KEY, [OTHER]: Buffer.alloc(32, 9).toString("base64") };
const CUT_OFF = /a change of (its )?keys was cut off/;

const asking: WorkflowOf = (call) => ({
  workflow: { name: "asking", limits: { max_iterations: 1 } },
  steps: [
    { name: "a", function: call("a"), effects: "idempotent" },
    { name: "b", function: call("b"), effects: "idempotent", depends_on: ["a"] },
  ],
});

/** Killed before the revision of that number gets its name. */
async function cutOffAt(disk: FaultyFileSystem, revision: number): Promise<void> {
  const fileSystem = changeFileSystem(disk, {
    link: (from, to) =>
      to.endsWith(`/keyring-${revision}.json`) ? Promise.reject(new Error("killed")) : disk.link(from, to),
  });
  const place = await ExploredPlace.open(
    { fileSystem, now: () => 0, seed: "cut off", variables },
    { workflow: asking },
  );
  await place.run("t");
  await place.verbs.keys.add({ task: "t" }, { kind: "env", name: OTHER });
  await expect(place.verbs.keys.remove({ task: "t" }, OTHER)).rejects.toThrow("killed");
  await place.verbs.close();
}

describe("a removal of a key that was cut off", () => {
  it("V19: is told by keys show, keys verify and doctor, and ended by whoever goes on with the task", async () => {
    const disk = new FaultyFileSystem();
    await cutOffAt(disk, 4);
    const place = await ExploredPlace.open(
      { fileSystem: disk, now: () => 0, seed: "heir", variables },
      { workflow: asking },
    );
    const told = async () => [
      (await place.verbs.keys.show("t"))["text"],
      (await place.verbs.keys.verify("t"))["text"],
      (await place.verbs.doctor()).checks.find(({ name }) => name === "keys"),
    ];
    expect(await told()).toEqual([
      expect.stringMatching(CUT_OFF),
      expect.stringMatching(CUT_OFF),
      expect.objectContaining({ ok: false, hint: "splashdown keys rotate t" }),
    ]);
    const folder = `${MODEL_ROOT}/t/checkpoints`;
    expect(await place.namesWith(folder, OTHER)).toEqual(["keyring-2.json"]);
    await place.verbs.answer({ task: "t", answer: "extend", value: { iterations: 5 } });
    await place.goOn("t");
    expect((await place.verbs.show("t")).status).toBe("done");
    expect(await place.namesWith(folder, OTHER)).toEqual([]);
    expect(JSON.stringify(await told())).not.toMatch(CUT_OFF);
    await place.verbs.close();
  });
});
