/** `graph`: a workflow file or a task's definition as text and as data. */
import { describe, expect, it } from "vitest";
import type { GraphFrame, GraphView, TaskView } from "../../../src/runtime/contract.js";
import { openKeyboard } from "../../support/typed-command.js";
import { expectView } from "../../support/view-schemas.js";

const WORKFLOW = `workflow: {name: report}
phases:
  - name: gather
    specialists:
      - {name: a, type: set, value: 1}
      - {name: b, type: set, value: 2, depends_on: [a]}
  - name: write
    specialists: [{name: author, type: set, value: 3}]
`;

const pathsOf = (frame: GraphFrame): string[] => [
  ...frame.boxes.flatMap(({ path }) => (path === undefined ? [] : [path])),
  ...frame.frames.flatMap(pathsOf),
];

describe("graph", () => {
  it("of a file and of its task is the same drawing, and its boxes have the paths of the steps that ran", async () => {
    const { type, write, splashdown } = await openKeyboard();
    const file = write("report.yaml", WORKFLOW);
    await type(["run", file, "--task", "t"]);
    write("report.yaml", WORKFLOW.replace("author", "somebody"));
    const ofTask = JSON.parse((await type(["graph", "--task", "t", "--json"])).out) as GraphView;
    expectView("graph", ofTask);
    expect(ofTask).toMatchObject({ task: "t", workflow: "report", format: "mermaid" });
    const { steps }: TaskView = await splashdown.show("t");
    expect(pathsOf(ofTask.root).toSorted()).toEqual(steps.map(({ path }) => path).toSorted());
    write("report.yaml", WORKFLOW);
    const ofFile = JSON.parse((await type(["graph", file, "--json"])).out) as GraphView;
    expectView("graph", ofFile);
    expect(ofFile).toMatchObject({ file, root: ofTask.root, text: ofTask.text });
    expect((await type(["graph", "--task", "t", "--dot"])).out).toMatch(/^digraph /);
  });

  it.each([[["graph"]], [["graph", "w.yaml", "--task", "t"]]])("refuses %j: one thing is drawn", async (words) => {
    const { type } = await openKeyboard();
    await expect(type(words)).rejects.toMatchObject({ code: "USAGE_INVALID" });
  });

  it("names a task that is not there", async () => {
    const { type } = await openKeyboard();
    await expect(type(["graph", "--task", "nobody"])).rejects.toMatchObject({ code: "TASK_NOT_FOUND" });
  });
});
