/** Temporary names: `.<16 hex>.tmp`. Nothing else in a task's folder looks like one, so they can be swept by name. */
import type { RandomSource } from "../../base/random.js";

const TEMP_NAME = /^\.[0-9a-f]{16}\.tmp$/;
const RANDOM_BYTES = 8;

export function createTempName(random: RandomSource): string {
  return `.${Buffer.from(random.bytes(RANDOM_BYTES)).toString("hex")}.tmp`;
}

export function isTempName(name: string): boolean {
  return TEMP_NAME.test(name);
}
