/** What `npm pack` makes is enough: README and the first chapter are followed with it, and its pages lie in it. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { PROJECT_FOLDER } from "../../support/built-program.js";
import { findLinks } from "../../support/document-pages.js";
import { isShown, PagePlace } from "../../support/page-place.js";
import { openFolder } from "../../support/temporary-folder.js";

/** The package as it is installed; what it depends on is that of this project. */
function installPacked(): string {
  const folder = openFolder();
  const env = { ...process.env, npm_config_cache: join(folder, "cache"), HOME: folder };
  const args = ["pack", "--ignore-scripts", "--silent", "--pack-destination", folder];
  const name = execFileSync("npm", args, { cwd: PROJECT_FOLDER, env, encoding: "utf8" }).trim();
  execFileSync("tar", ["-xzf", join(folder, name), "-C", folder]);
  symlinkSync(join(PROJECT_FOLDER, "node_modules"), join(folder, "package", "node_modules"));
  return join(folder, "package");
}

describe("the packed package", () => {
  it("does what README and the first chapter show, explains words, and holds every page that README leads to", async () => {
    const installed = installPacked();
    for (const page of ["README.md", "docs/guide/1-first-workflow.md", "docs/reference.md"]) {
      const place = new PagePlace({}, installed);
      onTestFinished(() => place.remove());
      const results = await place.follow(readFileSync(join(installed, page), "utf8"));
      expect(results.length).toBeGreaterThan(0);
      expect(results.flatMap(({ commands }) => commands.filter((typed) => !isShown(typed)))).toEqual([]);
    }
    const links = findLinks(readFileSync(join(installed, "README.md"), "utf8"));
    expect(links.length).toBeGreaterThan(15);
    const files = links.map((link) => link.replace(/#.*/, "")).filter((link) => !link.startsWith("http"));
    expect(files.filter((file) => !existsSync(join(installed, file)))).toEqual([]);
    for (const page of ["workflow", "settings", "commands", "errors", "library"])
      expect(existsSync(join(installed, "docs/reference", `${page}.md`)), page).toBe(true);
  });
});
