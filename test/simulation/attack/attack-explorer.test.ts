/** A short form of the attack explorer, and the holes that were there: each shows when it is opened again. */
import { afterEach, describe, expect, it, vi } from "vitest";
import type { SqlQuery } from "../../../src/store/sql/sql-database.js";
import { exploreAttacks } from "./attack-explorer.js";

const CLOSED = vi.hoisted(() => ({
  unsealedHeaders: false,
  laterEpochs: false,
  olderKeyrings: false,
  rowEpochs: false,
}));
const hole = vi.hoisted(() => ({ ...CLOSED }));

vi.mock(import("../../../src/journal/segment-records.js"), async (importOriginal) => {
  const original = await importOriginal();
  return {
    ...original,
    openSegmentRecords: (scan, read, vault) => {
      const createOpener: typeof vault.createOpener = (...args) => {
        const opener = vault.createOpener(...args);
        return { isHeadSealed: () => true, open: (...parts) => opener.open(...parts) };
      };
      const blind = new Proxy(vault, {
        get: (target, name) =>
          name === "createOpener" ? createOpener : (Reflect.get(target, name, target) as unknown),
      });
      return original.openSegmentRecords(scan, read, hole.unsealedHeaders ? blind : vault);
    },
  };
});

vi.mock(import("../../../src/runtime/keychain/key-memory.js"), async (importOriginal) => {
  const original = await importOriginal();
  const findKeyringRollback: typeof original.findKeyringRollback = (...args) =>
    hole.olderKeyrings ? undefined : original.findKeyringRollback(...args);
  return { ...original, findKeyringRollback };
});

vi.mock(import("../../../src/recovery/rollback-guard.js"), async (importOriginal) => {
  const original = await importOriginal();
  const isPassed = ({ history, anchor }: Parameters<typeof original.isRolledBack>[0]): boolean =>
    hole.laterEpochs && history.epoch > (anchor?.epoch ?? 0);
  return {
    ...original,
    isRolledBack: (question) => !isPassed(question) && original.isRolledBack(question),
    requireNotRolledBack: (question) => {
      if (!isPassed(question)) original.requireNotRolledBack(question);
    },
  };
});

vi.mock(import("../../support/sql-places.js"), async (importOriginal) => {
  const original = await importOriginal();
  const believe =
    (query: SqlQuery): SqlQuery =>
    (sql, params) =>
      query(hole.rowEpochs ? sql.replace(/^SELECT MAX\(.* WHERE task = .*$/, ROW_EPOCH) : sql, params);
  return {
    ...original,
    shareDatabase: (database) => {
      const shared = original.shareDatabase(database);
      return {
        ...shared,
        query: believe(shared.query),
        transaction: (work) => shared.transaction((query) => work(believe(query))),
      };
    },
  };
});

const ROW_EPOCH = "SELECT epoch FROM splashdown_tasks WHERE id = ?";

afterEach(() => Object.assign(hole, CLOSED));

const PLACES = ["folder", "sqlite"] as const;

describe.each(PLACES)("the attack explorer over a task in %s", (on) => {
  it("finds no attack that has a payment made twice, in a short form", async () => {
    const report = await exploreAttacks({ on, every: 397 });
    expect(report.violations).toEqual([]);
    expect(report.tried).toBeGreaterThan(25);
    expect([...report.outcomes.keys()]).toContain("done");
  });

  it("catches an older keyring that is as good as the newer one", async () => {
    hole.olderKeyrings = true;
    const report = await exploreAttacks({ on, every: 1, only: /^keyring-.* is taken away/, stopsAtViolation: true });
    expect(report.violations).toHaveLength(1);
  });

  it("catches a later epoch that is not judged: the older journal is put back with a later owner's header", async () => {
    hole.laterEpochs = true;
    const report = await exploreAttacks({ on, every: 1, only: /went on elsewhere/, stopsAtViolation: true });
    expect(report.violations).toHaveLength(1);
  });

  it("catches headers that nobody sealed, once they are believed again and later epochs are not judged", async () => {
    Object.assign(hole, { unsealedHeaders: true, laterEpochs: true });
    const report = await exploreAttacks({ on, every: 3, only: /is the header of/, stopsAtViolation: true });
    expect(report.violations).toHaveLength(1);
  });
});

describe("the attack explorer over rows", () => {
  it("finds nothing in PGlite either, in a short form", async () => {
    const report = await exploreAttacks({ on: "pglite", every: 997 });
    expect(report.violations).toEqual([]);
    expect(report.tried).toBeGreaterThan(8);
  });

  it.each([
    ["older keyrings", "olderKeyrings", /^rows put back to older: .*keyring/],
    ["later epochs", "laterEpochs", /^rows put back to elsewhere: tasks, journal/],
  ] as const)("catches %s that are not judged, by the rows themselves", async (_what, name, only) => {
    hole[name] = true;
    const report = await exploreAttacks({ on: "sqlite", every: 1, only, stopsAtViolation: true });
    expect(report.violations).toHaveLength(1);
  });

  it("catches a store that hands out the epoch after the one in the task's row", async () => {
    hole.rowEpochs = true;
    const only = /^the oldest 1 segments are gone and the task's epoch is/;
    const report = await exploreAttacks({ on: "sqlite", every: 1, only, stopsAtViolation: true });
    expect(report.violations).toHaveLength(1);
  });
});
