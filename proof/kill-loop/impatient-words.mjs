// What a command may end with while others of its kind are typed, and what it must say then.

/** By verb; a task that ended in between, or that nothing was recorded of, is told by 2 and 10. */
const STATUSES = {
  run: [0, 11, 20, 22],
  resume: [0, 2, 10, 11, 20, 22],
  recover: [0, 11, 20, 22],
  answer: [0, 2, 10],
};
/** What must stand there for a person to go on with. */
const WAYS_ON = {
  11: /splashdown (?:attach|events|show|resume)/,
  20: /splashdown (?:answer|resume)/,
  22: /splashdown (?:answer|resume)/,
};

/**
 * Shape: texts; empty for a status that fits, with the next command where one is needed.
 *
 * @param {readonly string[]} typed
 * @param {{ code: number | null, stdout: string, stderr: string }} ended
 */
export function findSaidFaults([verb = "", ...words], { code, stdout, stderr }) {
  const what = `${[verb, ...words.slice(0, 3)].join(" ")} ended with ${code}`;
  const said = `${stdout}${stderr}`;
  const faults = [];
  if (!STATUSES[verb].includes(code)) faults.push(`${what}: ${said.slice(-600)}`);
  if (said.includes("[INTERNAL]")) faults.push(`${what}, which is our own mistake: ${said.slice(-600)}`);
  const way = verb === "recover" ? undefined : WAYS_ON[code];
  if (way !== undefined && !way.test(said)) faults.push(`${what} and names no way on: ${said.slice(-600)}`);
  return faults;
}
