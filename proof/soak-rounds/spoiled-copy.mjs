// What the program tells of a copy of its files in which one bit is another or one file is missing, and whether it runs on it.
import { cpSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { TASK } from "./mixed-task.mjs";

const JOURNAL = `damaged/${TASK}/checkpoints/journal`;
const SPOILS = { rotten: flipBit, missing: rmSync };

/** Shape: texts; none when each spoilt segment was told of, and nothing was done on it. */
export function findUntoldDamage(stand) {
  return Object.entries(SPOILS).flatMap(([what, spoil]) => {
    const copy = copyStand(stand);
    const segment = largestSegment(copy);
    spoil(copy.path(JOURNAL, segment));
    const before = copy.ledger().length;
    const { code, stdout, stderr } = copy.run(["show", TASK, "--json"]);
    const isTold = code === 0 ? JSON.parse(stdout).damage.length > 0 : /"code":"[A-Z]+_[A-Z_]+"/.test(stderr + stdout);
    copy.run(["resume", TASK, "--json"]);
    return [
      ...(isTold ? [] : [`${segment} is ${what}: ${code} ${stdout}${stderr}`.slice(0, 500)]),
      ...(copy.ledger().length === before ? [] : [`${segment} is ${what}, and something ran`]),
    ];
  });
}

/** The same folder, with a store and a state of its own. */
function copyStand(stand) {
  for (const [from, to] of [
    ["outputs", "damaged"],
    ["state", "damaged-state"],
  ]) {
    rmSync(stand.path(to), { recursive: true, force: true });
    cpSync(stand.path(from), stand.path(to), { recursive: true });
  }
  // To this state the copy is the task, and no second one beside it.
  rmSync(stand.path("damaged-state/homes"), { recursive: true, force: true });
  const variables = {
    ...stand.variables,
    SPLASHDOWN_STORE: `file:${stand.path("damaged")}`,
    SPLASHDOWN_STATE_DIR: stand.path("damaged-state"),
    // Nothing but the damage is to stand in its way.
    SPLASHDOWN_RECOVERY_NEW_HERE: "resume",
  };
  return Object.create(stand, { variables: { value: variables } });
}

function largestSegment(copy) {
  const sizeOf = (name) => statSync(copy.path(JOURNAL, name)).size;
  return readdirSync(copy.path(JOURNAL))
    .toSorted((one, other) => sizeOf(one) - sizeOf(other))
    .at(-1);
}

function flipBit(path) {
  const bytes = readFileSync(path);
  bytes[bytes.length >> 1] ^= 1;
  writeFileSync(path, bytes);
}
