/**
 * The tool servers of a task: each is connected when it is first asked for, shared by all steps that name it alike, and
 * ended with the task. One that broke is connected anew for the next who asks.
 */
import type { ConnectionDeps, ServerConnection } from "./server-connection.js";
import { connectServer } from "./server-connection.js";
import type { ToolServers } from "../../outcome/connected-server.js";

export function createToolServers(deps: Omit<ConnectionDeps, "onClose">): ToolServers {
  const open = new Map<string, Promise<ServerConnection>>();
  let isClosed = false;
  return {
    connect: (place) => {
      const key = JSON.stringify(place);
      const known = open.get(key);
      if (known !== undefined && !isClosed) return known;
      const forget = (): void => {
        if (open.get(key) === connecting) open.delete(key);
      };
      const connecting: Promise<ServerConnection> = connectServer({ ...deps, onClose: forget }, place);
      open.set(key, connecting);
      connecting.catch(forget);
      return connecting;
    },
    close: async () => {
      isClosed = true;
      // One that could not be connected was closed then.
      await Promise.allSettled([...open.values()].map(async (connecting) => (await connecting).close()));
    },
  };
}
