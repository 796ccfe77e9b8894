/** What a stranger learns by asking: version, help, and what a mistyped flag answers. */
import { describe, expect, it } from "vitest";
import { openPlace } from "../../support/command-place.js";

describe("splashdown without a task", () => {
  it("prints its version on stdout and nothing else", async () => {
    const { code, stdout, stderr } = await openPlace().run(["--version"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});
