/** A fork and a return to a checkpoint are killed before their changing operations in turn. */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { RunView } from "../../../src/index.js";
import { openPlace, type CommandPlace } from "../../support/command-place.js";
import { keepPristine, killEverywhere } from "../../support/killed-verb.js";
import { noteTried } from "../../support/tried.js";

const WORKFLOW = `
workflow: {name: past}
phases:
  - name: one
    specialists:
      - {name: a, command: [sh, -c, 'echo a >> ledger; printf "{\\"output\\":{\\"v\\":\\"%0300000d\\"}}" 7'], effects: none}
      - {name: b, command: [sh, -c, 'echo b >> ledger'], effects: none, depends_on: [a]}
  - name: two
    specialists:
      - {name: c, command: [sh, -c, 'echo c >> ledger; echo "{\\"output\\":{\\"v\\":3}}"'], effects: none}
`;

async function prepare(place: CommandPlace): Promise<RunView> {
  place.write("wf.yaml", WORKFLOW);
  const result = await place.run(["run", "wf.yaml", "--task", "t", "--json"]);
  keepPristine(place);
  return result.json<RunView>();
}

function journalOf(place: CommandPlace, store: string): string[] {
  const folder = join(place.folder, store, "t/checkpoints/journal");
  return readdirSync(folder).map((name) => readFileSync(join(folder, name), "base64"));
}

describe("a fork that is killed at any operation", () => {
  it("leaves the task as it was, and either no fork that anybody takes up, or a whole one", async (context) => {
    const place = openPlace();
    const first = await prepare(place);
    let whole = 0;
    const kills = await killEverywhere(
      place,
      { call: ["fork", ["t", { from: "phase1", task: "f" }]], step: 4 },
      async (splashdown, isKilled) => {
        const recovered = await splashdown.recover();
        expect(recovered.tasks.map(({ action }) => action)).not.toContain("taken_up");
        const [fork, task] = (await splashdown.list()).slice(-2);
        expect([fork, task].find((entry) => entry?.task === "t")).toMatchObject({ status: "done" });
        const begun = (await splashdown.list()).find((entry) => entry.task === "f" && entry.status === "paused");
        if (begun !== undefined) {
          whole += 1;
          expect((await splashdown.resume({ task: "f" })) as RunView).toMatchObject({
            status: "done",
            output: first.output,
          });
        }
        expect(begun !== undefined || isKilled).toBe(true);
      },
    );
    noteTried(context, kills);
    expect(kills).toBeGreaterThan(3);
    expect(whole).toBeGreaterThanOrEqual(1);
    expect(journalOf(place, "killed-5")).toEqual(journalOf(place, "pristine"));
  });
});

describe("a return to a checkpoint that is killed at any operation", () => {
  it("leaves every checkpoint usable, and the task ends as it would have", async (context) => {
    const place = openPlace();
    const first = await prepare(place);
    const call = ["resume", [{ task: "t", from: "2" }]] as const;
    const kills = await killEverywhere(place, { call, operationsMax: 60, step: 7 }, async (splashdown) => {
      for (const { seq } of await splashdown.checkpoints.list("t"))
        expect(await splashdown.checkpoints.show(`t:${seq}`)).toMatchObject({ seq });
      expect((await splashdown.show("t")).damage).toEqual([]);
      const view = (await splashdown.resume({ task: "t" })) as RunView;
      expect(view).toMatchObject({ status: "done", output: first.output });
    });
    noteTried(context, kills);
    expect(kills).toBeGreaterThan(3);
  });
});
