/** `checkpoints show --values`: what stood there to be read, as text and as a view; without the flag nothing of it. */
import { describe, expect, it } from "vitest";
import { openKeyboard } from "../../support/typed-command.js";
import { expectView } from "../../support/view-schemas.js";

const WORKFLOW = `workflow: {name: kept, input: {item: {type: string, default: tea}}}
phases:
  - name: look
    specialists: [{name: price, type: set, value: 3}]
  - name: write
    specialists: [{name: note, type: set, value: "three euros"}]
`;

describe("checkpoints show --values", () => {
  it("tells the values of that point, and none that came later", async () => {
    const { type, write, splashdown } = await openKeyboard();
    await type(["run", write("w.yaml", WORKFLOW), "--task", "t"]);
    const early = await type(["checkpoints", "show", "phase1", "--task", "t", "--values"]);
    expect(early.out).toContain("\ninput item\n  tea\n");
    expect(early.out).toContain("\noutput main/look/price\n  3\n");
    expect(early.out).not.toContain("three euros");
    const late = await type(["checkpoints", "show", "latest", "--task", "t", "--values"]);
    expect(late.out).toContain("\noutput main/write/note\n  three euros\n");
    expect((await type(["checkpoints", "show", "latest", "--task", "t"])).out).not.toContain("three euros");
    const view = await splashdown.checkpoints.show("t:latest", { values: true });
    expectView("checkpoint", view);
    expect(view["values"]).toMatchObject({ inputs: { item: "tea" }, outputs: { "main/look/price": 3 } });
  });
});
