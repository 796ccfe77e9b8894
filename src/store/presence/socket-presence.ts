/**
 * Knocking over a unix socket in the task's folder.
 *
 * A path longer than the kernel's 107 bytes is reached through the folder's own descriptor on Linux; elsewhere, and on
 * Windows, no socket is made and an owner stays unclear. Neither side keeps the process alive.
 */
import { close, constants, open, promises as files } from "node:fs";
import { createConnection, createServer, type Server } from "node:net";
import { join } from "node:path";
import type { Clock } from "../../base/clock.js";
import { errnoOf } from "../../base/errors.js";
import { OWNER_BYTES_MAX } from "./owner-record.js";
import type { Endpoint, PingResult, PresencePort } from "../contract/presence-port.js";

/** `sizeof(sun_path)` less its NUL, of the smaller of Linux (108) and macOS (104). */
const SOCKET_PATH_BYTES_MAX = 103;
const KNOCK_TIMEOUT_MS = 2_000;

export interface SocketPresenceParts {
  readonly clock: Clock;
  readonly platform: NodeJS.Platform;
}

interface ReachablePath {
  readonly path: string;
  release(): void;
}

export function createSocketPresence(parts: SocketPresenceParts): PresencePort {
  return {
    listen: async (door, answer) => {
      const reach = await reachSocket(door, parts.platform);
      if (reach === undefined) return undefined;
      try {
        return await startListening(reach, answer);
      } catch (error) {
        reach.release();
        throw error;
      }
    },
    ping: async (door) => {
      const reach = await reachSocket(door, parts.platform).catch(() => undefined);
      if (reach === undefined) return { kind: "unreachable" };
      try {
        return await pingAt(reach.path, parts.clock);
      } finally {
        reach.release();
      }
    },
  };
}

async function reachSocket(door: Endpoint, platform: NodeJS.Platform): Promise<ReachablePath | undefined> {
  if (platform === "win32") return undefined;
  const path = join(door.folder, door.name);
  if (Buffer.byteLength(path) <= SOCKET_PATH_BYTES_MAX) return { path, release: () => undefined };
  if (platform !== "linux") return undefined;
  const descriptor = await openFolder(door.folder);
  return { path: `/proc/self/fd/${descriptor}/${door.name}`, release: () => close(descriptor, () => undefined) };
}

function openFolder(path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
    open(path, flags, (error, descriptor) => (error ? reject(error) : resolve(descriptor)));
  });
}

async function startListening(reach: ReachablePath, answer: () => string): Promise<{ close(): Promise<void> }> {
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.unref();
    // Gone once it is said: a caller that keeps its end open must not hold up our end.
    socket.end(answer(), () => socket.destroy());
  });
  server.unref();
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(reach.path, resolve);
  });
  server.on("error", () => undefined);
  // The folder is closed to others anyway.
  await files.chmod(reach.path, 0o600).catch(() => undefined);
  return { close: () => stopListening(server, reach) };
}

/** Closing also removes the socket's name, so the folder's descriptor is kept until then. */
function stopListening(server: Server, reach: ReachablePath): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => {
      reach.release();
      resolve();
    });
  });
}

/** Being let in is the answer; what is said there only adds to it. */
function pingAt(path: string, clock: Clock): Promise<PingResult> {
  return new Promise((resolve) => {
    const socket = createConnection(path);
    let isIn = false;
    let text = "";
    const settle = (result: PingResult) => {
      cancel();
      socket.destroy();
      resolve(result);
    };
    const settleSeen = () => settle(isIn ? { kind: "answered", text } : { kind: "unreachable" });
    const cancel = clock.schedule(KNOCK_TIMEOUT_MS, settleSeen);
    socket.setEncoding("utf8");
    socket.on("connect", () => (isIn = true));
    socket.on("data", (part: string) => {
      text += part;
      if (text.length > OWNER_BYTES_MAX) settleSeen();
    });
    socket.on("end", settleSeen);
    socket.on("error", (error) => {
      const errno = errnoOf(error);
      if (!isIn && errno === "ECONNREFUSED") settle({ kind: "refused" });
      // A full backlog: somebody listens, too busy to answer.
      else if (!isIn && errno === "EAGAIN") settle({ kind: "answered", text: "" });
      else settleSeen();
    });
  });
}
