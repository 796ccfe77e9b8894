// What the step of a long task does.
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

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

/** Notes that it acted, in a line of 80 bytes: number, then key. Waits where the file `halt` says that it goes no further. */
export async function act(context, { valueBytes }, folder) {
  const n = context.input.before + 1;
  appendFileSync(
    join(folder, "ledger"),
    `${String(n).padStart(14)} ${context.idempotencyKey.slice(0, 64).padEnd(64)}\n`,
  );
  while (n >= haltOf(folder)) await sleep(10);
  return { n, value: valueOf(n, valueBytes) };
}

function haltOf(folder) {
  const file = join(folder, "halt");
  return existsSync(file) ? Number(readFileSync(file, "utf8")) : Infinity;
}
