/**
 * Places the nodes of one scope in layers, so that arrows lead one way, and few of them cross.
 *
 * How: arrows that close a circle are turned round; a node's layer is one after the last of those before it; an arrow
 * over several layers gets a bend in each; sweeps order every layer by the middle of its neighbours; then each layer is
 * packed around where its neighbours lie. Pure: the same scope has the same picture.
 *
 * Units: pixels. `along` is the way of the arrows, `across` the other; the caller turns them into x and y.
 */
export interface LayoutNode {
  readonly id: string;
  readonly along: number;
  readonly across: number;
}

export interface LayoutEdge {
  readonly from: string;
  readonly to: string;
}

export interface Placed {
  /** The middle of the node. */
  readonly along: number;
  readonly across: number;
}

export interface Layout {
  readonly nodes: ReadonlyMap<string, Placed>;
  /** By place of the edge in the input: the points it leads through, from its source to its target. */
  readonly bends: readonly (readonly Placed[])[];
  /** By place of the edge: it leads back. */
  readonly isBack: readonly boolean[];
  readonly along: number;
  readonly across: number;
}

const GAP_ALONG = 44;
const GAP_ACROSS = 20;
const SWEEPS = 6;

interface Cell {
  readonly id: string;
  readonly along: number;
  readonly across: number;
  readonly layer: number;
  readonly before: Cell[];
  readonly after: Cell[];
  /** The middle, across. */
  at: number;
}

export function placeLayered(nodes: readonly LayoutNode[], edges: readonly LayoutEdge[]): Layout {
  const known = new Set(nodes.map(({ id }) => id));
  const isReal = (edge: LayoutEdge): boolean => known.has(edge.from) && known.has(edge.to) && edge.from !== edge.to;
  const isBack = findBackEdges(nodes, edges.filter(isReal));
  const turned = edges.map((edge) => isBack.has(edge));
  const forward = edges.filter(isReal).map((edge) => (isBack.has(edge) ? { from: edge.to, to: edge.from } : edge));
  const layerOf = rankNodes(nodes, forward);
  const cells = new Map(nodes.map((node) => [node.id, cellOf(node, layerOf.get(node.id) ?? 0)]));
  const layers: Cell[][] = [];
  for (const cell of cells.values()) (layers[cell.layer] ??= []).push(cell);
  const chains = edges.map((edge) => (isReal(edge) ? chainOf({ edge, isBack: isBack.has(edge), cells, layers }) : []));
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) orderLayers(layers, sweep % 2 === 0);
  placeAcross(layers);
  const middles = placeAlong(layers);
  const put = (cell: Cell): Placed => ({ along: middles.at[cell.layer] ?? 0, across: cell.at });
  return {
    nodes: new Map([...cells].map(([id, cell]) => [id, put(cell)])),
    bends: chains.map((chain, at) =>
      chain.flatMap((cell) => bendOf(put(cell), cell, { depths: middles.depths, isBack: turned[at] === true })),
    ),
    isBack: turned,
    along: middles.length,
    across: Math.max(0, ...layers.flat().map((cell) => cell.at + cell.across / 2)),
  };
}

function cellOf({ id, along, across }: LayoutNode, layer: number): Cell {
  return { id, along, across, layer, before: [], after: [], at: 0 };
}

/**
 * Edges to turn round so that no circle is left: within a set of nodes that all reach each other, those that lead to a
 * node named before. Scopes are written in the order they are meant to run.
 */
function findBackEdges(nodes: readonly LayoutNode[], edges: readonly LayoutEdge[]): Set<LayoutEdge> {
  const place = new Map(nodes.map(({ id }, at) => [id, at]));
  const circle = findCircles(nodes, edges);
  const leadsBack = ({ from, to }: LayoutEdge): boolean =>
    circle.get(from) === circle.get(to) && (place.get(from) ?? 0) > (place.get(to) ?? 0);
  return new Set(edges.filter(leadsBack));
}

/** By node, the number of the set that all reach each other. Source: Kosaraju, two walks; without recursion. */
function findCircles(nodes: readonly LayoutNode[], edges: readonly LayoutEdge[]): Map<string, number> {
  const ids = nodes.map(({ id }) => id);
  const order = listByEnd(ids, groupByFrom(edges)).flat();
  const turned = groupByFrom(edges.map(({ from, to }) => ({ from: to, to: from })));
  const sets = listByEnd(order.reverse(), turned);
  return new Map(sets.flatMap((set, number) => set.map((id) => [id, number] as const)));
}

/** The nodes of each walk by the order in which it left them; no node twice. */
function listByEnd(starts: readonly string[], outgoing: ReadonlyMap<string, readonly LayoutEdge[]>): string[][] {
  const seen = new Set<string>();
  return starts.flatMap((start) => {
    if (seen.has(start)) return [];
    const left: string[] = [];
    const path = [{ id: start, at: 0 }];
    seen.add(start);
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const next = outgoing.get(top.id)?.[top.at];
      top.at += 1;
      if (next === undefined) {
        left.push(top.id);
        path.pop();
      } else if (!seen.has(next.to)) {
        seen.add(next.to);
        path.push({ id: next.to, at: 0 });
      }
    }
    return [left];
  });
}

function groupByFrom(edges: readonly LayoutEdge[]): Map<string, LayoutEdge[]> {
  const groups = new Map<string, LayoutEdge[]>();
  for (const edge of edges) {
    const group = groups.get(edge.from);
    if (group === undefined) groups.set(edge.from, [edge]);
    else group.push(edge);
  }
  return groups;
}

