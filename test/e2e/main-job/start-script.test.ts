import { chmod, copyFile, mkdir, realpath, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { PROJECT_FOLDER, runCommand } from "../../support/built-program.js";
import { withFolder } from "../../support/store-places.js";

/** A project that is installed and built already; its program prints what it was called with. */
async function withProject(
  act: (root: string, start: (cwd: string, ...args: string[]) => ReturnType<typeof runCommand>) => Promise<void>,
) {
  await withFolder(async (folder) => {
    const root = join(await realpath(folder), "project");
    for (const name of ["scripts", "src", "schemas", "node_modules", "dist/cli"])
      await mkdir(join(root, name), { recursive: true });
    await copyFile(join(PROJECT_FOLDER, "scripts/start"), join(root, "scripts/start"));
    for (const name of ["package-lock.json", "tsconfig.json", "scripts/build.mjs"]) {
      await writeFile(join(root, name), "{}");
      await utimes(join(root, name), 1, 1);
    }
    await writeFile(join(root, "node_modules/.package-lock.json"), "{}");
    await writeFile(
      join(root, "dist/cli/main.js"),
      `console.log(JSON.stringify([process.env.HOME, ...process.argv.slice(2)]));`,
    );
    await chmod(join(root, "scripts/start"), 0o755);
    const start = (cwd: string, ...args: string[]) =>
      runCommand(args, { cwd, program: join(root, "scripts/start"), env: { HOME: folder } });
    await act(root, start);
  });
}

const lastLine = (text: string): unknown => JSON.parse(text.trim().split("\n").at(-1) ?? "");

describe("scripts/start", () => {
  it("audits the project itself, or a folder relative to where the user typed, and hands on flags", async () => {
    await withProject(async (root, start) => {
      const run = ["run", "examples/code-audit/workflow.yaml", "--input"];
      const home = join(root, "..");
      expect(lastLine((await start("/", "--task", "a")).stdout)).toEqual([
        home,
        ...run,
        `folder=${root}`,
        "--task",
        "a",
      ]);
      expect(lastLine((await start(root, "src")).stdout)).toEqual([home, ...run, `folder=${join(root, "src")}`]);
      expect(lastLine((await start(join(root, "dist"), "cli", "--json")).stdout)).toEqual([
        home,
        ...run,
        `folder=${join(root, "dist/cli")}`,
        "--json",
      ]);
    });
  });

  it("ends with 2 for a folder that is not there", async () => {
    await withProject(async (root, start) => {
      const { code, stdout, stderr } = await start(root, "nowhere");
      expect({ code, stdout, stderr }).toEqual({
        code: 2,
        stdout: "",
        stderr: "scripts/start: there is no folder nowhere that may be entered\n",
      });
    });
  });

  it("keeps key and state in the project when no home can be written to", async () => {
    await withProject(async (root) => {
      const program = join(root, "scripts/start");
      const { stdout, stderr } = await runCommand([], { cwd: root, program, env: { HOME: join(root, "nowhere") } });
      expect(lastLine(stdout)).toContain(join(root, ".splashdown"));
      expect(stderr).toContain(`no home folder can be written to; key and state are kept in ${root}/.splashdown`);
    });
  });
});
