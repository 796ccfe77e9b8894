/** Packages that are used when somebody has installed them. */
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** The person's word for a folder whose packages may be used beside those that this program is installed with. */
export const PACKAGES_VARIABLE = "SPLASHDOWN_PACKAGES";

/**
 * What a package exports, as this program sees it from where it is installed, or else as a folder does that a person named.
 *
 * Never from the working folder by itself: what lies there may be anybody's.
 * Shape: `undefined` when neither has it. Errors: whatever loading it throws.
 */
export async function importOptional(
  name: string,
  folder: string | undefined,
): Promise<Record<string, unknown> | undefined> {
  const named = folder === undefined ? [] : [pathToFileURL(join(folder, "package.json")).href];
  for (const from of [import.meta.url, ...named]) {
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
