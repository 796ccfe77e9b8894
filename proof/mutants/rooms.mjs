/**
 * Which files are changed, and which tests are to notice: those of the file's own room, and the frozen formats. What the
 * tests of other rooms, the explorers and the whole program would notice besides does not count here.
 */
const GOLDEN = "test/golden/formats/*.test.ts";
const unit = (room) => `test/{unit,integration}/${room}/*.test.ts`;

/** A room's `files` are all of its modules, less those named in `without`. */
export const ROOMS = [
  { name: "vault", tests: [unit("vault"), GOLDEN], without: [] },
  { name: "journal", tests: [unit("journal"), GOLDEN], without: [] },
  { name: "checkpoint", tests: [unit("checkpoint"), GOLDEN], without: [] },
  { name: "recovery", tests: [unit("recovery")], without: [] },
  {
    name: "store",
    tests: [
      "directory-store",
      "store-edges",
      "rare-failures",
      "store-crash",
      "trash",
      "retrying-file-system",
      "conformance",
    ].map((name) => `test/{unit,integration}/store/${name}.test.ts`),
    // The stores in a database are held by the same suite, which takes a server's start for each mutant.
    without: [/^(?:sql|sqlite|postgres|pglite|redis|open-sql|cached|cache|best-effort-cache|hand)/],
  },
];
