/** What `init` writes is a workflow that a stranger runs, kills and runs again. */
import { readdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { openPlace } from "../../support/command-place.js";
import { until } from "../../support/real-clock.js";

describe("init", () => {
  it("writes a workflow that validates, draws and runs as it is, and settings that are accepted", async () => {
    const place = openPlace();
    const { code, json } = await place.run(["--json", "init", "demo"]);
    expect(code).toBe(0);
    expect(json<{ files: string[]; command: string }>()).toMatchObject({
      files: ["splashdown.config.yaml", "tools/gather.mjs", "tools/report.mjs", "tools/send.mjs", "workflow.yaml"],
      command: "splashdown run demo/workflow.yaml",
    });
    expect((await place.run(["validate", "demo/workflow.yaml"])).code).toBe(0);
    expect((await place.run(["graph", "demo/workflow.yaml"])).stdout).toContain("effects: external");
    const config = ["--config", "demo/splashdown.config.yaml"];
    const ran = await place.run(["--json", ...config, "run", "demo/workflow.yaml", "--task", "first"]);
    expect(ran.code).toBe(0);
    expect(ran.json()).toMatchObject({ status: "done", output: { sent: true, words: 4 } });
    expect(place.ledger("outputs/first/final/outbox.txt")).toHaveLength(1);
    expect(place.read("outputs/first/final/report.md")).toContain("4 words");
  });

  it("overwrites nothing: with one file in the way it writes none", async () => {
    const place = openPlace();
    place.write("mine/tools/send.mjs", "mine");
    const refused = await place.run(["init", "mine"]);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain("tools/send.mjs");
    expect(readdirSync(`${place.folder}/mine`)).toEqual(["tools"]);
    expect(place.read("mine/tools/send.mjs")).toBe("mine");
  });

  it("sends one letter although it was killed while it sent", async () => {
    const place = openPlace();
    await place.run(["init", "."]);
    place.write(
      "tools/send.mjs",
      `${place.read("tools/send.mjs")}\nif (process.argv.length === 2) await new Promise((done) => setTimeout(done, 60_000));\n`,
    );
    const killed = place.start(["run", "workflow.yaml", "--task", "first"]);
    await until("the letter was sent", () => place.ledger("outputs/first/final/outbox.txt").length === 1);
    killed.child.kill("SIGKILL");
    await killed.done;
    const again = await place.run(["--json", "run", "workflow.yaml", "--task", "first"]);
    expect(again.json()).toMatchObject({ status: "done", how: "taken_up" });
    expect(place.ledger("outputs/first/final/outbox.txt")).toHaveLength(1);

    const { json } = await place.run(["--json", "metrics", "first"]);
    const metrics = json<{ checkpoint_size: { count: number }; storage_usage: { total: number; journal: number } }>();
    expect(metrics).toMatchObject({
      recovery_success_rate: { attempts: 1, succeeded: 1, rate: 1 },
      checkpoint_write_duration: { unit: "ms" },
      passed_over: [],
    });
    const files = readdirSync(`${place.folder}/outputs/first/checkpoints`).filter((name) =>
      name.startsWith("checkpoint_"),
    );
    expect(metrics.checkpoint_size.count).toBeGreaterThanOrEqual(files.length);
    expect(metrics.storage_usage.total).toBeGreaterThan(metrics.storage_usage.journal);
    expect((await place.run(["metrics", "nothing"])).code).toBe(10);
  });
});
