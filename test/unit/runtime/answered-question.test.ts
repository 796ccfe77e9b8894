import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createEnvironment } from "../../../src/runtime/platform/environment.js";
import { openSplashdown } from "../../../src/runtime/open.js";
import { withFolder } from "../../support/store-places.js";

const WORKFLOW = {
  workflow: { name: "asking" },
  phases: [
    {
      name: "look",
      specialists: [
        { name: "guess", command: ["node", "-e", `console.log('{"output":1,"confidence":0.1}')`], effects: "none" },
      ],
    },
  ],
};

describe("a question that was answered while nobody owned the task", () => {
  it("is shown as answered, by whom and how, before the task goes on", async () => {
    await withFolder(async (root) => {
      const workflow = join(root, "workflow.json");
      await writeFile(workflow, JSON.stringify(WORKFLOW));
      const variables = {
        PATH: process.env["PATH"] ?? "",
        HOME: root,
        USER: "ada",
        SPLASHDOWN_CONFIG_DIR: join(root, "config"),
      };
      const splashdown = await openSplashdown({ environment: createEnvironment(variables, root) });
      await splashdown.keys.init({ ifMissing: true });
      const waiting = await splashdown.run({ workflow, task: "t" });
      expect(waiting).toMatchObject({ status: "waiting", exit_status: 20 });
      expect(await splashdown.show("t")).toMatchObject({ open_questions: 1, questions: [{ status: "open" }] });
      await splashdown.answer({ task: "t", question: waiting.questions[0]?.id ?? "", answer: "proceed" });
      expect(await splashdown.show("t")).toMatchObject({
        open_questions: 0,
        questions: [{ status: "answered", answer: "proceed", answered_by: "ada" }],
      });
      expect(await splashdown.resume({ task: "t" })).toMatchObject({ status: "done", exit_status: 0 });
      await splashdown.close();
    });
  });
});
