import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { reasonOf } from "../../../proof/proofs/failure-reason.mjs";

function failureOf(script: string): unknown {
  try {
    execFileSync("sh", ["-c", script], { stdio: ["ignore", "ignore", "pipe"] });
  } catch (error) {
    return reasonOf(error);
  }
  return "it did not fail";
}

describe("the reason of a failed program", () => {
  it("is the first line that it said, else what became of it, and never empty", () => {
    expect(failureOf("echo; echo npm error 404 >&2; echo more >&2; exit 1")).toBe("npm error 404");
    expect(failureOf("exit 3")).toMatch(/^Command failed: sh/);
    expect(reasonOf(new Error(""))).toBe("it says no reason");
  });
});
