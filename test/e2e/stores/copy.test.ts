/** `store copy`: a crashed task goes round through every store, and goes on where it is at last. */
import { afterAll, describe, expect, it } from "vitest";
import type { StoreCopyView, TaskView } from "../../../src/runtime/contract.js";
import { crashAt, release, startHeld, writeHeldSteps } from "../../support/held-steps.js";
import { expectView } from "../../support/view-schemas.js";
import { addressOf, closeStores, openStorePlace, STORE_KINDS } from "./store-places.js";

const STEPS = ["s1", "s2", "s3"];

afterAll(closeStores);

describe("store copy", () => {
  it("brings a task through every store unchanged, and it goes on in the last one", async () => {
    const place = await openStorePlace({ kind: "pglite", isShared: false });
    const env = { SPLASHDOWN_STORE: "file:outputs" };
    const file = writeHeldSteps(place, STEPS, { effects: "none" });
    const running = await startHeld(place, "s2", { args: ["run", file, "--task", "t"], options: { env } });
    running.child.kill("SIGKILL");
    await running.done;
    release(place, "s2");
    place.write("outputs/t/own.txt", "of a program");
    const stops = [
      "file:outputs",
      ...(await Promise.all(STORE_KINDS.map(({ kind }) => addressOf(kind)))).slice(1),
      "file:last",
    ];
    const sizes = [];
    for (const [at, from] of stops.slice(0, -1).entries()) {
      const to = stops[at + 1] ?? "";
      const result = await place.run(["store", "copy", "--from", from, "--to", to, "--json"], { env });
      expect([result.code, result.stderr.includes("a-password"), result.stdout.includes("a-password")]).toEqual([
        0,
        false,
        false,
      ]);
      const view = result.json<StoreCopyView>();
      expectView("store-copy", view);
      sizes.push([view.tasks[0]?.files, view.tasks[0]?.size]);
    }
    expect(new Set(sizes.map((size) => size.join("/"))).size).toBe(1);
    expect(place.read("last/t/own.txt")).toBe("of a program");
    const last = { env: { SPLASHDOWN_STORE: "file:last" } };
    expect((await place.run(["show", "t", "--json"], last)).json<TaskView>()).toMatchObject({
      status: "crashed",
      damage: [],
    });
    expect((await place.run(["resume", "t", "--here"], last)).code).toBe(0);
    expect(place.ledger()).toEqual(["s1", "s2", "s2", "s3"]);
    expect((await place.run(["show", "t", "--json"], { env })).json<TaskView>()).toMatchObject({ status: "crashed" });
  });

  it("refuses a task that is there, an unknown one, one store, and one whose owner lives; nothing is made", async () => {
    const place = await openStorePlace({ kind: "file", isShared: true });
    const file = writeHeldSteps(place, STEPS, { effects: "none" });
    await crashAt(place, "s2", ["run", file, "--task", "t"]);
    const copy = (to: string, ...tasks: string[]) =>
      place.run(["store", "copy", ...tasks, "--from", "file:outputs", "--to", to]);
    expect((await copy("sqlite:b.db")).code).toBe(0);
    expect((await copy("sqlite:b.db")).code).toBe(2);
    expect((await copy("sqlite:b.db", "nobody")).code).toBe(10);
    expect((await copy("file:outputs")).code).toBe(2);
    const running = await startHeld(place, "s2", { args: ["resume", "t"] });
    const refused = await copy("sqlite:c.db", "t");
    expect([refused.code, place.read("c.db")]).toEqual([11, ""]);
    release(place, "s2");
    expect((await running.done).code).toBe(0);
  });
});
