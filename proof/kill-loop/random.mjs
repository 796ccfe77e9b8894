// Random numbers that a seed repeats.

/** Shape: `below(n)` gives a whole number from 0 to n - 1; `pick` one of a list. */
export function createRandom(seed) {
  let state = (Math.imul(seed, 2654435761) + 1013904223) >>> 0;
  const below = (limit) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
  return { below, pick: (list) => list[below(list.length)] };
}
