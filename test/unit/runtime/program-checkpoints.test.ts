/** The calls of the seeds through the library: a program with agents of its own keeps sealed checkpoints of them. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { openSplashdown, type Splashdown } from "../../../src/index.js";
import { codeOfAsync } from "../../support/error-code.js";
import { createOwnEnvironment } from "../../support/own-environment.js";

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "splashdown-program-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function open(folder: string): Promise<Splashdown> {
  const splashdown = await openSplashdown({ store: "file:outputs", environment: createOwnEnvironment(folder) });
  onTestFinished(() => splashdown.close());
  return splashdown;
}

describe("checkpoints.open", () => {
  it("keeps agents and decisions over processes, with every call of the seeds", async () => {
    const folder = makeFolder();
    const first = await open(folder);
    const checkpoints = await first.checkpoints.open("mine");
    await checkpoints.startPhase(1);
    await checkpoints.updateAgentState("mercury_1", { status: "active", confidence: 0.73, state: { seen: 3 } });
    await checkpoints.recordDecision({
      agent: "atlas",
      type: "spawn",
      description: "one more",
      rationale: "0.73 < 0.75",
    });
    const saved = await checkpoints.createCheckpoint("copy.json", { stage: "one" });
    expect(readFileSync(join(folder, "copy.json"), "utf8").split("\n")[1]).toContain(saved.checkpoint_id);
    await checkpoints.startPhase(2);
    await checkpoints.updateAgentState("mercury_1", { status: "completed" });
    expect(await checkpoints.list()).toHaveLength(3);
    await checkpoints.close();

    const second = await open(folder);
    expect(await second.list()).toMatchObject([{ task: "mine", status: "paused" }]);
    expect((await second.checkpoints.list("mine")).map(({ phase }) => phase)).toEqual([1, 1, 2]);
    const again = await second.checkpoints.open("mine");
    expect(await again.loadLatest()).toMatchObject({ phase: 2, decisions: [{ description: "one more" }] });
    expect(await again.load("phase1")).toMatchObject({ metadata: { stage: "one" } });
    const back = await again.resumeFromPhase(1);
    expect(back.agents["mercury_1"]).toMatchObject({ status: "active", confidence: 0.73, state: { seen: 3 } });
    expect(await again.delete("1")).toBe(true);
    expect(await again.prune()).toEqual([]);
    await again.close();
  });

  it("has one owner at a time, and is left alone by resume and recover", async () => {
    const folder = makeFolder();
    const first = await open(folder);
    const checkpoints = await first.checkpoints.open("mine");
    await checkpoints.startPhase(1);
    const second = await open(folder);
    expect(await codeOfAsync(() => second.checkpoints.open("mine"))).toBe("OWNER_ALIVE");
    await checkpoints.close();
    expect(await codeOfAsync(() => second.resume({ task: "mine" }))).toBe("USAGE_INVALID");
    expect((await second.recover()).tasks).toMatchObject([{ task: "mine", action: "left" }]);
    expect((await second.show("mine")).status).toBe("paused");
  });

  it("refuses the task of a workflow, which stays as it is", async () => {
    const splashdown = await open(makeFolder());
    await splashdown.run({ workflow: { workflow: { name: "w" }, steps: [{ name: "a", value: 1 }] }, task: "w" });
    expect(await codeOfAsync(() => splashdown.checkpoints.open("w"))).toBe("USAGE_INVALID");
    expect((await splashdown.show("w")).status).toBe("done");
  });
});
