/**
 * The tables and views of a SQL store, as migrations by number; those already made are never changed.
 *
 * `tasks` has a row per task with its highest epoch, and since when it is in the trash if it is; everything else hangs on it and goes with it. `lines` has a row per
 * append. `objects.header` is what a checkpoint file says in the clear, for the views; the sealed bytes stand beside it,
 * and their SHA-256 as `digest`.
 * The views are for people: `checkpoints` and `workflow_checkpoints` (as in the seeds), and `task_list`.
 * Source: seeds 000 and 001, their tables; what those have inside their JSON columns is sealed in `sealed`.
 */
import { SplashdownError } from "../../base/errors.js";
import type { SqlDatabase, SqlDialect, SqlQuery } from "./sql-database.js";

type Migration = (prefix: string, dialect: SqlDialect) => readonly string[];

const MIGRATIONS: readonly Migration[] = [makeTables, makeViews];

/**
 * Brings the tables to this version; changes nothing where they are.
 *
 * Errors: STORE_UNSUPPORTED when a newer version made them; the STORE_* codes.
 */
export async function migrateTables(database: SqlDatabase, prefix: string): Promise<void> {
  if ((await readVersion(database.query, database, prefix)) === MIGRATIONS.length) return;
  await database.transaction(async (query) => {
    const { dialect } = database;
    if (dialect.lockMigrations !== "") await query(dialect.lockMigrations);
    const version = await readVersion(query, database, prefix);
    if (version === 0) await query(`CREATE TABLE IF NOT EXISTS ${prefix}migrations (version INTEGER PRIMARY KEY)`);
    for (const [at, migration] of MIGRATIONS.entries()) {
      if (at < version) continue;
      for (const statement of migration(prefix, dialect)) await query(statement);
      await query(`INSERT INTO ${prefix}migrations (version) VALUES (${at + 1})`);
    }
  });
}

async function readVersion(query: SqlQuery, { dialect }: SqlDatabase, prefix: string): Promise<number> {
  if ((await query(dialect.findTable, [`${prefix}migrations`])).length === 0) return 0;
  const [row] = await query(`SELECT COALESCE(MAX(version), 0) AS version FROM ${prefix}migrations`);
  const version = Number(row?.["version"]);
  if (version <= MIGRATIONS.length) return version;
  throw new SplashdownError(
    "STORE_UNSUPPORTED",
    `the tables ${prefix}* are of version ${version}; this version of splashdown knows ${MIGRATIONS.length}`,
    { details: { version, versionMax: MIGRATIONS.length } },
  );
}

function makeTables(prefix: string, dialect: SqlDialect): readonly string[] {
  const { serial, bytes, text } = dialect;
  const task = `task BIGINT NOT NULL REFERENCES ${prefix}tasks (id) ON DELETE CASCADE`;
  const segment = `${task}, epoch INTEGER NOT NULL, idx INTEGER NOT NULL`;
  return [
    `CREATE TABLE ${prefix}tasks (id ${serial}, name ${text} NOT NULL UNIQUE, epoch INTEGER NOT NULL, trashed_at BIGINT)`,
    `CREATE TABLE ${prefix}segments (${segment}, PRIMARY KEY (task, epoch, idx))`,
    `CREATE TABLE ${prefix}lines (${segment}, n INTEGER NOT NULL, bytes ${bytes} NOT NULL, PRIMARY KEY (task, epoch, idx, n))`,
    `CREATE TABLE ${prefix}objects (${task}, key ${text} NOT NULL, size INTEGER NOT NULL, digest TEXT NOT NULL, header TEXT, bytes ${bytes} NOT NULL, PRIMARY KEY (task, key))`,
    `CREATE TABLE ${prefix}probes (id ${serial}, at BIGINT NOT NULL)`,
    ...dialect.extras(prefix),
  ];
}

/** The names that people query by are empty where a task keeps them to itself (`metadata: minimal`). */
function makeViews(prefix: string, { member }: SqlDialect): readonly string[] {
  const of = (name: string) => member("o.header", name);
  const isCheckpoint = `o.header IS NOT NULL AND o.key LIKE 'checkpoint%'`;
  const from = `FROM ${prefix}objects o JOIN ${prefix}tasks t ON t.id = o.task WHERE t.trashed_at IS NULL AND ${isCheckpoint}`;
  const names = [`${of("workflow_name")} AS workflow_name`, `${of("current_agent")} AS current_agent`];
  const clear = [
    `${of("checkpoint_id")} AS id`,
    `${of("workflow_id")} AS workflow_id`,
    ...names,
    `t.name AS task`,
    `CAST(${of("seq")} AS INTEGER) AS sequence`,
    `CAST(${of("phase")} AS INTEGER) AS phase`,
    `${of("status")} AS status`,
    `${of("trigger")} AS trigger_name`,
    `${of("timestamp")} AS created_at`,
    `o.size AS size_bytes`,
    `o.key AS file`,
    `o.bytes AS sealed`,
  ];
  const layers = [
    `${of("checkpoint_id")} AS id`,
    `${of("workflow_id")} AS workflow_id`,
    ...names,
    `${of("status")} AS status`,
    `${of("timestamp")} AS timestamp`,
    `CAST(${of("phase")} AS INTEGER) AS layer_index`,
    `o.bytes AS state`,
  ];
  const newest = (name: string, as = name) =>
    `(SELECT ${of(name)} FROM ${prefix}objects o WHERE o.task = t.id AND ${isCheckpoint} ORDER BY CAST(${of("seq")} AS INTEGER) DESC LIMIT 1) AS ${as}`;
  const tasks = [
    `t.name AS task`,
    newest("workflow_name"),
    newest("status"),
    newest("phase"),
    newest("current_agent"),
    newest("timestamp", "updated_at"),
    `t.epoch AS epoch`,
    `t.trashed_at AS trashed_at_ms`,
    `(SELECT COUNT(*) FROM ${prefix}objects o WHERE o.task = t.id AND ${isCheckpoint}) AS checkpoints`,
    `(SELECT COALESCE(SUM(o.size), 0) FROM ${prefix}objects o WHERE o.task = t.id) AS object_bytes`,
    `(SELECT COALESCE(SUM(LENGTH(l.bytes)), 0) FROM ${prefix}lines l WHERE l.task = t.id) AS journal_bytes`,
  ];
  return [
    `CREATE VIEW ${prefix}checkpoints AS SELECT ${clear.join(", ")} ${from}`,
    `CREATE VIEW ${prefix}workflow_checkpoints AS SELECT ${layers.join(", ")} ${from}`,
    `CREATE VIEW ${prefix}task_list AS SELECT ${tasks.join(", ")} FROM ${prefix}tasks t`,
  ];
}
