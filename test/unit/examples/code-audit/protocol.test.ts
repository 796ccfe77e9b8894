import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { createTree, PROGRAM, runRaw, runWithChannel } from "./audit-tools.js";

const files = Object.fromEntries(Array.from({ length: 1200 }, (_value, at) => [`f${at}.md`, "x\n"]));

describe("protocol", () => {
  it("T1: works with descriptor 3 open, closed, or read by nobody, with the same answer", async () => {
    const folder = createTree(files);
    const request = { inputs: { folder }, input: { folder, milestone_files: 400 } };
    const { stdout, lines } = await runWithChannel("inventory", request);
    expect(lines.map(({ type }) => type)).toEqual([
      "milestone",
      "progress",
      "milestone",
      "progress",
      "milestone",
      "progress",
    ]);
    expect(lines.filter(({ type }) => type === "progress").map(({ fraction }) => fraction)).toEqual([0.417, 0.833, 1]);
    expect(runRaw("inventory", request)).toBe(stdout);
    for (const redirection of ["3>&-", "3>/dev/full", "3</dev/null", "3> >(exit 0)"]) {
      const shell = spawnSync("bash", ["-c", `exec "${process.execPath}" "${PROGRAM}" inventory ${redirection}`], {
        input: JSON.stringify(request),
        encoding: "utf8",
      });
      expect({ redirection, status: shell.status, same: shell.stdout === stdout }).toEqual({
        redirection,
        status: 0,
        same: true,
      });
    }
  });

  it("takes the folder from the workflow's inputs when the step names none", () => {
    const folder = createTree({ "a.js": "let a;\n" });
    expect(JSON.parse(runRaw("inventory", { inputs: { folder } })).output.totals.files).toBe(1);
  });

  it("refuses a request that is no JSON object", () => {
    for (const input of ["[]", "{", "null"]) {
      const { status, stdout } = spawnSync(process.execPath, [PROGRAM, "report"], {
        input,
        encoding: "utf8",
      });
      expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
    }
  });
});
