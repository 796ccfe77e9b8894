/** Files that come with this package: schemas, examples, its own package.json. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { JsonObject } from "./json.js";

let root: string | undefined;

/** The package's folder: the nearest one above this file that holds a package.json. */
function findRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, "package.json"))) folder = dirname(folder);
  return folder;
}

/** Shape: absolute, for a path such as `schemas/workflow.schema.json`. */
export function packageFile(path: string): string {
  root ??= findRoot();
  return join(root, path);
}

const parsed = new Map<string, JsonObject>();

/** Shape: the object in a JSON file of the package, read once; not to be changed. */
export function readPackageJson(path: string): JsonObject {
  const known = parsed.get(path) ?? (JSON.parse(readFileSync(packageFile(path), "utf8")) as JsonObject);
  parsed.set(path, known);
  return known;
}

/** The version of this package, as in `1.2.3`. */
export function readVersion(): string {
  return readPackageJson("package.json")["version"] as string;
}
