/** Questions about the order of siblings: who can have run before whom. Pure, over names. */

/** Edges by name; names without edges may be absent. */
export type Edges = ReadonlyMap<string, readonly string[]>;

/** Everything reachable from the names, themselves included. */
export function findReachable(from: readonly string[], edges: Edges): Set<string> {
  const reached = new Set<string>(from);
  const open = [...from];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const name of edges.get(next) ?? []) {
      if (reached.has(name)) continue;
      reached.add(name);
      open.push(name);
    }
  }
  return reached;
}

/** A cycle as the names along it, the first repeated at the end; `undefined` when there is none. */
export function findCycle(names: readonly string[], edges: Edges): readonly string[] | undefined {
  const done = new Set<string>();
  for (const start of names) {
    if (done.has(start)) continue;
    const cycle = walkFrom(start, edges, done);
    if (cycle !== undefined) return cycle;
  }
  return undefined;
}

function walkFrom(start: string, edges: Edges, done: Set<string>): readonly string[] | undefined {
  const trail: { name: string; next: number }[] = [{ name: start, next: 0 }];
  const onTrail = new Set([start]);
  for (let top = trail.at(-1); top !== undefined; top = trail.at(-1)) {
    const target = edges.get(top.name)?.[top.next];
    top.next += 1;
    if (target === undefined) {
      done.add(top.name);
      onTrail.delete(top.name);
      trail.pop();
    } else if (onTrail.has(target)) {
      const names = trail.map(({ name }) => name);
      return [...names.slice(names.indexOf(target)), target];
    } else if (!done.has(target)) {
      trail.push({ name: target, next: 0 });
      onTrail.add(target);
    }
  }
  return undefined;
}
