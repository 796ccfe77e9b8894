/** A place beside a store that may hold bytes of it for a while, by their digest; it may forget, lie, be slow or be gone. */
export interface CachePort {
  /** What it has under the name, unchecked. Errors: whatever the driver throws; each counts as nothing found. */
  get(name: string): Promise<Uint8Array | undefined>;
  set(name: string, bytes: Uint8Array): Promise<void>;
  close(): Promise<void>;
}
