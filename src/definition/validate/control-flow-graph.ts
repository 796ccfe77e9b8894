/**
 * Answers about the ways through one graph, made once: a file of ten thousand steps asks ten thousand times.
 *
 * What leads where: the strongly connected parts in reverse topological order, each with a row of bits for the parts it
 * reaches. What stands on every way: the tree of dominators (Cooper, Harvey and Kennedy, A Simple, Fast Dominance
 * Algorithm). Memory: n²/16 bytes at most, 25 MB for the 20,000 steps that a file can hold.
 */
import type { Edges } from "./graph.js";

type Targets = readonly (readonly number[])[];

export class ControlFlowGraph {
  readonly #numbers: ReadonlyMap<string, number>;
  readonly #targets: Targets;
  readonly #trees = new Map<string, DominatorTree>();
  #reach: Reach | undefined;

  /** Targets that are no names of the graph are left out. */
  constructor(edges: Edges) {
    this.#numbers = new Map([...edges.keys()].map((name, number) => [name, number]));
    this.#targets = [...edges.values()].map((names) => names.flatMap((name) => this.#numbers.get(name) ?? []));
  }

  /** True when there is a way over at least one edge. */
  reaches(from: string, to: string): boolean {
    const [start, end] = [this.#numbers.get(from), this.#numbers.get(to)];
    if (start === undefined || end === undefined) return false;
    this.#reach ??= new Reach(this.#targets);
    return this.#reach.has(start, end);
  }

  /** True when every way from the entry to `target` passes `via`; so also when there is none. */
  dominates(via: string, target: string, entry: string): boolean {
    const [before, end, start] = [via, target, entry].map((name) => this.#numbers.get(name));
    if (end === undefined || start === undefined) return true;
    let tree = this.#trees.get(entry);
    if (tree === undefined) {
      tree = new DominatorTree(this.#targets, start);
      this.#trees.set(entry, tree);
    }
    return tree.isAbove(before, end);
  }
}

/** Which nodes lead to which. */
class Reach {
  readonly #partOf: Int32Array;
  /** By part: a bit for each part that it leads to; such a part has a smaller number, or is the part itself. */
  readonly #rows: Uint32Array[] = [];

  constructor(targets: Targets) {
    const { partOf, parts } = new PartFinder(targets);
    this.#partOf = partOf;
    parts.forEach((members, part) => {
      const row = new Uint32Array((part >> 5) + 1);
      for (const member of members) for (const target of targets[member] ?? []) this.#add(row, this.#part(target));
      this.#rows.push(row);
    });
  }

  has(from: number, to: number): boolean {
    const part = this.#part(to);
    return hasBit(this.#rows[this.#part(from)] ?? NO_BITS, part);
  }

  #part(node: number): number {
    return this.#partOf[node] ?? 0;
  }

  #add(row: Uint32Array, part: number): void {
    if (hasBit(row, part)) return;
    row[part >> 5] = (row[part >> 5] ?? 0) | (1 << (part & 31));
    // The part's own row is not there yet, and adds nothing.
    this.#rows[part]?.forEach((bits, at) => {
      row[at] = (row[at] ?? 0) | bits;
    });
  }
}

const NO_BITS = new Uint32Array(0);

function hasBit(row: Uint32Array, bit: number): boolean {
  return (((row[bit >> 5] ?? 0) >>> (bit & 31)) & 1) === 1;
}

/** Tarjan's strongly connected components, without recursion. Shape: a part comes after every part that it leads to. */
class PartFinder {
  readonly partOf: Int32Array;
  readonly parts: number[][] = [];
  readonly #targets: Targets;
  readonly #order: Int32Array;
  readonly #low: Int32Array;
  readonly #next: Int32Array;
  readonly #stack: number[] = [];
  #count = 0;

