/** In place of a store that a folder's settings name and nobody has trusted: whoever asks it for anything is told so. */
import type { Store } from "../../store/contract/contract.js";

/** Nothing is read, written or connected to. Errors: the given one, from every call but `close`. */
export function createWaitingStore(address: string, error: () => Error): Store {
  const refuse = (): Promise<never> => Promise.reject(error());
  return {
    manifest: {
      kind: "waiting",
      multiProcess: false,
      durable: true,
      reserve: false,
      objectBytesMax: 0,
      lineBytesMax: 0,
    },
    address,
    tasks: refuse,
    task: refuse,
    createTask: refuse,
    removeTask: refuse,
    trash: refuse,
    trashTask: refuse,
    restoreTask: refuse,
    purgeTask: refuse,
    probe: refuse,
    close: () => Promise.resolve(),
  };
}
