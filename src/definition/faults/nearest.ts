/** Finds the name a person most likely meant. */

/** Longer names are not compared: nobody mistypes them by two letters only. */
const NAME_MAX = 60;

/**
 * The candidate nearest to a name; `undefined` when none is near.
 *
 * Units: at most `editsMax` edits, else one per three letters, at least one; swapped neighbours count once.
 */
export function findNearest(
  name: string,
  candidates: Iterable<string>,
  editsMax = Math.max(1, Math.floor(normalise(name).length / 3)),
): string | undefined {
  const wanted = normalise(name);
  let best: string | undefined;
  let bestDistance = editsMax + 1;
  for (const candidate of candidates) {
    const distance = computeNearness(wanted, normalise(candidate));
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

/** A name without its unit or qualifier (`timeout` for `timeout_seconds`) is as near as one edit. */
function computeNearness(wanted: string, candidate: string): number {
  if (candidate === wanted) return 0;
  return wanted !== "" && candidate.startsWith(`${wanted}_`) ? 1 : computeDistance(wanted, candidate);
}

function normalise(name: string): string {
  return name
    .slice(0, NAME_MAX)
    .replace(/([a-z])([A-Z])/g, "$1_$2")
    .replaceAll("-", "_")
    .toLowerCase();
}

/** Edits between two texts: insert, delete, replace, swap neighbours. */
function computeDistance(left: string, right: string): number {
  if (Math.abs(left.length - right.length) > NAME_MAX / 3) return NAME_MAX;
  const rows: number[][] = [Array.from({ length: right.length + 1 }, (_item, index) => index)];
  for (let row = 1; row <= left.length; row += 1) {
    const next = [row];
    for (let column = 1; column <= right.length; column += 1) {
      const at = (up: number, back: number): number => (up === 0 ? next : rows[row - up])?.[column - back] ?? NAME_MAX;
      const isSame = left[row - 1] === right[column - 1];
      const isSwap = left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      const swapped = isSwap ? at(2, 2) + 1 : NAME_MAX;
      next.push(Math.min(at(1, 0) + 1, at(0, 1) + 1, at(1, 1) + (isSame ? 0 : 1), swapped));
    }
    rows.push(next);
  }
  return rows[left.length]?.[right.length] ?? NAME_MAX;
}
