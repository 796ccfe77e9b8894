/** `many-children.ts COUNT`: runs that many children at once and prints how many ended with 0; for a low `ulimit -n`. */
import { openProcessHost } from "../../../src/process/host.js";
import { realClock } from "../real-clock.js";

const count = Number(process.argv[2]);
const host = openProcessHost({ clock: realClock });
const results = await Promise.all(
  Array.from({ length: count }, async () => {
    const child = await host.spawn({
      program: "/bin/sleep",
      arguments: ["0.05"],
      environment: {},
      input: "",
      onControlLine: () => undefined,
      stdoutBytesMax: 1000,
      stderrTailBytes: 1000,
    });
    child.release();
    return (await child.result).exitCode;
  }),
);
process.stdout.write(`${results.filter((exitCode) => exitCode === 0).length}\n`);
await host.close();
