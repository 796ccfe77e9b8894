/** The debug commands under the name of the design's source, however the script is called. */
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";

const SCRIPT = join(import.meta.dirname, "..", "..", "..", "scripts", "debug.sh");

/** A project whose program prints its arguments. */
function openProject(): string {
  const folder = mkdtempSync(join(tmpdir(), "splashdown debug-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const part of ["project/scripts", "project/dist/cli", "elsewhere/bin"])
    mkdirSync(join(folder, part), { recursive: true });
  copyFileSync(SCRIPT, join(folder, "project/scripts/debug.sh"));
  writeFileSync(join(folder, "project/dist/cli/main.js"), "console.log(process.argv.slice(2).join('|'))\n");
  return folder;
}

const call = (folder: string, name: string): string =>
  execFileSync("bash", ["-c", '"$0" list-checkpoints "--task=a b"', name], { cwd: folder, encoding: "utf8" }).trim();

describe("scripts/debug.sh", () => {
  const SAID = "debug|list-checkpoints|--task=a b";

  it("[source 15] is called through a symbolic link elsewhere, from any folder", () => {
    const folder = openProject();
    symlinkSync(join(folder, "project/scripts/debug.sh"), join(folder, "elsewhere/debug.sh"));
    expect(call(folder, join(folder, "elsewhere/debug.sh"))).toBe(SAID);
    expect(call(join(folder, "elsewhere"), "./debug.sh")).toBe(SAID);
  });

  it("[source 15 kin] is called through a link to a relative link, and a linked folder", () => {
    const folder = openProject();
    symlinkSync("../project/scripts/debug.sh", join(folder, "elsewhere/first"));
    symlinkSync("../first", join(folder, "elsewhere/bin/second"));
    symlinkSync("project/scripts", join(folder, "linked"));
    expect(call(join(folder, "elsewhere"), "bin/second")).toBe(SAID);
    expect(call(folder, "linked/debug.sh")).toBe(SAID);
  });

  it("[source 15 kin] is called without a link, from its own folder and another", () => {
    const folder = openProject();
    expect(call(join(folder, "project/scripts"), "./debug.sh")).toBe(SAID);
    expect(call(folder, "project/scripts/debug.sh")).toBe(SAID);
  });

  it("[source 15 kin] says so where nothing is built", () => {
    const folder = openProject();
    rmSync(join(folder, "project/dist"), { recursive: true });
    expect(() => call(folder, "project/scripts/debug.sh")).toThrow("not built yet");
  });
});
