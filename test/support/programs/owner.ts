/**
 * An owner of children that waits to be killed: `owner.ts hold|run COMMAND…` spawns `/bin/sh -c` per command, prints one
 * JSON line with its own, the keeper's and the children's numbers, and stays.
 */
import { openProcessHost } from "../../../src/process/host.js";
import { realClock } from "../real-clock.js";

const [mode, ...commands] = process.argv.slice(2);
const host = openProcessHost({ clock: realClock });
const children: number[] = [];
for (const command of commands) {
  const child = await host.spawn({
    program: "/bin/sh",
    arguments: ["-c", command],
    environment: { PATH: "/usr/bin:/bin" },
    stdoutBytesMax: 1000,
    stderrTailBytes: 1000,
  });
  if (mode === "run") child.release();
  children.push(child.identity.pid);
}
process.stdout.write(`${JSON.stringify({ owner: process.pid, keeper: host.keeperPid, children })}\n`);
realClock.schedule(600_000, () => undefined);
