/** What the journals of server and tools must show after a task that was killed and taken up again. */

/** Specialists that work at once. */
const IN_FLIGHT_MAX = 4;

/** A later turn proves that those before it were recorded: none of them may be asked again. */
export function judgeCalls(journal, kills) {
  const faults = [];
  const turns = new Map();
  for (const { specialist, turn } of journal) {
    const highest = turns.get(specialist) ?? 0;
    if (turn < highest) faults.push(`${specialist} was asked turn ${turn} again after turn ${highest}`);
    if (turn > highest + 1) faults.push(`${specialist} was asked turn ${turn} after turn ${highest}`);
    turns.set(specialist, Math.max(highest, turn));
  }
  const needed = [...turns.values()].reduce((sum, turn) => sum + turn, 0);
  if (journal.length > needed + IN_FLIGHT_MAX * kills)
    faults.push(`${journal.length} calls for ${needed} turns and ${kills} kills`);
  return faults;
}

/** `finished`: for each kill the turns that the task's journal held then, and the calls that had come before. */
export function judgeFinished(journal, finished) {
  return finished.flatMap(({ turns, calls }, index) =>
    journal
      .slice(calls)
      .filter(({ specialist, turn }) => turn <= (turns.get(specialist) ?? 0))
      .map(({ specialist, turn }) => `${specialist} was asked turn ${turn} again, finished before kill ${index + 1}`),
  );
}

/** Each call of a tool has one key, however often it was made, and no call before it is made again. */
export function judgeTools(ledger) {
  const faults = [];
  const keys = new Map();
  const highest = new Map();
  for (const { path, n, key } of ledger) {
    const call = `${path} ${n}`;
    if ((keys.get(call) ?? key) !== key) faults.push(`the call ${call} was made under two keys`);
    keys.set(call, key);
    if (n < (highest.get(path) ?? 0)) faults.push(`the call ${call} was made again after call ${highest.get(path)}`);
    highest.set(path, Math.max(highest.get(path) ?? 0, n));
  }
  if (new Set(keys.values()).size !== keys.size) faults.push("two calls had one key");
  return faults;
}
