/** What the guide gives to cron and systemd is read by systemd, and typed as cron would. */
import { execFileSync, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readPage } from "../../support/document-pages.js";
import { openPlace } from "../../support/command-place.js";
import { PROGRAM } from "../../support/built-program.js";
import { openFolder } from "../../support/temporary-folder.js";

const PAGE = readPage("docs/guide/6-running-for-days.md");
const hasSystemd = spawnSync("systemd-analyze", ["--version"]).status === 0;

/** The units of the page by file name; the command and its folder are those of this machine. */
function readUnits(): ReadonlyMap<string, string> {
  const blocks = [...PAGE.matchAll(/```ini\n# \/etc\/systemd\/system\/(\S+)\n([^]*?)```/g)];
  const here = (text: string): string =>
    text
      .replaceAll("/usr/bin/splashdown", process.execPath)
      .replaceAll("/srv/jobs", "/")
      .replace("User=jobs", "User=root");
  return new Map(blocks.map(([, name = "", text = ""]) => [name, here(text)]));
}

/** What systemd says of units; empty where it finds nothing. */
function verify(units: ReadonlyMap<string, string>): string {
  const folder = openFolder();
  for (const [name, text] of units) writeFileSync(join(folder, name), text);
  const files = [...units.keys()].map((name) => join(folder, name));
  const { stdout, stderr } = spawnSync("systemd-analyze", ["verify", "--man=no", ...files], { encoding: "utf8" });
  return `${stdout}${stderr}`
    .split("\n")
    .filter((line) => line.includes(folder))
    .join("\n");
}

describe("the units of the guide", () => {
  it.skipIf(!hasSystemd)("are found right by systemd, which says what is wrong", () => {
    const units = readUnits();
    expect([...units.keys()]).toEqual(["splashdown-recover.service", "splashdown-recover.timer"]);
    expect(verify(units)).toBe("");
    const timer = units.get("splashdown-recover.timer") ?? "";
    expect(verify(new Map([...units, ["splashdown-recover.timer", timer.replace("OnBootSec", "OnBotSec")]]))).toContain(
      "OnBotSec",
    );
  });

  it("have a line for cron whose command works as cron types it", () => {
    const lines = [...PAGE.matchAll(/^(?:\S+ +){5}(cd .*)$/gm)].map(([, line = ""]) => line);
    expect(lines).toHaveLength(2);
    const place = openPlace();
    place.write(
      "daily.yaml",
      "workflow: { name: daily, input: { day: { type: string } } }\nsteps: [{ name: a, value: '{{ workflow.input.day }}' }]\n",
    );
    place.write("bin/splashdown", `#!/bin/sh\nexec "${process.execPath}" "${PROGRAM}" "$@"\n`);
    for (const line of lines) {
      const typed = line.replaceAll("\\%", "%").replace("/srv/jobs", place.folder);
      const env = { PATH: `${join(place.folder, "bin")}:/usr/bin:/bin`, HOME: place.folder };
      execFileSync("chmod", ["+x", join(place.folder, "bin/splashdown")]);
      const ended = spawnSync("sh", ["-c", typed], { env, encoding: "utf8" });
      expect([typed, ended.status]).toEqual([typed, 0]);
      if (typed.includes("daily.yaml")) expect(ended.stdout).toMatch(/"a": "\d{4}-\d\d-\d\d"/);
    }
  });
});
