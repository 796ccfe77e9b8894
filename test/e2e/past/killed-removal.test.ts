/** Whoever removes is killed before each of its changing operations in turn: every listed checkpoint stays usable. */
import { describe, expect, it } from "vitest";
import { openPlace } from "../../support/command-place.js";
import { keepPristine, killEverywhere } from "../../support/killed-verb.js";
import { noteTried } from "../../support/tried.js";

const WORKFLOW = `
workflow: {name: past}
phases:
  - name: one
    specialists:
      - {name: a, command: [sh, -c, 'echo a >> ledger'], effects: none}
      - {name: b, command: [sh, -c, 'echo b >> ledger'], effects: none, depends_on: [a]}
  - name: two
    specialists:
      - {name: c, command: [sh, -c, 'test -f go || exit 1; echo c >> ledger'], effects: none}
`;

describe("a removal that is killed at any operation", () => {
  // Every operation of both is explored on a disk in memory (test/simulation/verbs); here they are real processes.
  it.for([
    { task: "t", keep: 2 },
    { task: "t", keep: 2, history: true },
  ])("checkpoints.prune %j leaves every listed checkpoint usable and the task whole", async (options, context) => {
    const call = ["checkpoints.prune", [options]] as const;
    const place = openPlace();
    place.write("wf.yaml", WORKFLOW);
    await place.run(["run", "wf.yaml", "--task", "t"]);
    for (let epoch = 2; epoch <= 4; epoch += 1) await place.run(["resume", "t"]);
    keepPristine(place);
    const kills = await killEverywhere(place, { call, step: 17 }, async (splashdown) => {
      const [task] = await splashdown.list();
      expect(task).toMatchObject({ status: "failed", workflow: "past" });
      expect((await splashdown.show("t")).damage).toEqual([]);
      for (const { seq, reachable } of await splashdown.checkpoints.list("t")) {
        const shown = splashdown.checkpoints.show(`t:${seq}`);
        if (reachable === false) await expect(shown).rejects.toMatchObject({ code: "CHECKPOINT_NOT_FOUND" });
        else expect(await shown).toMatchObject({ seq });
      }
      // Once more, to its end.
      const again = await splashdown.checkpoints.prune({ task: "t", keep: 2 });
      expect(again.dry_run || again.tasks[0]?.action === "prune").toBe(true);
      expect((await splashdown.resume({ task: "t" })) as object).toMatchObject({ status: "failed" });
    });
    noteTried(context, kills);
    expect(kills).toBeGreaterThan(1);
  });
});
