/**
 * How much of the source the tests must run through, and the judgement of a report (istanbul's coverage-final.json).
 *
 * Source: DESIGN section 12, which wants 90 % overall and 98 % of the branches of five rooms.
 */

/** Units: per cent. */
export const FLOORS = {
  lines: 90,
  branches: { vault: 98, journal: 98, checkpoint: 98, recovery: 98, store: 98 },
};

/**
 * Every floor that is not reached, in words; empty when all are. `rooms`: what the guarded rooms have.
 *
 * Shape: `report` by file, as istanbul has it: counts of statements and branches beside the places they stand at.
 */
export function judgeCoverage(report, floors = FLOORS) {
  const files = Object.entries(report);
  const rooms = Object.keys(floors.branches).map((room) => {
    const own = files.filter(([file]) => roomOf(file) === room);
    return { room, ...sumBranches(own), missed: own.flatMap(([file, counts]) => listMissed(file, counts)) };
  });
  const short = [];
  const lines = computeLines(files);
  if (lines < floors.lines) short.push(`lines overall: ${lines.toFixed(2)} % of at least ${floors.lines} %`);
  for (const { room, percent } of rooms) {
    const floor = floors.branches[room];
    if (percent < floor) short.push(`branches of ${room}/: ${percent.toFixed(2)} % of at least ${floor} %`);
  }
  return { short, rooms };
}

/** What the rooms have, and below each the branches that no test takes. */
export function describeRooms(rooms) {
  return rooms.flatMap(({ room, covered, total, percent, missed }) => [
    `branches of ${room}/: ${percent.toFixed(2)} % (${covered} of ${total})`,
    ...missed.map((place) => `  ${place}`),
  ]);
}

function roomOf(file) {
  return /(?:^|\/)src\/([a-z]+)\//.exec(file)?.[1];
}

function sumBranches(files) {
  const counts = files.flatMap(([, { b }]) => Object.values(b).flat());
  const covered = counts.filter((count) => count > 0).length;
  // A room that no report has was not run at all.
  return { covered, total: counts.length, percent: counts.length === 0 ? 0 : (100 * covered) / counts.length };
}

/** `src/room/file.ts:12 cond-expr` for every branch that was never taken. */
function listMissed(file, { b, branchMap }) {
  const name = file.slice(file.lastIndexOf("src/"));
  return Object.entries(b).flatMap(([id, counts]) => {
    const { type, loc, locations } = branchMap[id];
    // The other way of an `if` without `else` has no place of its own.
    const lineOf = (way) => locations[way]?.start?.line ?? loc.start.line;
    return counts.flatMap((count, way) => (count > 0 ? [] : [`${name}:${lineOf(way)} ${type}`]));
  });
}

/** A line is run when one of the statements that begin on it is. */
function computeLines(files) {
  let [run, total] = [0, 0];
  for (const [, { s, statementMap }] of files) {
    const lines = new Map();
    for (const [id, count] of Object.entries(s)) {
      const { line } = statementMap[id].start;
      lines.set(line, Math.max(count, lines.get(line) ?? 0));
    }
    total += lines.size;
    run += [...lines.values()].filter((count) => count > 0).length;
  }
  return total === 0 ? 0 : (100 * run) / total;
}
