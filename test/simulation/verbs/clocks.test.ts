/** The next process may have any clock: what order there is comes from numbers, and nothing goes by age that is not old. */
import { describe, expect, it } from "vitest";
import { canonicalJson } from "../../../src/base/json-encoding.js";
import { noteTried } from "../../support/tried.js";
import { FaultyFileSystem } from "../faulty-file-system.js";
import { ExploredPlace } from "./explored-place.js";
import { pictureOfTasks } from "./picture.js";
import { requireStatus, threeSteps } from "./scenario-parts.js";

const HOUR_MS = 3_600_000;
const START_MS = 48 * HOUR_MS;
/** Of the task's life before the crash. */
const SHARES = [0.4, 0.7, 0.9];
const PLOT = {
  workflow: (call: Parameters<typeof threeSteps>[0]) => ({
    ...threeSteps(call),
    performance_config: { async_writes: false },
    checkpoint_config: { retention_days: 2 },
  }),
};

const openOn = (fileSystem: FaultyFileSystem, seed: string, startMs: number) =>
  ExploredPlace.open({ fileSystem, now: () => fileSystem.operationCount, seed }, PLOT, startMs);

describe("a clock that is another one after a crash", () => {
  it.for([
    ["an hour back", -HOUR_MS],
    ["ten years ahead", 87_600 * HOUR_MS],
    ["where it stood when the task began", 0],
  ] as const)("leaves order, result and retention as they are: %s", async ([_what, deltaMs], context) => {
    noteTried(context, SHARES.length);
    const disk = new FaultyFileSystem();
    const first = await openOn(disk, "first", START_MS);
    await requireStatus(first.run("t"), "done");
    const wanted = canonicalJson(await pictureOfTasks(first));
    await first.verbs.close();
    for (const share of SHARES) {
      const image = disk.imageAt(Math.floor(disk.operationCount * share), { kind: "power", seed: 3 });
      const heir = await openOn(new FaultyFileSystem({ disk: image }), `heir at ${share}`, START_MS + deltaMs);
      await requireStatus(heir.goOn("t"), "done");
      expect(canonicalJson(await pictureOfTasks(heir))).toBe(wanted);
      const listed = await heir.verbs.checkpoints.list("t");
      expect(listed.map(({ seq }) => seq)).toEqual(listed.map((_each, at) => at + 1));
      // Of the last ones before a crash the files may be missing; the newest of those that are there stay.
      const inFiles = listed.flatMap(({ seq, file }) => (file === undefined ? [] : [seq]));
      expect(inFiles.length).toBeGreaterThan(2);
      const { tasks } = await heir.verbs.checkpoints.prune({ task: "t", keep: 2 });
      expect(tasks.map(({ action }) => action)).not.toContain("remove");
      const filed = (await heir.verbs.checkpoints.list("t")).filter(({ file }) => file !== undefined);
      expect(filed.map(({ seq }) => seq)).toEqual(inFiles.slice(-2));
      expect((await heir.verbs.audit.verify()).intact).toBe(true);
      await heir.verbs.close();
    }
  });
});
