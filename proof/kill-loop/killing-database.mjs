// Hooks into the drivers of databases, so that a process can die at a statement as it can at a file operation.
// `before(sql, values)` is called before a statement that changes something, `after` when it is done, and durable where
// it is a transaction of its own.
import { register } from "node:module";
import { setPrepared } from "./hooked-sqlite.mjs";

const CHANGES = /^\s*(?:INSERT|UPDATE|DELETE|COMMIT)\b/i;

function around({ before, after }, { sql, values }, run) {
  const changes = CHANGES.test(sql);
  if (changes) before(sql, values);
  const result = run();
  if (!changes) return result;
  if (result instanceof Promise) return result.then((rows) => (after(sql, values), rows));
  after(sql, values);
  return result;
}

/** Puts `make(original)` in the place of a method; `original` is called with the object it belongs to first. */
function replaceMethod(prototype, name, make) {
  const original = Reflect.get(prototype, name);
  const call = (target, ...args) => Reflect.apply(original, target, args);
  const replacement = make(call);
  prototype[name] = function (...args) {
    return replacement(this, ...args);
  };
}

/**
 * The methods of the package's classes are sealed, so imports of the package are led to `hooked-sqlite.mjs`. `node:sqlite` is hooked in place.
 */
async function hookSqlite(hooks) {
  const builtIn = await import("node:sqlite").catch(() => undefined);
  const prepared = (statement, sql) => ({
    all: (...values) => around(hooks, { sql, values }, () => statement.all(...values)),
  });
  if (builtIn !== undefined)
    return replaceMethod(
      builtIn.DatabaseSync.prototype,
      "prepare",
      (prepare) => (connection, sql) => prepared(prepare(connection, sql), sql),
    );
  register("./redirected-sqlite.mjs", import.meta.url);
  setPrepared(prepared);
}

async function hookPostgres(hooks) {
  const { Client } = await import("pg");
  replaceMethod(Client.prototype, "query", (query) => (client, ...args) => {
    const [sql, values = []] = args;
    const run = () => query(client, ...args);
    return typeof sql === "string" && Array.isArray(values) ? around(hooks, { sql, values }, run) : run();
  });
}

async function hookPglite(hooks) {
  const { PGlite } = await import("@electric-sql/pglite");
  replaceMethod(PGlite.prototype, "query", (query) => (database, ...args) => {
    const [sql, values = []] = args;
    return around(hooks, { sql, values }, () => query(database, ...args));
  });
  replaceMethod(
    PGlite.prototype,
    "transaction",
    (transaction) => (database, work) =>
      transaction(database, (tx) =>
        work({ query: (sql, values = []) => around(hooks, { sql, values }, () => tx.query(sql, values)) }),
      ),
  );
}

const HOOKS = { sqlite: hookSqlite, postgres: hookPostgres, postgresql: hookPostgres, pglite: hookPglite };

/** Nothing to hook where the store is files. */
export async function hookDatabase(address, hooks) {
  await HOOKS[address.split(":")[0]]?.(hooks);
}
