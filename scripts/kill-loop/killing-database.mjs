// Hooks into the drivers of databases, so that a process can die at a statement as it can at a file operation.
// `before(sql, values)` is called before a statement that changes something, `after` when it is done, and durable where
// it is a transaction of its own.

const CHANGES = /^\s*(?:INSERT|UPDATE|DELETE|COMMIT)\b/i;

function around({ before, after }, sql, values, run) {
  const changes = CHANGES.test(sql);
  if (changes) before(sql, values);
  const result = run();
  if (!changes) return result;
  if (result instanceof Promise) return result.then((rows) => (after(sql, values), rows));
  after(sql, values);
  return result;
}

async function hookSqlite(hooks) {
  const found = await import("node:sqlite").catch(() => import("better-sqlite3"));
  const { prototype } = found.DatabaseSync ?? found.default;
  const { prepare } = prototype;
  prototype.prepare = function (sql) {
    const statement = prepare.call(this, sql);
    const call =
      (name) =>
      (...values) =>
        around(hooks, sql, values, () => statement[name](...values));
    return { reader: statement.reader, all: call("all"), run: call("run") };
  };
}

async function hookPostgres(hooks) {
  const { Client } = await import("pg");
  const { query } = Client.prototype;
  Client.prototype.query = function (sql, values, ...rest) {
    if (typeof sql !== "string" || typeof values === "function") return query.call(this, sql, values, ...rest);
    return around(hooks, sql, values ?? [], () => query.call(this, sql, values, ...rest));
  };
}

async function hookPglite(hooks) {
  const { PGlite } = await import("@electric-sql/pglite");
  const { query, transaction } = PGlite.prototype;
  PGlite.prototype.query = function (sql, values = [], ...rest) {
    return around(hooks, sql, values, () => query.call(this, sql, values, ...rest));
  };
  PGlite.prototype.transaction = function (work) {
    return transaction.call(this, (tx) =>
      work({ query: (sql, values = []) => around(hooks, sql, values, () => tx.query(sql, values)) }),
    );
  };
}

const HOOKS = { sqlite: hookSqlite, postgres: hookPostgres, postgresql: hookPostgres, pglite: hookPglite };

/** Nothing to hook where the store is files. */
export async function hookDatabase(address, hooks) {
  await HOOKS[address.split(":")[0]]?.(hooks);
}
