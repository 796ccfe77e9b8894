/** What `trust` takes and answers. Wire shapes: see contract.ts. */
import type { JsonValue } from "../../base/json.js";

export interface TrustOptions {
  /** The working folder where absent. */
  readonly folder?: string;
  readonly list?: boolean;
  /** Trust it no more. */
  readonly remove?: boolean;
}

export interface TrustedFolderView {
  readonly folder: string;
  readonly file: string;
  /** SHA-256 over the texts of the settings file and of what it includes. */
  readonly digest: string;
  /** `changed`: the file is not the one that was trusted, or is gone. */
  readonly state: "trusted" | "refused" | "changed";
  /** What in it needs to be trusted. */
  readonly settings: readonly { readonly key: string; readonly value: JsonValue }[];
  readonly at: string;
}

export interface TrustView {
  readonly action: "trust" | "list" | "remove";
  readonly folders: readonly TrustedFolderView[];
}
