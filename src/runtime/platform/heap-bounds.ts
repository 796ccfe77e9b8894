/**
 * How far the heap of our own command may outgrow what lives in it.
 *
 * The platform lets the two halves of its young space grow to 16 MiB each, and the old space to a multiple of what is
 * alive: that costs the least time where a machine is there for one program. Ours often runs beside many of its kind. Ten
 * thousand quick items peak at some 205 MiB so, and within these bounds at some 135, at the same processor time.
 */
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";

/** Units: percent of what was alive after the last full collection. */
const OLD_SPACE_GROWTH_PERCENT = 25;
/** Both halves. With half of it, work that makes much garbage takes half as much time again; with more it gains nothing. */
const YOUNG_SPACE_BYTES = 8 * 2 ** 20;
/** Rounds of small objects; the young space grows when more objects are alive than it has room for. */
const FILLING_ROUNDS_MAX = 200;
const FILLING_OBJECTS = 1_000;

/**
 * For a process that is ours alone, at its start: the flags hold for all that runs in it, so the library leaves them to
 * whoever owns the process.
 */
export function boundHeap(): void {
  setFlagsFromString(`--heap-growing-percent=${OLD_SPACE_GROWTH_PERCENT}`);
  growYoungSpace();
  holdYoungSpace();
}

/** Holds the young space at its size. Starting a thread resets the factor, so call it again then. */
export function holdYoungSpace(): void {
  setFlagsFromString("--semi-space-growth-factor=1");
}

/** The platform takes its largest size at the start of a process only, but grows no further when told so in time. */
function growYoungSpace(): void {
  const filling: object[][] = [];
  while (filling.length < FILLING_ROUNDS_MAX && readYoungBytes() < YOUNG_SPACE_BYTES)
    filling.push(Array.from({ length: FILLING_OBJECTS }, () => ({ filling })));
}

function readYoungBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name: name }) => name === "new_space")?.space_size ?? YOUNG_SPACE_BYTES;
}