  constructor(targets: Targets) {
    const size = targets.length;
    this.#targets = targets;
    this.partOf = new Int32Array(size).fill(-1);
    this.#order = new Int32Array(size).fill(-1);
    this.#low = new Int32Array(size);
    this.#next = new Int32Array(size);
    for (let node = 0; node < size; node += 1) if (this.#order[node] === -1) this.#walk(node);
  }

  #walk(root: number): void {
    const trail = [root];
    this.#open(root);
    for (let node = trail.at(-1); node !== undefined; node = trail.at(-1)) {
      const at = this.#next[node] ?? 0;
      this.#next[node] = at + 1;
      const target = this.#targets[node]?.[at];
      if (target === undefined) {
        trail.pop();
        this.#close(node, trail.at(-1));
      } else if (this.#order[target] === -1) {
        trail.push(target);
        this.#open(target);
      } else if (this.partOf[target] === -1) this.#lower(node, this.#order[target] ?? 0);
    }
  }

  #open(node: number): void {
    this.#order[node] = this.#count;
    this.#low[node] = this.#count;
    this.#count += 1;
    this.#stack.push(node);
  }

  #lower(node: number, to: number): void {
    this.#low[node] = Math.min(this.#low[node] ?? 0, to);
  }

  #close(node: number, above: number | undefined): void {
    const low = this.#low[node] ?? 0;
    if (above !== undefined) this.#lower(above, low);
    if (low !== this.#order[node]) return;
    const members = this.#stack.splice(this.#stack.lastIndexOf(node));
    for (const member of members) this.partOf[member] = this.parts.length;
    this.parts.push(members);
  }
}

/** What stands on every way from the entry: a node's dominators are those above it. */
class DominatorTree {
  /** Nodes by their number in reverse postorder; absent: nothing leads there. */
  readonly #rank: Int32Array;
  /** The nearest dominator by rank; that of the entry is itself. */
  readonly #above: Int32Array;

  constructor(targets: Targets, entry: number) {
    const order = listReversePostorder(targets, entry);
    this.#rank = new Int32Array(targets.length).fill(-1);
    order.forEach((node, rank) => (this.#rank[node] = rank));
    this.#above = new Int32Array(order.length).fill(-1);
    this.#above[0] = 0;
    const sources = order.map((): number[] => []);
    for (const node of order)
      for (const target of targets[node] ?? []) sources[this.#rank[target] ?? 0]?.push(this.#rank[node] ?? 0);
    for (let isChanged = true; isChanged;) isChanged = this.#improve(sources);
  }

  isAbove(node: number | undefined, target: number): boolean {
    let at = this.#rank[target] ?? -1;
    const rank = node === undefined ? -1 : (this.#rank[node] ?? -1);
    if (at === -1) return true;
    while (at > rank && at !== 0) at = this.#above[at] ?? 0;
    return at === rank;
  }

  /** True while something changed. */
  #improve(sources: readonly (readonly number[])[]): boolean {
    let isChanged = false;
    for (let rank = 1; rank < sources.length; rank += 1) {
      let above = -1;
      for (const source of sources[rank] ?? []) {
        if (this.#above[source] === -1) continue;
        above = above === -1 ? source : this.#meet(source, above);
      }
      if (this.#above[rank] !== above) isChanged = true;
      this.#above[rank] = above;
    }
    return isChanged;
  }

  #meet(one: number, other: number): number {
    let [left, right] = [one, other];
    while (left !== right) {
      if (left > right) left = this.#above[left] ?? 0;
      else right = this.#above[right] ?? 0;
    }
    return left;
  }
}

/** Every node that the entry leads to, itself first, each before what only it leads to. */
function listReversePostorder(targets: Targets, entry: number): number[] {
  const order: number[] = [];
  const next = new Int32Array(targets.length).fill(-1);
  const trail = [entry];
  next[entry] = 0;
  for (let node = trail.at(-1); node !== undefined; node = trail.at(-1)) {
    const at = next[node] ?? 0;
    next[node] = at + 1;
    const target = targets[node]?.[at];
    if (target === undefined) {
      trail.pop();
      order.push(node);
    } else if (next[target] === -1) {
      next[target] = 0;
      trail.push(target);
    }
  }
  return order.reverse();
}
