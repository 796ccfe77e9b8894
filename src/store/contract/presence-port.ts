/** How one process on this machine can tell whether another one lives: by knocking. */
export type PingResult =
  | { readonly kind: "answered"; readonly text: string }
  /** There is a place to knock and certainly nobody behind it. */
  | { readonly kind: "refused" }
  | { readonly kind: "unreachable" };

export interface PresencePort {
  /** Answers whoever knocks at `folder/name` with the text; `undefined` where no place to knock can be made. */
  listen(door: Endpoint, answer: () => string): Promise<{ close(): Promise<void> } | undefined>;
  ping(door: Endpoint): Promise<PingResult>;
}

export interface Endpoint {
  readonly folder: string;
  readonly name: string;
}
