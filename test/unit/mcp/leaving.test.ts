/** When the server is asked to leave, nothing of it stays behind: no call goes on waiting. */
import { describe, expect, it } from "vitest";
import { createEnvironment } from "../../../src/runtime/platform/environment.js";
import { openSplashdown } from "../../../src/runtime/open.js";
import { FakeClock } from "../../support/fake-clock.js";
import { openTalk } from "../../support/mcp-talk.js";
import { until } from "../../support/real-clock.js";
import { openFolder } from "../../support/temporary-folder.js";

async function openWaiting() {
  const folder = openFolder();
  const environment = createEnvironment(
    { HOME: folder, SPLASHDOWN_KEY: Buffer.alloc(32, 7).toString("base64") },
    folder,
  );
  const splashdown = await openSplashdown({ store: "memory:", environment });
  let release: () => void = () => undefined;
  const held = new Promise<null>((resolve) => (release = () => resolve(null)));
  const workflow = { workflow: { name: "held" }, steps: [{ name: "hold", effects: "none", function: () => held }] };
  const run = splashdown.run({ workflow: workflow, task: "t" });
  await until("it runs", async () => (await splashdown.list())[0]?.status === "running");
  const clock = new FakeClock();
  const talk = await openTalk(folder, { splashdown, clock });
  await talk.greet();
  const wait = { name: "wait_for_task", arguments: { task: "t", seconds: 40 } };
  talk.sendMessage({ id: 99, method: "tools/call", params: wait });
  await until("the call waits", () => clock.pendingCount > 0);
  const end = async (): Promise<void> => {
    release();
    await run;
  };
  return { talk, clock, end };
}

describe("a call that waits", () => {
  it("[reliability M01] ends when the server is asked to leave", async () => {
    const { talk, clock, end } = await openWaiting();
    talk.stop();
    await talk.ended;
    await until("nothing waits", () => clock.pendingCount === 0);
    expect(talk.messages().some(({ id, result }) => id === 99 && result !== undefined)).toBe(false);
    await end();
  });

  it("[reliability M01] ends when the client has hung up", async () => {
    const { talk, clock, end } = await openWaiting();
    talk.hangUp();
    await talk.ended;
    await until("nothing waits", () => clock.pendingCount === 0);
    expect(talk.messages().some(({ id, result }) => id === 99 && result !== undefined)).toBe(false);
    await end();
  });
});
