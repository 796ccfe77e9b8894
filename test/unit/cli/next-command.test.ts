import { describe, expect, it } from "vitest";
import { repeatFlags, repeatFlagsIn } from "../../../src/cli/next-command.js";

describe("the command to type next", () => {
  it("names the store and the settings that this one was given, line by line", () => {
    const options = { store: "file:kept here", config: "other.yaml" };
    expect(repeatFlags("splashdown show t\nexport X=1\nsplashdown resume t", options)).toBe(
      "splashdown --store 'file:kept here' --config other.yaml show t\nexport X=1\n" +
        "splashdown --store 'file:kept here' --config other.yaml resume t",
    );
    expect(repeatFlags("splashdown show t", {})).toBe("splashdown show t");
  });

  it("leaves help, other stores, what is done elsewhere and other texts as they are, and shows no password", () => {
    for (const text of [
      "splashdown fork --help",
      "splashdown checkpoints import t.zip",
      "splashdown --store sqlite:a.db show t",
      "then: splashdown show t",
      "import it again",
    ])
      expect(repeatFlags(text, { store: "file:x" })).toBe(text);
    expect(repeatFlags("splashdown list", { store: "postgres://ada:secret@h/d" })).toBe("splashdown list");
  });

  it("is found in a view", () => {
    expect(repeatFlagsIn({ task: "t", next: "splashdown show t" }, { store: "file:x" })).toEqual({
      task: "t",
      next: "splashdown --store file:x show t",
    });
    const plain = { task: "t" };
    expect(repeatFlagsIn(plain, { store: "file:x" })).toBe(plain);
    expect(repeatFlagsIn(undefined, { store: "file:x" })).toBeUndefined();
  });
});
