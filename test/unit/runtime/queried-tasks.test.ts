/** What a person learns of tasks by SQL, without a key: workflow, status, phase and the step under way, and no value. */
import { join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import { describe, expect, it } from "vitest";
import { openTypist, type Typist } from "../../support/typed-again.js";

const SECRET = "a value that nobody may read";
const workflowOf = (name: string, more: object = {}): object => ({
  workflow: { name, entry_point: "draft" },
  ...more,
  agents: [
    { name: "draft", type: "set", value: SECRET, routes: [{ to: "review" }] },
    {
      name: "review",
      type: "human_gate",
      prompt: "Send it?",
      options: [{ label: "Yes", value: "yes", route: "$end" }],
    },
  ],
});

function query({ folder }: Typist, sql: string): unknown[] {
  const database = new DatabaseSync(join(folder, "outputs", "tasks.db"));
  try {
    return database
      .prepare(sql)
      .all()
      .map((row) => ({ ...(row as object) }));
  } finally {
    database.close();
  }
}

describe("a database with tasks", () => {
  it("[source 000 kin] is asked by workflow: what waits, where, and what is done", async () => {
    const typist = await openTypist("sqlite");
    for (const [name, task] of [
      ["report", "t1"],
      ["report", "t2"],
      ["other", "t3"],
    ] as const)
      await typist.type(workflowOf(name), { task });
    await typist.splashdown.resume({ task: "t2", answers: { review: "yes" } });
    const ofReport =
      "SELECT task, status, phase, current_agent FROM splashdown_task_list WHERE workflow_name = 'report' ORDER BY task";
    expect(query(typist, ofReport)).toEqual([
      { task: "t1", status: "paused", phase: 0, current_agent: "review" },
      { task: "t2", status: "completed", phase: 0, current_agent: "review" },
    ]);
    const perWorkflow =
      "SELECT workflow_name, COUNT(DISTINCT task) AS n FROM splashdown_checkpoints GROUP BY workflow_name ORDER BY 1";
    expect(query(typist, perWorkflow)).toEqual([
      { workflow_name: "other", n: 1 },
      { workflow_name: "report", n: 2 },
    ]);
    const layers =
      "SELECT DISTINCT workflow_name, status FROM splashdown_workflow_checkpoints WHERE workflow_name = 'other'";
    expect(query(typist, layers)).toContainEqual({ workflow_name: "other", status: "paused" });
  });

  it("[source 000 kin] tells no value, and with metadata: minimal no name either", async () => {
    const typist = await openTypist("sqlite");
    await typist.type(workflowOf("report", { checkpoint_config: { metadata: "minimal" } }), { task: "t1" });
    const clear = "SELECT task, workflow_name, status, current_agent FROM splashdown_task_list";
    expect(query(typist, clear)).toEqual([{ task: "t1", workflow_name: null, status: null, current_agent: null }]);
    const all = JSON.stringify(query(typist, "SELECT header FROM splashdown_objects WHERE header IS NOT NULL"));
    expect(all).toContain("checkpoint_id");
    expect(all).not.toContain(SECRET);
  });
});