/** The longest way to each node; `edges` have no circle. */
function rankNodes(nodes: readonly LayoutNode[], edges: readonly LayoutEdge[]): Map<string, number> {
  const outgoing = groupByFrom(edges);
  const waits = new Map(nodes.map(({ id }) => [id, 0]));
  for (const { to } of edges) waits.set(to, (waits.get(to) ?? 0) + 1);
  const ranks = new Map(nodes.map(({ id }) => [id, 0]));
  const ready = nodes.filter(({ id }) => waits.get(id) === 0).map(({ id }) => id);
  for (let id = ready.pop(); id !== undefined; id = ready.pop()) {
    for (const { to } of outgoing.get(id) ?? []) {
      ranks.set(to, Math.max(ranks.get(to) ?? 0, (ranks.get(id) ?? 0) + 1));
      const left = (waits.get(to) ?? 1) - 1;
      waits.set(to, left);
      if (left === 0) ready.push(to);
    }
  }
  return ranks;
}

interface ChainParts {
  readonly edge: LayoutEdge;
  readonly isBack: boolean;
  readonly cells: ReadonlyMap<string, Cell>;
  readonly layers: Cell[][];
}

/** Links the two ends, through a bend in every layer between; in the direction of the edge. */
function chainOf({ edge, isBack, cells, layers }: ChainParts): Cell[] {
  const [low, high] = [cells.get(isBack ? edge.to : edge.from), cells.get(isBack ? edge.from : edge.to)];
  if (low === undefined || high === undefined) return [];
  const chain = [low];
  for (let layer = low.layer + 1; layer < high.layer; layer += 1) {
    const bend = cellOf({ id: "", along: 0, across: 8 }, layer);
    (layers[layer] ??= []).push(bend);
    chain.push(bend);
  }
  chain.push(high);
  for (const [at, cell] of chain.entries()) {
    const next = chain[at + 1];
    if (next === undefined) continue;
    cell.after.push(next);
    next.before.push(cell);
  }
  return isBack ? chain.reverse() : chain;
}

function orderLayers(layers: Cell[][], isDown: boolean): void {
  const turns = isDown ? layers : [...layers].reverse();
  for (const layer of layers) for (const [at, cell] of layer.entries()) cell.at = at;
  for (const layer of turns) {
    const wish = new Map(layer.map((cell) => [cell, middleOf(isDown ? cell.before : cell.after) ?? cell.at]));
    layer.sort((a, b) => (wish.get(a) ?? 0) - (wish.get(b) ?? 0));
    for (const [at, cell] of layer.entries()) cell.at = at;
  }
}

function middleOf(cells: readonly Cell[]): number | undefined {
  if (cells.length === 0) return undefined;
  return cells.reduce((sum, { at }) => sum + at, 0) / cells.length;
}

/** Packs each layer in its order, then draws it towards its neighbours, down and up. */
function placeAcross(layers: readonly Cell[][]): void {
  for (const layer of layers)
    pack(
      layer,
      layer.map(() => 0),
    );
  for (const turn of ["down", "up", "down", "up"] as const) {
    for (const layer of turn === "down" ? layers : [...layers].reverse())
      pack(
        layer,
        layer.map((cell) => middleOf(turn === "down" ? cell.before : cell.after) ?? cell.at),
      );
  }
  const least = Math.min(0, ...layers.flat().map((cell) => cell.at - cell.across / 2));
  for (const cell of layers.flat()) cell.at -= least;
}

/** The places nearest to the wishes at which nothing overlaps: blocks that touch are moved as one. */
function pack(layer: readonly Cell[], wishes: readonly number[]): void {
  const blocks: { cells: Cell[]; offsets: number[]; sum: number; start: number; size: number }[] = [];
  for (const [at, cell] of layer.entries()) {
    const start = (wishes[at] ?? 0) - cell.across / 2;
    let block = { cells: [cell], offsets: [0], sum: start, start, size: cell.across };
    for (
      let last = blocks.at(-1);
      last !== undefined && last.start + last.size + GAP_ACROSS > block.start;
      last = blocks.at(-1)
    ) {
      const shift = last.size + GAP_ACROSS;
      const cells = [...last.cells, ...block.cells];
      const sum = last.sum + block.sum - shift * block.cells.length;
      block = {
        cells,
        offsets: [...last.offsets, ...block.offsets.map((offset) => offset + shift)],
        sum,
        start: sum / cells.length,
        size: shift + block.size,
      };
      blocks.pop();
    }
    blocks.push(block);
  }
  for (const { cells, offsets, start } of blocks)
    for (const [at, cell] of cells.entries()) cell.at = start + (offsets[at] ?? 0) + cell.across / 2;
}

/** A bend leads straight through its layer, past what is deep in it. */
function bendOf(
  placed: Placed,
  { id, layer }: Cell,
  { depths, isBack }: { readonly depths: readonly number[]; readonly isBack: boolean },
): Placed[] {
  if (id !== "") return [placed];
  const half = ((depths[layer] ?? 0) / 2) * (isBack ? -1 : 1);
  return [
    { ...placed, along: placed.along - half },
    { ...placed, along: placed.along + half },
  ];
}

interface Depths {
  /** The middle of each layer. */
  readonly at: readonly number[];
  readonly depths: readonly number[];
  readonly length: number;
}

function placeAlong(layers: readonly Cell[][]): Depths {
  const at: number[] = [];
  const depths = layers.map((layer) => Math.max(0, ...layer.map(({ along }) => along)));
  let end = 0;
  for (const depth of depths) {
    at.push(end + depth / 2);
    end += depth + GAP_ALONG;
  }
  return { at, depths, length: Math.max(0, end - GAP_ALONG) };
}
