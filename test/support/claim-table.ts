/**
 * What is claimed of faults, place by place: for each word of the claim the tests and scenarios that show it. A title is the
 * text in the file, or the beginning of it. `claim-table.test.ts` holds that they are all there.
 */
import type { NamedTest } from "./named-tests.js";

export interface ClaimRow {
  readonly claim: string;
  readonly tests: readonly NamedTest[];
}

const at = (file: string, ...titles: readonly string[]): readonly NamedTest[] =>
  titles.map((title) => ({ file, title }));

const VERB_EXPLORER = "simulation/verbs/verb-explorer.test.ts";
const SCENARIOS = "simulation/verbs/scenarios.ts";
const KEY_SCENARIOS = "simulation/verbs/key-scenarios.ts";
const CRASHED_TWICE = at(
  VERB_EXPLORER,
  "R10: what goes on after a crash may crash too, and ends as if nothing had happened: $name",
);
const FAILING = at(VERB_EXPLORER, "an operation that fails is a typed error with a way on, and half of nothing: $name");

export const CLAIM_TABLE: readonly ClaimRow[] = [
  {
    claim: "a crash during recovery, two levels deep",
    tests: [
      ...CRASHED_TWICE,
      ...at(
        SCENARIOS,
        "recovery of a task that crashed at ${share} of its life",
        "recovery that finds its newest checkpoint",
      ),
      ...at("simulation/explorer.test.ts", "R10: finds nothing wrong after any crash: %s"),
    ],
  },
  { claim: "two levels: prune", tests: [...CRASHED_TWICE, ...at(SCENARIOS, "prune of files", "prune of the history")] },
  {
    claim: "two levels: rotate",
    tests: [
      ...CRASHED_TWICE,
      ...at(KEY_SCENARIOS, "keys rotate", "keys add, rotate the task's key, remove", "keys rotate --reencrypt"),
    ],
  },
  {
    claim: "two levels: import",
    tests: [...CRASHED_TWICE, ...at("simulation/verbs/bundle-scenarios.ts", "import of a bundle")],
  },
  {
    claim: "two levels: shred",
    tests: [...CRASHED_TWICE, ...at("simulation/verbs/bundle-scenarios.ts", "keys shred")],
  },
  {
    claim: "superseded owners that keep writing",
    tests: [
      ...at("e2e/trust/ownership.test.ts", "writes nothing that counts and starts nothing; what its step gave"),
      ...at("conformance/store-log-cases.ts", "S1: the claimer sees what the old owner made durable"),
      ...at("conformance/store-place-cases.ts", "S1: who was superseded by the one that moved the task to the trash"),
      ...at("unit/store/sqlite-store.test.ts", "S1: refuses what a superseded owner appends"),
    ],
  },
  {
    claim: "every operation × EIO, ENOSPC, EDQUOT, EMFILE, EROFS, EACCES, EINTR, short write × once, for ever",
    tests: [
      ...FAILING,
      ...at("simulation/fault-plan.ts", "EDQUOT", "EINTR", "shortWrite"),
      ...at(
        "unit/simulation/faulty-file-system.test.ts",
        "fails an operation once or for ever",
        "gives every fault to some",
      ),
      ...at("integration/store/store-crash.test.ts", "answers every injected fault with a coded error"),
    ],
  },
  { claim: "EDQUOT", tests: at("unit/store/store-edges.test.ts", "[reliability 4] gives each errno its code") },
  { claim: "EINTR", tests: at("unit/store/retrying-file-system.test.ts", "opens again after %s") },
  {
    claim: "short writes",
    tests: at("unit/store/store-edges.test.ts", "go on after every short read and write, and stop when no progress"),
  },
  {
    claim: "a failing fsync that drops data and then succeeds",
    tests: [
      ...at(
        "unit/store/retrying-file-system.test.ts",
        "never forgives an I/O error of a folder sync, nor tries it again",
      ),
      ...at(
        "simulation/mutants.ts",
        "fsync again after it failed",
        "the last batch of who came before is not repeated",
      ),
    ],
  },
  {
    claim: "protocols with one thing left out",
    tests: [
      ...at("simulation/explorer.test.ts", "sees a protocol with a fault: $name"),
      ...at(VERB_EXPLORER, "sees a protocol with a fault: $name"),
    ],
  },
  {
    claim: "real faults with strace",
    tests: [...at("e2e/kill/injected-faults.test.ts", "a system call that fails")],
  },
  {
    claim: "a small tmpfs",
    tests: [
      ...at("e2e/trust/full-disk.test.ts", "a full disk"),
      ...at("e2e/stores/disk-stories.ts", "FAULTS 10: a disk that fills up stops the run by name"),
    ],
  },
  {
    claim: "concurrent recoverers",
    tests: [
      ...at("e2e/trust/ownership.test.ts", "lets exactly one of eight go on; the others leave with 11"),
      ...at("e2e/kill/prove.test.ts", "lets eight processes race for a crashed task"),
    ],
  },
  {
    claim: "frozen processes",
    tests: [
      ...at("e2e/trust/ownership.test.ts", "is not taken over while it is frozen, not even on demand"),
      ...at(
        "unit/store/owner-presence.test.ts",
        "takes a stopped owner that lets callers in but says nothing for alive",
      ),
      ...at("e2e/kill/prove.test.ts", "stops racers wherever they are and lets them go again"),
    ],
  },
  {
    claim: "clock back, forward and frozen",
    tests: at(
      "simulation/verbs/clocks.test.ts",
      "leaves order, result and retention as they are: %s",
      "an hour back",
      "ten years ahead",
      "where it stood when the task began",
    ),
  },
  {
    claim: "hostile names",
    tests: [
      ...at("unit/store/store-edges.test.ts", "are what can be stored on every platform"),
      ...at("conformance/store-object-cases.ts", "S4: a key that some store could not hold is refused by every call"),
      ...at("conformance/store-place-cases.ts", "a name that could be no folder everywhere is refused"),
    ],
  },
  {
    claim: "symlinks",
    tests: [
      ...at("unit/store/directory-store.test.ts", "follows no link at any component below its root"),
      ...at(
        "unit/vault/key-file.test.ts",
        "V6: refuses links, folders and other things",
        "refuses a link that was put there after",
      ),
      ...at(
        "unit/transfer/folder-files.test.ts",
        "T4: are found without what belongs to the store, and a link is named",
      ),
    ],
  },
  {
    claim: "FIFOs and hard links",
    tests: at(
      "unit/store/directory-store.test.ts",
      "reads and replaces nothing through a planted link, a third name or a pipe",
    ),
  },
  {
    claim: "foreign owners",
    tests: at(
      "unit/store/directory-store.test.ts",
      "refuses what belongs to another user",
      "refuses a task folder that others can write to, whichever of its folders it is",
    ),
  },
  {
    claim: "SQL stores: server killed",
    tests: at("unit/store/postgres-store.test.ts", "goes on after the server was killed and started again"),
  },
  {
    claim: "SQL stores: connection cut in mid-commit",
    tests: at(
      "unit/store/postgres-store.test.ts",
      "S2: an append whose answer was cut off kills the segment, and the next segment goes on",
      "FAULTS 6: an answer whose acknowledgement was cut off stands",
      "asks again what only reads when the connection was cut, and begins a transaction again before its commit",
    ),
  },
  {
    claim: "SQL stores: disk full",
    tests: [
      ...at("unit/store/sqlite-store.test.ts", "S2: says STORE_FULL when there is no room"),
      ...at("e2e/trust/full-disk.test.ts", "stops the run in the same way where the disk holds a database of SQLite"),
      ...at("e2e/stores/disk-stories.ts", "FAULTS 10: a disk that fills up stops the run by name"),
    ],
  },
  {
    claim: "SQL stores: serialisation failures",
    tests: at(
      "unit/store/postgres-store.test.ts",
      "tries again what the database asks to try again, and says STORE_BUSY",
    ),
  },
];
