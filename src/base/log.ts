/** Where the machinery says something to people; the command line and the library decide how it is shown. */
export interface Log {
  info(message: string): void;
  warn(message: string): void;
  debug(message: string): void;
}

/** A log that says nothing. */
export const silentLog: Log = { info: () => undefined, warn: () => undefined, debug: () => undefined };
