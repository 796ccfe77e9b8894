/** What a verb is given, so that it can be tested without a process. */
import { EXIT_STATUS } from "../../base/error-table.js";
import type { OpenOptions } from "../../runtime/open.js";
import type { Splashdown } from "../../runtime/contract.js";
import type { Screen } from "./screen.js";

export interface GlobalOptions {
  readonly json?: boolean;
  readonly debug?: boolean;
  readonly verbose?: boolean;
  readonly quiet?: boolean;
  readonly store?: string;
  readonly config?: string;
  /** Of processes that were started for agents: where workflow files may lie, and that modules may be loaded. */
  readonly confine?: string;
  readonly confineModules?: boolean;
}

export interface Streams {
  readonly out: (text: string) => void;
  readonly error: (text: string) => void;
  /** Nothing goes to stderr any more. */
  readonly silence?: () => void;
  /** A person sits at the other end of stderr and stdin. */
  readonly interactive: boolean;
  readonly colour: boolean;
  /** What is piped in. */
  readonly input?: AsyncIterable<unknown>;
  /** Columns of the terminal behind stdout or stderr; nothing where there is none. */
  readonly columns?: () => number | undefined;
  /** The terminal behind stderr, when it is one. */
  readonly screen?: Screen;
}

export interface CliDeps {
  readonly streams: Streams;
  readonly open: (options: OpenOptions) => Promise<Splashdown>;
  /** Fires on the first SIGINT, SIGTERM or SIGHUP; its reason says which. */
  readonly signal: AbortSignal;
  /** This very command once more, in a process without keys whose stdout is stderr; the answer is its status. */
  readonly again?: () => Promise<number>;
  /** How long this process has run, in milliseconds. */
  readonly uptimeMs?: () => number;
  /** Sets the status the process ends with. */
  readonly exit: (status: number) => void;
}

/** The status that a fired signal ends the process with. */
export function statusOfSignal({ reason }: AbortSignal): number {
  const { exitStatus } = reason as { readonly exitStatus?: unknown };
  return typeof exitStatus === "number" ? exitStatus : EXIT_STATUS.interrupted;
}
