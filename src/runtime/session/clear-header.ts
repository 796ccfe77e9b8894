/** What checkpoint files of a task say in the clear, by its settings and by who may ask its store. */
import type { EffectiveSettings } from "../../definition/settings/settings.js";
import type { Store } from "../../store/contract/contract.js";

/** Stores with views that people query by workflow and step. */
const QUERIED: ReadonlySet<string> = new Set(["sqlite", "pglite", "postgres"]);

/** For the writer of snapshots: `metadata: minimal` withholds what else is said; names only in a database. */
export function clearHeaderOf(
  { metadata }: EffectiveSettings["checkpoint_config"],
  { manifest }: Pick<Store, "manifest">,
): { readonly isMinimal: boolean; readonly isNamed: boolean } {
  return { isMinimal: metadata === "minimal", isNamed: metadata === "full" && QUERIED.has(manifest.kind) };
}
