// What the history of a finished task must look like, whatever happened to its processes.

const ENDS = new Set(["step_completed", "step_skipped"]);

/** Shape: texts; empty for a history in which no step ended twice, and none was intended again after its end. */
export function findHistoryFaults(events) {
  const faults = [];
  const ended = new Set();
  let last = 0;
  for (const { n, type, event } of events) {
    if (n !== last + 1) faults.push(`event ${n} follows event ${last}`);
    last = n;
    if (type === "step_intended" && ended.has(event.step))
      faults.push(`${event.step} was intended again after its end`);
    if (!ENDS.has(type)) continue;
    if (ended.has(event.step)) faults.push(`${event.step} ended twice`);
    ended.add(event.step);
  }
  if (ended.size === 0) faults.push("no step has ended");
  if (events.at(-1)?.type !== "task_closed") faults.push(`the last event is ${events.at(-1)?.type}`);
  return faults;
}

/** A child starts only after that was recorded, so a step that was not spawned has not acted. */
export function wasSpawned(events, step) {
  return events.some(({ type, event }) => type === "step_spawned" && event.step === step);
}
