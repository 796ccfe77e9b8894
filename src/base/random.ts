/** Randomness as a port: the real one is built in runtime/, tests give a seeded one. */
export interface RandomSource {
  /** Fresh bytes, owned by the caller. */
  bytes(count: number): Uint8Array;
}
