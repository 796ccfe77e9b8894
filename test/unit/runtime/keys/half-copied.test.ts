/** A task that is being copied or imported, and was cut off, is no free place. */
import { mkdirSync, readdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { ARRIVING_KEY } from "../../../../src/transfer/copy-task.js";
import { codeOfAsync } from "../../../support/error-code.js";
import { KeyPlace } from "../../../support/key-place.js";

/** A place that got nothing but the mark that something arrives there. */
function createPlace(): KeyPlace {
  const place = new KeyPlace();
  mkdirSync(place.path("outputs", "half", "checkpoints", "journal"), { recursive: true, mode: 0o700 });
  place.write(`outputs/half/checkpoints/${ARRIVING_KEY}`, "{}");
  return place;
}

describe("a place that a task was arriving at", () => {
  it("[reliability R01] is not taken for a new task's", async () => {
    const place = createPlace();
    const own = { SPLASHDOWN_KEY_FILE: place.key("own.key", 1) };
    await place.with(own, async (verbs) => {
      expect(await codeOfAsync(() => verbs.run({ workflow: place.workflow, task: "half" }))).toBe("IMPORT_UNFINISHED");
    });
    expect(readdirSync(place.path("outputs", "half", "checkpoints")).sort()).toEqual([ARRIVING_KEY, "journal"]);
  });

  it("[reliability R01 kin] is not taken with --new either, nor by a fork", async () => {
    const place = createPlace();
    const own = { SPLASHDOWN_KEY_FILE: place.key("own.key", 1) };
    await place.with(own, async (verbs) => {
      const again = await codeOfAsync(() => verbs.run({ workflow: place.workflow, task: "half", fresh: true }));
      expect(again).not.toBe("none");
      await verbs.run({ workflow: place.workflow, task: "whole" });
      expect(await codeOfAsync(() => verbs.fork("whole", { from: "latest", task: "half" }))).not.toBe("none");
    });
    expect(readdirSync(place.path("outputs", "half", "checkpoints")).sort()).toEqual([ARRIVING_KEY, "journal"]);
  });

  it("[reliability R01 kin] is named by list, and left by recover", async () => {
    const place = createPlace();
    const own = { SPLASHDOWN_KEY_FILE: place.key("own.key", 1) };
    await place.with(own, async (verbs) => {
      expect((await verbs.list()).map(({ problem }) => problem?.code)).toEqual(["IMPORT_UNFINISHED"]);
      expect((await verbs.recover()).tasks.filter(({ result }) => result !== undefined)).toEqual([]);
    });
  });

  it("[reliability R01 kin] answers, shows and resumes nothing", async () => {
    const place = createPlace();
    await place.with({ SPLASHDOWN_KEY_FILE: place.key("own.key", 1) }, async (verbs) => {
      for (const act of [
        () => verbs.show("half"),
        () => verbs.resume({ task: "half" }),
        () => verbs.answer({ task: "half", answer: "yes" }),
      ])
        expect(await codeOfAsync(act)).toBe("IMPORT_UNFINISHED");
    });
  });
});
