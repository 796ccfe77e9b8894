import { afterAll } from "vitest";
import { findPostgres } from "../../support/postgres-server.js";
import { findRedis } from "../../support/redis-server.js";
import { SqlPlaces } from "../../support/sql-places.js";
import { describeStores, type StorePlaces } from "../../support/store-suite-run.js";

const sql = new SqlPlaces();
afterAll(() => sql.close());

const PLACES: StorePlaces = {
  sqlite: (instance) => sql.sqlite(instance),
  pglite: (instance) => sql.pglite(instance),
  // Without its binaries on this machine there is nothing to run it on.
  ...(findPostgres() === undefined ? {} : { postgres: (instance) => sql.postgres(instance) }),
  // The servers' own cases are in cached-store.test.ts; all of the contract is run by `node scripts/stores.mjs`.
  ...(process.env["SPLASHDOWN_TEST_STORES"] !== "all" || findPostgres() === undefined || findRedis() === undefined
    ? {}
    : { "postgres behind redis": (instance) => sql.postgresBehindRedis(instance) }),
};

describeStores(PLACES);
