/**
 * What is proven, as data: each suite tries cases, counts them, and names what was wrong. `least` is how many cases there must
 * be at least in that form; a form that is absent there has the suite not. One that is `alone` runs when no other does.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./stand.mjs";
import { countKills, countMutants, impatientKills, killLoop, mixedRounds, readJson, runTests } from "./suite-runs.mjs";

const EXPLORED = [
  { name: "crash after every operation", least: { commit: 30_000, long: 1_000_000 } },
  { name: "crash of what recovers, prunes, forks, imports, rotates, shreds", least: { commit: 10_000, long: 200_000 } },
  // Below the verbs every operation for every commit; of the verbs' own every fifth.
  { name: "an operation fails", least: { commit: 20_000, long: 800_000 } },
  { name: "a sync fails, drops its data, then succeeds", least: { commit: 2_000, long: 10_000 } },
];

/** Tests of a room by name, the quick and the slow ones. */
const unit = (room, ...names) => names.map((name) => findTest(`${room}/${name}.test.ts`));

function findTest(path) {
  const found = ["unit", "integration"]
    .map((kind) => `test/${kind}/${path}`)
    .find((file) => existsSync(join(ROOT, file)));
  if (found === undefined) throw new Error(`there is no test ${path}`);
  return found;
}

const SMALL_FILES = [
  ...unit("checkpoint", "file-damage", "blobs"),
  ...unit("journal", "history"),
  ...unit("vault", "keyring-damage"),
  ...unit("runtime", "audit-file", "control-damage"),
];

/** What the usual run of the tests kills only here and there. */
const KILLED = [
  "test/e2e/past/killed-removal.test.ts",
  "test/e2e/past/killed-return.test.ts",
  "test/e2e/kill/eventful.test.ts",
];

const HOSTILE_PATHS = [
  ...unit("store", "directory-store", "store-edges", "rare-failures"),
  ...unit("vault", "key-file", "default-key"),
  ...unit("runtime", "unsafe-neighbour", "deliverables", "bundled-files", "bundle-deliverables"),
  ...unit("transfer", "bundle", "folder-files"),
  ...unit("definition", "loader"),
];

const SECRETS = [
  "test/integration/base/redact.test.ts",
  "test/unit/runtime/canaries.test.ts",
  "test/unit/runtime/canary-doors.test.ts",
  "test/e2e/trust/secrecy.test.ts",
  "test/e2e/models/secrets.test.ts",
];

/**
 * Slow ones first: two run side by side.
 *
 * @typedef {"commit" | "long"} Form
 * @typedef {import("./suite-runs.mjs").Found} Found
 * @type {{ name: string, least: Partial<Record<Form, number>>, alone?: boolean, run: (form: Form) => Promise<Found> }[]}
 */
