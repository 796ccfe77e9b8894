// What the step of a long task does.
import { appendFileSync } from "node:fs";
import { join } from "node:path";

/** Text of that length which is another for every number, and the same for the same one. */
export function valueOf(n, bytes) {
  const words = [];
  let state = n + 1;
  for (let length = 0; length < bytes; length += 7) {
    state = (state * 48_271) % 2_147_483_647;
    words.push((state % 2_176_782_336).toString(36).padStart(6, "0").slice(-6));
  }
  return words.join(" ").slice(0, bytes);
}

/** Notes that it acted, in a line of 80 bytes: number, then key. */
export function act(context, { valueBytes }, folder) {
  const n = context.input.before + 1;
  appendFileSync(
    join(folder, "ledger"),
    `${String(n).padStart(14)} ${context.idempotencyKey.slice(0, 64).padEnd(64)}\n`,
  );
  return { n, value: valueOf(n, valueBytes) };
}
