/**
 * The program of the thread that listens to signals beside the main one (second-signal.ts).
 *
 * It is held as text, as that is there whether this module runs from `src`, from `dist` or out of a bundle. Listening in a
 * thread has no public name in the platform: where there is none any more, the thread ends, and all is as without it.
 * It is given the shared count of signals taken, the names to listen to, and how long the main thread may take, in ms.
 */
export const SIGNAL_THREAD_PROGRAM = `
const { workerData } = require("node:worker_threads");
const { writeSync } = require("node:fs");
const { constants } = require("node:os");
const { taken, withinMs, names } = workerData;
process.noDeprecation = true;
const { Signal } = process.binding("signal_wrap");
let count = 0;
const say = (text) => {
  try {
    writeSync(2, text);
  } catch {}
};
const look = (name, number) => {
  if (Atomics.load(taken, 0) >= number) return;
  if (number === 1) {
    say("\\n" + name + ": saving and leaving when the code that runs lets go; once more to leave now\\n");
    return;
  }
  say("\\n" + name + ": code that runs did not let go; ended as it stands, and what is durable stays\\n");
  process.kill(process.pid, "SIGKILL");
};
for (const name of names) {
  const signal = new Signal();
  signal.onsignal = () => {
    const number = (count += 1);
    setTimeout(() => look(name, number), withinMs);
  };
  signal.start(constants.signals[name]);
}
`;
