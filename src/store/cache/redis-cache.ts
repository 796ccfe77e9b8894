/**
 * A Redis server as a cache, through the optional package @redis/client.
 *
 * It is connected with the first use and, when the connection ends, with the next one. Entries go by themselves after
 * `LIMITS.cacheKeepMs`; nothing is ever taken back, for a name says what its bytes are.
 */
import type { createClient, RESP_TYPES } from "@redis/client";
import { SplashdownError } from "../../base/errors.js";
import { LIMITS } from "../../base/limits.js";
import { hidePassword } from "../../base/store-address.js";
import type { CachePort } from "./cache-port.js";

const PREFIX = "splashdown:";

export interface RedisDriver {
  readonly createClient: typeof createClient;
  readonly RESP_TYPES: typeof RESP_TYPES;
}

interface Connection {
  get(name: string): Promise<Uint8Array | null>;
  set(name: string, bytes: Buffer, options: { readonly expiration: { type: "PX"; value: number } }): Promise<unknown>;
}

/** Errors: STORE_UNSUPPORTED without the package, with the command that installs it. */
export async function openRedis(
  url: string,
  load = () => import("@redis/client") as Promise<RedisDriver>,
): Promise<CachePort> {
  try {
    return new RedisCache(await load(), url);
  } catch (error) {
    throw new SplashdownError(
      "STORE_UNSUPPORTED",
      `the cache ${hidePassword(url)} needs a package: npm install @redis/client`,
      { details: { package: "@redis/client" }, cause: error },
    );
  }
}

class RedisCache implements CachePort {
  readonly #driver: RedisDriver;
  readonly #url: string;
  #connecting: Promise<Connection> | undefined;
  #destroy: () => void = () => undefined;

  constructor(driver: RedisDriver, url: string) {
    this.#driver = driver;
    this.#url = url;
  }

  async get(name: string): Promise<Uint8Array | undefined> {
    const connection = await this.#connect();
    return (await connection.get(PREFIX + name)) ?? undefined;
  }

  async set(name: string, bytes: Uint8Array): Promise<void> {
    const connection = await this.#connect();
    const expiration = { type: "PX", value: LIMITS.cacheKeepMs } as const;
    await connection.set(PREFIX + name, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), { expiration });
  }

  async close(): Promise<void> {
    this.#destroy();
    this.#connecting = undefined;
  }

  #connect(): Promise<Connection> {
    this.#connecting ??= this.#start();
    return this.#connecting;
  }

  async #start(): Promise<Connection> {
    const { createClient: create, RESP_TYPES: types } = this.#driver;
    const client = create({
      url: this.#url,
      disableOfflineQueue: true,
      socket: { connectTimeout: LIMITS.databaseConnectMs, reconnectStrategy: false },
    });
    const end = () => {
      this.#connecting = undefined;
      if (client.isOpen) client.destroy();
    };
    this.#destroy = end;
    client.on("error", end).on("end", () => (this.#connecting = undefined));
    try {
      await client.connect();
    } catch (error) {
      end();
      throw error;
    }
    return client.withTypeMapping({ [types.BLOB_STRING]: Buffer });
  }
}
