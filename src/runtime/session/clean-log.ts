/** What steps, models and tool servers say to people on the way, without the secrets of the task. */
import type { Log } from "../../base/log.js";
import type { Sanitiser } from "../../engine/model/ports.js";

export function createCleanLog(log: Log, { cleanText }: Pick<Sanitiser, "cleanText">): Log {
  return {
    info: (message) => log.info(cleanText(message)),
    warn: (message) => log.warn(cleanText(message)),
    debug: (message) => log.debug(cleanText(message)),
  };
}
