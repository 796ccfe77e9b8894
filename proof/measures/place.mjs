// A folder of its own for each measurement, and Splashdown opened in it with the built program.
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createNodeFileSystem } from "../../dist/base/node-file-system.js";
import { openSplashdown } from "../../dist/index.js";
import { createEnvironment } from "../../dist/runtime/platform/environment.js";
import { systemClock, systemRandom } from "../../dist/runtime/platform/system-clock.js";
import { openStore } from "../../dist/store/open-store.js";

const MAIN = join(import.meta.dirname, "../../dist/cli/main.js");
const OUTPUT_BYTES_MAX = 64 * 2 ** 20;

/** Calls `act` with a fresh place on the disk that the temporary folder lies on, and removes it afterwards. */
export async function inPlace(act) {
  const folder = mkdtempSync(join(tmpdir(), "splashdown-bench-"));
  const open = async () => {
    const variables = { PATH: process.env.PATH, HOME: join(folder, "home") };
    return openSplashdown({ environment: createEnvironment(variables, folder) });
  };
  try {
    const first = await open();
    await first.keys.init({ ifMissing: true });
    await first.close();
    return await act({ folder, open });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The store itself, without what is built upon it. */
export function openIn(folder, address) {
  const parts = { fileSystem: createNodeFileSystem(), clock: systemClock, random: systemRandom, workingFolder: folder };
  return openStore(address, { ...parts, platform: process.platform, userId: process.getuid?.() });
}

/** What the built program prints; rejects where it ends otherwise than well. */
export function runCommand(folder, variables, args) {
  const env = { PATH: process.env.PATH, ...variables };
  const options = { cwd: folder, env, maxBuffer: OUTPUT_BYTES_MAX };
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [MAIN, ...args], options, (error, stdout) => {
      if (error === null) resolve(stdout);
      else reject(new Error(`${args.join(" ")}: ${error.message.slice(0, 2000)}${stdout.slice(0, 500)}`));
    });
  });
}

/** Shape: milliseconds, and what the work gave. */
export async function timed(work) {
  const startedMs = performance.now();
  const result = await work();
  return [performance.now() - startedMs, result];
}

/** A chain of steps that carry a value of that many bytes each; no children are started. */
export function chainOf(count, valueBytes = 16) {
  const value = "v".repeat(valueBytes);
  const steps = Array.from({ length: count }, (_item, index) => ({
    name: `s${index}`,
    type: "set",
    value,
    ...(index === 0 ? {} : { depends_on: [`s${index - 1}`] }),
  }));
  return { workflow: { name: `chain-${count}` }, steps };
}

/** Steps that all may run at once, in a window. */
export function fanOf(count, window) {
  const steps = Array.from({ length: count }, (_item, index) => ({ name: `s${index}`, type: "set", value: "v" }));
  return { workflow: { name: `fan-${count}` }, steps: [{ name: "fan", max_concurrent: window, steps }] };
}

/** One step that does nothing, for each item of an input list. */
export function itemsOf(window) {
  const each = { name: "each", type: "for_each", source: "workflow.input.list", as: "it", max_concurrent: window };
  return {
    workflow: { name: "items", entry_point: "each", input: { list: { type: "array" } } },
    agents: [],
    for_each: [{ ...each, agent: { name: "w", type: "set", value: "v" }, routes: [{ to: "$end" }] }],
    output: { count: "{{ each.count }}" },
  };
}

export const percentile = (values, share) => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
};

/** One step that is run over and over: a definition of one step, however many are done. */
export function loopOf(count, valueBytes = 16) {
  const value = "v".repeat(valueBytes);
  const routes = [{ to: "again", when: `{{ context.iteration < ${count} }}` }, { to: "later" }];
  return {
    workflow: { name: `loop-${count}`, entry_point: "again", limits: { max_iterations: count + 9 } },
    agents: [
      { name: "again", type: "set", value, routes },
      { name: "later", type: "wait", duration: "2h", routes: [{ to: "$end" }] },
    ],
  };
}

/** A chain that does not end by itself. */
export function waitingChainOf(count) {
  const { workflow, steps } = chainOf(count);
  const later = { name: "later", type: "wait", duration: "2h", depends_on: [`s${count - 1}`] };
  return { workflow, steps: [...steps, later] };
}
