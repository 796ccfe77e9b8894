/** A key variable of which a part is missing is said to hold no key by every verb, and no verb takes it for a passphrase. */
import { describe, expect, it, onTestFinished } from "vitest";
import type { Splashdown } from "../../../src/runtime/contract.js";
import { createEnvironment } from "../../../src/runtime/platform/environment.js";
import { openSplashdown } from "../../../src/runtime/open.js";
import { openPlace, type CommandPlace } from "../../support/command-place.js";
import { refusalOf } from "../../support/error-code.js";

const WORKFLOW = "workflow: {name: seven}\nsteps: [{name: a, type: set, value: 7}]\n";
const PROBLEM =
  "the variable $SPLASHDOWN_KEY does not hold a key: it has 40 characters and is not 32 bytes as base64 (44 characters) or hex (64); a passphrase is for SPLASHDOWN_PASSPHRASE";

async function openWith(place: CommandPlace, key: string): Promise<Splashdown> {
  const environment = createEnvironment({ ...place.env, SPLASHDOWN_KEY: key }, place.folder);
  const splashdown = await openSplashdown({ store: "file:outputs", environment });
  onTestFinished(() => splashdown.close());
  return splashdown;
}

/** A task that was made with the whole key, and the verbs with 40 of its 44 characters. */
async function openCut(): Promise<{ readonly splashdown: Splashdown; readonly workflow: string }> {
  const place = openPlace();
  const workflow = place.write("seven.yaml", WORKFLOW);
  const key = place.env["SPLASHDOWN_KEY"] ?? "";
  const before = await openWith(place, key);
  expect(await before.run({ workflow, task: "t" })).toMatchObject({ status: "done" });
  return { splashdown: await openWith(place, key.slice(0, 40)), workflow };
}

describe("40 of the 44 characters of a key", () => {
  it("[first-use F15 kin] are no key at hand for doctor", async () => {
    const { splashdown } = await openCut();
    const { checks } = await splashdown.doctor();
    expect(checks.find(({ name }) => name === "keys")).toMatchObject({ ok: false, text: PROBLEM });
  });

  it("[first-use F15 kin] are no key at hand for keys show", async () => {
    const { splashdown } = await openCut();
    expect(await splashdown.keys.show()).toMatchObject({ sources: [{ at_hand: false, problem: PROBLEM }] });
  });

  it("[first-use F15 kin] seal no new task, and the old one says which variable is wrong", async () => {
    const { splashdown, workflow } = await openCut();
    expect(await refusalOf(() => splashdown.run({ workflow, task: "u" }))).toMatchObject({
      code: "KEY_SOURCE_INVALID",
      message: PROBLEM,
    });
    expect(await refusalOf(() => splashdown.show("t"))).toMatchObject({
      code: "KEY_SOURCE_INVALID",
      message: `task t: ${PROBLEM}`,
    });
    expect((await splashdown.list()).map(({ task }) => task)).toEqual(["t"]);
  });
});
