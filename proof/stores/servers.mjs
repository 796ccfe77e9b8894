// The stores there are here, and the servers that some of them need: started as the tests start theirs, and ended with `close`.
const BEHIND_REDIS = "postgres behind redis";
/** A folder is all they need. */
const LOCAL = ["file", "sqlite", "pglite"];

const loadPostgres = () => loadSupport("postgres-server");
const loadRedis = () => loadSupport("redis-server");

/** The loader is loaded where it is needed: stores that are a folder start nothing. */
async function loadSupport(name) {
  const { tsImport } = await import("tsx/esm/api");
  return tsImport(`../../test/support/${name}.ts`, import.meta.url);
}

/** Kinds whose servers are on this machine. */
export async function listKinds() {
  const [{ findPostgres }, { findRedis }] = await Promise.all([loadPostgres(), loadRedis()]);
  if (findPostgres() === undefined) return LOCAL;
  return [...LOCAL, "postgres", ...(findRedis() === undefined ? [] : [BEHIND_REDIS])];
}

/**
 * Shape: `store` is the kind where a folder is all it needs, else the address of a server; `cache` the address of Redis;
 * `folders` what the servers write to. An address comes back as it is.
 */
export async function openServers(kind) {
  if (LOCAL.includes(kind) || kind.includes("://"))
    return { store: kind, cache: undefined, folders: [], close: async () => undefined };
  const kinds = await listKinds();
  if (!kinds.includes(kind)) throw new Error(`there is no ${kind} here; there are ${kinds.join(", ")}`);
  const server = await (await loadPostgres()).PostgresServer.start();
  const redis = kind === BEHIND_REDIS ? await (await loadRedis()).RedisServer.start() : undefined;
  const close = async () => {
    await redis?.remove();
    await server.remove();
  };
  return { store: server.url, cache: redis?.url, folders: [server.folder], close };
}
