import { describe, expect, it } from "vitest";
import type { StepId } from "../../../src/base/ids.js";
import { createBlobShelf } from "../../../src/checkpoint/blobs/blobs.js";
import type { ValueRef } from "../../../src/engine/model/value-ref.js";
import type { FoundOrphan } from "../../../src/recovery/restore.js";
import { readOrphans } from "../../../src/runtime/session/orphan-results.js";
import { createCheckpointRoom, textOf } from "../../support/checkpoint-room.js";
import { createTestVault } from "../../support/journal-room.js";

const STEP = "main/send@1.1" as StepId;

function orphan(n: number, output: ValueRef, isOfOpenStep = true): FoundOrphan {
  return {
    n,
    epoch: 2,
    isOfOpenStep,
    event: { type: "step_completed", atMs: 1, step: STEP, attempt: n, output, durationMs: 1 },
  };
}

describe("the results of orphaned completions", () => {
  it("are read where the step is open, also large ones; one whose value is gone is told without it", async () => {
    const vault = createTestVault("orphans");
    const { task } = await createCheckpointRoom(vault);
    const shelf = createBlobShelf({ store: task, vault });
    const [kept, gone] = [await shelf.put({ text: textOf(1, 300_000) }), await shelf.put({ text: textOf(2, 300_000) })];
    await task.remove(gone.key);
    const found = [
      orphan(1, { inline: "small" }),
      orphan(2, { blob: kept }),
      orphan(3, { blob: gone }),
      orphan(4, { inline: "of a step that is done" }, false),
    ];
    const read = await readOrphans({ task, vault }, found);
    expect(read).toEqual([
      { step: STEP, attempt: 1, epoch: 2, n: 1, output: "small" },
      { step: STEP, attempt: 2, epoch: 2, n: 2, output: { text: textOf(1, 300_000) } },
      { step: STEP, attempt: 3, epoch: 2, n: 3 },
      { step: STEP, attempt: 4, epoch: 2, n: 4 },
    ]);
  });
});
