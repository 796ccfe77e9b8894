import { describe, expect, it } from "vitest";
import { childEnvironmentOf, createEnvironment } from "../../../src/runtime/platform/environment.js";

const inherited = (all: Record<string, string>) =>
  Object.keys(childEnvironmentOf(createEnvironment({ PATH: "/bin", ...all }, "/work"), ["TEAM_KEY"])).sort();

describe("childEnvironmentOf", () => {
  it("A5: leaves out what holds a key of ours", () => {
    expect(inherited({ SPLASHDOWN_KEY: "x", SPLASHDOWN_PASSPHRASE: "x", TEAM_KEY: "x", TEAM: "x" })).toEqual([
      "PATH",
      "TEAM",
    ]);
  });

  it("A5: leaves out an address of a database with a password in it, and no other address", () => {
    expect(inherited({ SPLASHDOWN_STORE: "postgres://me:secret@host/db" })).toEqual(["PATH"]);
    expect(inherited({ WORKFLOW_CHECKPOINT_DSN: "postgresql://host/db?password=secret" })).toEqual(["PATH"]);
    expect(inherited({ SPLASHDOWN_STORE: "postgres://me@host/db" })).toEqual(["PATH", "SPLASHDOWN_STORE"]);
    expect(inherited({ SPLASHDOWN_STORE: "file:outputs" })).toEqual(["PATH", "SPLASHDOWN_STORE"]);
  });
});
