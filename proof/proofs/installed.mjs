/** Packages that a proof installs for itself, so that whoever installs the project does not. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { reasonOf } from "./failure-reason.mjs";

const INSTALL_MS_MAX = 600_000;
const FLAGS = ["--no-save", "--no-package-lock", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];

/** Why they cannot be had; `undefined` when the packages of the folder's manifest are there, in its versions. */
export function installPackages(folder) {
  const { dependencies } = readJson(join(folder, "package.json"));
  const isThere = ([name, version]) => {
    const manifest = join(folder, "node_modules", name, "package.json");
    return existsSync(manifest) && readJson(manifest).version === version;
  };
  if (Object.entries(dependencies).every(isThere)) return undefined;
  // What a package wants beside it is the project's own.
  return installInto(folder, "--legacy-peer-deps");
}

/** Why npm could not do it; `undefined` when it did. `words`: flags and packages; without packages those of the manifest. */
export function installInto(folder, ...words) {
  try {
    execFileSync("npm", ["install", ...FLAGS, ...words], {
      cwd: folder,
      stdio: ["ignore", "ignore", "pipe"],
      timeout: INSTALL_MS_MAX,
    });
    return undefined;
  } catch (error) {
    return reasonOf(error);
  }
}

function readJson(file) {
  return JSON.parse(readFileSync(file, "utf8"));
}
