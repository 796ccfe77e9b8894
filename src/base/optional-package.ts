/** Packages that are used when somebody has installed them. */
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/**
 * What a package exports, as this program sees it or else as a folder does.
 *
 * Shape: `undefined` when neither has it. Errors: whatever loading it throws.
 */
export async function importOptional(name: string, folder: string): Promise<Record<string, unknown> | undefined> {
  for (const from of [import.meta.url, pathToFileURL(join(folder, "package.json")).href]) {
    const file = resolveFrom(from, name);
    if (file !== undefined) return (await import(pathToFileURL(file).href)) as Record<string, unknown>;
  }
  return undefined;
}

function resolveFrom(from: string, name: string): string | undefined {
  try {
    return createRequire(from).resolve(name);
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === "MODULE_NOT_FOUND") return undefined;
    throw error;
  }
}
