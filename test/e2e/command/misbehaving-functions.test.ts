/** Functions that end, silence or fill the process, in the built program. */
import { openSync } from "node:fs";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { PROGRAM } from "../../support/built-program.js";
import { CommandPlace } from "../../support/command-place.js";

function place(code: string, more = ""): CommandPlace {
  const made = new CommandPlace();
  made.write("f.mjs", code);
  made.write("flow.yaml", `workflow: { name: flow }\nsteps: [ { name: work, function: ./f.mjs#work${more} } ]\n`);
  return made;
}

describe("a function of a file", () => {
  it.each([
    ["[public I kin] process.exit(0)", "export const work = () => process.exit(0);", "called process.exit(0)"],
    [
      "[public I kin] process.exit(0) while it is loaded",
      "process.exit(0);\nexport const work = () => 1;",
      "process.exit(0)",
    ],
    [
      "[public I kin] nothing to wait for",
      "export const work = () => new Promise(() => undefined);",
      "never comes to an end",
    ],
    [
      "[public I kin] a loose rejection",
      'export const work = () => { Promise.reject(new Error("nobody waits")); return new Promise(() => undefined); };',
      "nobody waits",
    ],
  ])("fails its step by name and the run with 4: %s", async (_title, code, said) => {
    const { code: status, stderr } = await place(code).run(["run", "flow.yaml", "--task", "t"]);
    expect(stderr).toContain(said);
    expect(stderr).toContain("main/work");
    expect(status).toBe(4);
  });

  it("[public O] that writes to the console leaves stdout to the one document of --json", async () => {
    const code = `console.log("while loading");
import { format } from "node:util";
export const work = () => { console.log("hello"); console.table([1]); process.stdout.write("there\\n"); return format("%s", "done"); };`;
    const result = await place(code).run(["run", "flow.yaml", "--task", "t", "--json"]);
    expect(result.json()).toMatchObject({ status: "done" });
    expect(result.stderr).toContain("while loading");
    expect(result.stderr).toContain("hello");
    expect(result.stderr).toContain("there");
  });

  it("[public B kin] goes the same way after a kill: the card is not charged a second time", async () => {
    const made = place(
      `import fs from "node:fs";
const led = (text) => fs.appendFileSync("led.txt", text + "\\n");
export async function work(ctx) {
  let how;
  try { how = await ctx.step("card", async () => { led("card"); if (!fs.existsSync("works")) throw new Error("declined"); return "by card"; }); }
  catch { how = await ctx.step("invoice", async () => { led("invoice"); return "by invoice"; }); }
  if (!fs.existsSync("works")) process.kill(process.pid, "SIGKILL");
  return { how };
}`,
      ", effects: none",
    );
    await made.run(["run", "flow.yaml", "--task", "t"]);
    made.write("works", "");
    const result = await made.run(["resume", "t", "--json"]);
    expect(JSON.stringify(result.json())).toContain("by invoice");
    expect(made.ledger("led.txt")).toEqual(["card", "invoice"]);
  });
});

describe("an output that cannot be written", () => {
  it.runIf(existsSync("/dev/full"))("[public N] is no success", async () => {
    const made = new CommandPlace();
    const child = spawn(process.execPath, [PROGRAM, "list", "--json"], {
      cwd: made.folder,
      env: { PATH: process.env["PATH"] ?? "", ...made.env },
      stdio: ["ignore", openSync("/dev/full", "w"), "pipe"],
    });
    let said = "";
    child.stderr?.on("data", (chunk: Buffer) => (said += chunk.toString("utf8")));
    expect(await once(child, "close")).toEqual([1, null]);
    expect(said).toContain("the output could not be written");
  });

  it("[public N kin] to a pipe that nobody reads any more is one", async () => {
    const made = new CommandPlace();
    const script = `"$@" --help | true; exit "\${PIPESTATUS[0]}"`;
    const { code } = await made.run(["-c", script, "bash", process.execPath, PROGRAM], { program: "bash" });
    expect(code).toBe(0);
  });
});
