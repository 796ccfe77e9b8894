/** Runs a verb of the library in a process of its own that is killed before its n-th changing file operation. */
import { cpSync } from "node:fs";
import { join } from "node:path";
import { openSplashdown, type Splashdown } from "../../src/index.js";
import { createEnvironment } from "../../src/runtime/platform/environment.js";
import { PROGRAM } from "./built-program.js";
import type { CommandPlace } from "./command-place.js";
import { KILL_CHILD } from "./killed-run.js";
import { strideOf } from "./tried.js";

const OPERATIONS_MAX = 120;

/** A verb by its place in the library, and its arguments. */
export type VerbCall = readonly [verb: string, args: readonly unknown[]];

/** Keeps `outputs` as it is now, to begin from again. */
export function keepPristine(place: CommandPlace): void {
  cpSync(join(place.folder, "outputs"), join(place.folder, "pristine"), { recursive: true });
}

/** Opens a store of the place in this process, with a state folder of its own. */
export async function whileOpenIn<T>(
  place: CommandPlace,
  store: string,
  act: (splashdown: Splashdown) => Promise<T>,
): Promise<T> {
  const state = join(place.folder, `state-of-${store}`);
  const all = { PATH: process.env["PATH"] ?? "", ...place.env, SPLASHDOWN_STATE_DIR: state };
  const environment = createEnvironment(all, place.folder);
  const splashdown = await openSplashdown({ store: `file:${store}`, environment });
  try {
    return await act(splashdown);
  } finally {
    await splashdown.close();
  }
}

/**
 * Kills the verb before each of its changing operations in turn, every time on a fresh copy, and checks what is left.
 *
 * Shape: `step`: only every so many operations, unless a longer proof is asked for. The answer is the number of kills; the verb got through at last.
 */
export async function killEverywhere(
  place: CommandPlace,
  { call, step = 1, operationsMax = OPERATIONS_MAX }: { call: VerbCall; step?: number; operationsMax?: number },
  check: (splashdown: Splashdown, isKilled: boolean) => Promise<void>,
): Promise<number> {
  let kills = 0;
  for (let n = 1; n <= operationsMax; n += strideOf(step)) {
    const store = `killed-${n}`;
    cpSync(join(place.folder, "pristine"), join(place.folder, store), { recursive: true });
    const state = join(place.folder, `state-of-${store}`);
    const env = { ...place.env, SPLASHDOWN_STORE: `file:${store}`, SPLASHDOWN_STATE_DIR: state };
    const args = [KILL_CHILD, PROGRAM, `operation:${n}`, "call", call[0], JSON.stringify(call[1])];
    const { signal, code, stderr } = await place.run(args, { program: process.execPath, env });
    const isKilled = signal === "SIGKILL";
    if (!isKilled && code !== 0) throw new Error(`${call[0]} ended with ${code}: ${stderr}`);
    await whileOpenIn(place, store, (splashdown) => check(splashdown, isKilled));
    if (!isKilled) return kills;
    kills += 1;
  }
  return kills;
}
