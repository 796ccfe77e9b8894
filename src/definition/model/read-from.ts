/** What a definition was read from: its texts, for showing places in them, and digests, to tell whether they changed. */
import type { IncludedText } from "../reading/includes.js";

/** The texts of one workflow, and the paths of its roots: several where it is nested more than once. */
export interface WorkflowSource {
  readonly roots: readonly string[];
  /** Its own file first, called by its path from the outermost workflow's folder, then what `!file` tags put in. */
  readonly texts: readonly IncludedText[];
}

/** What a definition was read from, by hex digest of SHA-256: where all of it is as it was, so is the definition. */
export interface ReadFrom {
  /** By absolute path. */
  readonly files: readonly { readonly file: string; readonly sha256: string }[];
  /** Variables that were asked for; one that was not set has no digest. */
  readonly variables: readonly { readonly name: string; readonly sha256?: string }[];
}
