/** Runs a key command in a group of its own, with a time limit; it gets PATH, HOME and the like, and what is named. */
import { LIMITS } from "../../base/limits.js";
import type { ProcessHost } from "../../process/contract.js";
import type { KeyCommandRunner } from "../../vault/key-command.js";
import { plainEnvironmentOf, type Environment } from "../platform/environment.js";
import { systemClock } from "../platform/system-clock.js";

const OUTPUT_BYTES_MAX = 64 * 1024;

export function createKeyCommandRunner(processes: () => ProcessHost, environment: Environment): KeyCommandRunner {
  return async ({ argv, input, timeoutMs, environment: names = [] }) => {
    const [program = "", ...rest] = argv;
    const child = await processes().spawn({
      program,
      arguments: rest,
      folder: environment.workingFolder,
      environment: plainEnvironmentOf(environment, names),
      input,
      stdoutBytesMax: OUTPUT_BYTES_MAX,
      stderrTailBytes: LIMITS.stderrTailBytes,
      isNoted: true,
    });
    let timedOut = false;
    const cancel = systemClock.schedule(timeoutMs, () => {
      timedOut = true;
      void child.end(LIMITS.killGraceMs);
    });
    child.release();
    const result = await child.result.finally(cancel);
    return {
      exitCode: result.exitCode,
      stdout: result.stdout.toString("utf8"),
      stderrTail: result.stderrTail,
      timedOut,
    };
  };
}
