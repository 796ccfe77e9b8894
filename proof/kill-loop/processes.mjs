// What runs on this machine because of a place, as /proc tells. Elsewhere nothing is seen, and `canSee` says so.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

export const canSee = existsSync("/proc/self/environ");

/** Children get few variables from their owner; the folder for temporary files is one of them, and each place has its own. */
const markOf = (place) => `TMPDIR=${place.temporary}\0`;
const KEEPER = "splashdown-keeper";

function read(pid, file) {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "latin1");
  } catch {
    return "";
  }
}

const listAll = () => (canSee ? readdirSync("/proc").filter((name) => /^\d+$/.test(name)) : []);

/** A zombie has ended: it only waits to be counted. */
function readStat(pid) {
  const stat = read(pid, "stat");
  const [state, parent, group] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return { state, parent: Number(parent), group: Number(group) };
}

/** Every process that was started for the place, the owner's own left out. */
export function listChildren(place, ownerPid) {
  return listAll()
    .map(Number)
    .filter((pid) => pid !== ownerPid && `${read(pid, "environ")}\0`.includes(markOf(place)))
    .map((pid) => ({ pid, ...readStat(pid) }))
    .filter(({ state }) => state !== undefined && state !== "" && state !== "Z");
}

/** Keepers of an owner, by what they were started with. */
export function listKeepers(ownerPid) {
  return listAll()
    .map(Number)
    .filter((pid) => {
      const words = read(pid, "cmdline").split("\0");
      return words[words.indexOf(KEEPER) + 1] === String(ownerPid);
    });
}

/** Waits until nothing of a dead owner runs but `except`; the answer names what still does when the time is over. */
export async function awaitEnd(place, { ownerPid, except, limitMs }) {
  const endsAt = performance.now() + limitMs;
  for (;;) {
    const children = listChildren(place).map(({ pid }) => pid);
    const left = [...children.filter((pid) => !except.includes(pid)), ...listKeepers(ownerPid)];
    if (left.length === 0 || performance.now() > endsAt)
      return left.map((pid) => `${pid} ${read(pid, "cmdline").replaceAll("\0", " ").slice(0, 200)}`);
    await sleep(20);
  }
}