export const SUITES = [
  {
    name: "real system calls fail or kill (strace)",
    least: { commit: 60, long: 60 },
    run: () => readJson("proof/proofs/injected.mjs"),
  },
  {
    name: "kill -9 of the real program",
    least: { commit: 200, long: 20_000 },
    run: (form) => killLoop(form === "long" ? 20_000 : 200),
  },
  {
    name: "kill -9 of a user without patience: the same command again, side by side, on every store",
    least: { commit: 8, long: 1_000 },
    run: (form) => impatientKills(form === "long" ? 300 : 3),
  },
  {
    name: "kill -9 within turns and tools of models, over four wires",
    least: { commit: 8, long: 100 },
    run: (form) => countKills("proof/model-kill-loop.mjs", ["--kills", form === "long" ? 100 : 8]),
  },
  {
    name: "real processes killed within every verb and rule",
    least: { commit: 40, long: 150 },
    run: (form) => runTests(KILLED, { factor: form === "long" ? 2 : 1, projects: ["e2e"] }),
  },
  ...EXPLORED.map(({ name, least }) => ({
    name,
    least,
    run: (form) => readJson("proof/proofs/explore.mjs", name, form),
  })),
  {
    name: "eight processes want one crashed task",
    least: { commit: 100, long: 5_000 },
    run: (form) => readJson("proof/proofs/races.mjs", ...(form === "long" ? ["5000", "--freeze"] : ["100"])),
  },
  {
    name: "attacks on a task's files by who has no key",
    least: { commit: 10_000, long: 10_000 },
    run: () => readJson("proof/proofs/attacks.mjs"),
  },
  {
    name: "attacks on a task's rows by who has no key: SQLite",
    least: { commit: 2_500, long: 12_500 },
    run: (form) => readJson("proof/proofs/attacks.mjs", form === "long" ? "1" : "5", "0", "sqlite"),
  },
  {
    name: "attacks on a task's rows by who has no key: PGlite",
    least: { commit: 250, long: 2_500 },
    run: (form) => readJson("proof/proofs/attacks.mjs", form === "long" ? "5" : "50", "1", "pglite"),
  },
  {
    name: "a real disk fills up",
    least: { commit: 64, long: 1_024 },
    run: (form) => readJson("proof/proofs/full-disk.mjs", form === "long" ? "1024" : "64"),
  },
  {
    name: "protocols with one thing left out are caught",
    least: { commit: 40, long: 40 },
    run: (form) => readJson("proof/proofs/explore.mjs", "mutants", form),
  },
  {
    name: "every bit flipped: checkpoint, segment, keyring, blob, audit, control",
    least: { commit: 40_000, long: 1_300_000 },
    run: (form) => runTests(SMALL_FILES, { titles: "^(?!.*repaired).*flip", factor: form === "long" ? 2 : 1 }),
  },
  {
    name: "every bit flipped, the checksum repaired by who has no key",
    least: { commit: 30_000, long: 1_000_000 },
    run: (form) => runTests(SMALL_FILES, { titles: "flip.*repaired", factor: form === "long" ? 2 : 1 }),
  },
  {
    name: "cut, and a byte put in, doubled, taken out, at every offset",
    least: { commit: 30_000, long: 30_000 },
    run: () => runTests(SMALL_FILES, { titles: "at every (length|offset)", factor: 2 }),
  },
  {
    name: "parsers on changed and random bytes",
    least: { commit: 200_000, long: 50_000_000 },
    run: (form) => runTests(["test/property/parsers.test.ts"], { factor: form === "long" ? 5_000 : 20 }),
  },
  {
    name: "mixed tasks under kills, faults and commands: the ten points",
    least: { commit: 40, long: 1_000 },
    run: (form) => mixedRounds(form === "long" ? 50 : 2),
  },
  {
    name: "crypto against outside vectors",
    least: { commit: 20, long: 20 },
    run: () => runTests(unit("vault", "vectors")),
  },
  {
    name: "crypto against another implementation (noble), random cases",
    least: { long: 100_000 },
    run: () => readJson("proof/proofs/other-crypto.mjs", "100000"),
  },
  {
    name: "golden files of every format",
    least: { commit: 5, long: 5 },
    run: () => runTests(["test/golden", "test/unit/engine/golden.test.ts"]),
  },
  {
    name: "two builds hand a task back and forth; a newer one is refused",
    least: { commit: 40, long: 80 },
    run: (form) => readJson("proof/proofs/two-builds.mjs", form),
  },
  {
    name: "keys: added, removed, rotated, sealed again, revoked, shredded",
    least: { commit: 60, long: 60 },
    run: () =>
      runTests([
        ...unit("vault", "keyring-changes", "keyring-revisions", "keyring-revocation", "task-vault", "unlocking"),
        ...unit("runtime", "reencryption", "unfinished-change"),
      ]),
  },
  {
    name: "what is wrong with a file: the exact code and words, every format",
    least: { commit: 150, long: 150 },
    run: () => runTests(["test/golden/refusals"]),
  },
  {
    name: "a clock an hour back, ten years ahead, at a stand",
    least: { commit: 9, long: 9 },
    run: () => runTests(["test/simulation/verbs/clocks.test.ts"]),
  },
  {
    name: "hostile paths: links, pipes, foreign owners, names, ways out",
    least: { commit: 30, long: 30 },
    run: () =>
      runTests(HOSTILE_PATHS, {
        titles: "link|pipe|belongs to another|others can write|name|leave the task's folder|T3|T4|T5|turns out to be",
      }),
  },
  {
    name: "secrets planted in prompts, outputs, errors and logs",
    least: { commit: 400, long: 400 },
    run: () => runTests(SECRETS, { projects: [] }),
  },
  {
    name: "values come back as they were, or are refused",
    least: { commit: 10_000, long: 1_000_000 },
    run: (form) => runTests(["test/unit/base/json-encoding.test.ts"], { factor: form === "long" ? 1_000 : 10 }),
  },
  {
    name: "the answers of other platforms: Windows renames and folder syncs",
    least: { commit: 15, long: 15 },
    run: () => runTests([...unit("store", "patient-file-system"), ...unit("runtime", "held-files")]),
  },
  {
    name: "stores under one suite",
    least: { commit: 100, long: 100 },
    run: () => runTests(["test/integration/store/conformance.test.ts", "test/property/store-model.test.ts"]),
  },
  {
    name: "changes to storage and cryptography that a test must notice",
    least: { long: 3_000 },
    run: () => countMutants(),
  },
  {
    name: "budgets of time and memory",
    alone: true,
    least: { commit: 4, long: 4 },
    run: () => readJson("proof/proofs/budgets.mjs"),
  },
];
