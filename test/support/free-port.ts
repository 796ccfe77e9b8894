/**
 * A port of loopback for a server that is told its port.
 *
 * It lies below those that systems give to whoever connects, so that between the look and the server's start, or while the
 * server is down, no client of anybody gets it. Processes of tests begin their search apart from each other.
 */
import { createServer } from "node:net";

const FIRST = 20_000;
const COUNT = 10_000;

let tried = process.pid * 61;

export async function findFreePort(): Promise<number> {
  for (let tries = 0; tries < COUNT; tries += 1) {
    tried += 1;
    const port = FIRST + (tried % COUNT);
    if (await isFree(port)) return port;
  }
  throw new Error(`no port of ${FIRST} to ${FIRST + COUNT - 1} is free`);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer().once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
