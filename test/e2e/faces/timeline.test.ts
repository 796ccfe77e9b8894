/** `show --timeline` and `--svg`: what the program draws of a real task. */
import { readdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { openPlace } from "../../support/command-place.js";

describe("show --timeline", () => {
  it("draws every step of a real task, and a picture where it was asked for and nowhere else", async () => {
    const place = openPlace();
    await place.run(["init", "."]);
    await place.run(["run", "workflow.yaml", "--task", "t"]);
    const drawn = await place.run(["show", "t", "--timeline", "--svg", "t.svg"]);
    expect(drawn.code).toBe(0);
    for (const step of ["gather/words", "deliver/send", "checkpoints", "decisions"])
      expect(drawn.stdout).toContain(step);
    expect(drawn.stdout).toMatch(/send +[ █]+ /);
    expect(place.read("t.svg")).toMatch(/^<svg [\s\S]*deliver\/send: completed, attempt 1[\s\S]*<\/svg>\n$/);
    expect(readdirSync(`${place.folder}/outputs/t/final`)).toEqual([
      "confidence.svg",
      "outbox.txt",
      "report.md",
      "task.svg",
    ]);
    const { json } = await place.run(["--json", "show", "t", "--timeline"]);
    expect(json<{ lanes: { spans: { status: string }[] }[] }>().lanes.flatMap(({ spans }) => spans)).toHaveLength(5);
    expect((await place.run(["show", "t", "--svg", "no/such/folder/t.svg"])).code).toBe(2);
  });
});
