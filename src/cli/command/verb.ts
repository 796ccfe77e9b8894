/** The one way a verb runs: opens Splashdown with the global flags, shows notices on stderr, closes it again. */
import type { Command } from "commander";
import type { CommandWriter } from "../../base/command-text.js";
import type { Log } from "../../base/log.js";
import type { OpenOptions } from "../../runtime/open.js";
import type { Splashdown } from "../../runtime/contract.js";
import { askPassphraseOn } from "../terminal/ask-passphrase.js";
import type { CliDeps, GlobalOptions, Streams } from "../terminal/deps.js";
import { createCommandWriter, repeatFlags, repeatFlagsIn } from "./next-command.js";
import { askTrustOn } from "./trust-question.js";
import { cleanForTerminal, coloursOf, formatView } from "../terminal/output.js";

export interface VerbContext {
  readonly splashdown: Splashdown;
  readonly options: GlobalOptions;
  readonly deps: CliDeps;
  /** Says things to people on stderr, as the flags have it. */
  readonly log: Log;
  /** Prints the answer: JSON with `--json`, else the text; commands in it are complete. */
  readonly print: <T>(view: T, format: (view: T, write: CommandWriter) => string) => void;
}

export interface VerbCall {
  readonly command: Command;
  readonly deps: CliDeps;
}

/** Exit statuses with a sentence each, for the end of a verb's help. */
export function describeStatuses(statuses: readonly (readonly [number, string])[]): string {
  const lines = statuses.map(([status, text]) => `  ${String(status).padStart(3)}  ${text}`);
  return `\nExit status:\n${lines.join("\n")}\n`;
}

export const READING_STATUSES: readonly (readonly [number, string])[] = [
  [0, "done"],
  [2, "a flag or an argument is not valid"],
  [10, "not found"],
  [12, "key missing or wrong"],
  [13, "damaged or unsupported"],
  [15, "tampered with, or rolled back"],
];

export async function withSplashdown<T>(
  { command, deps }: VerbCall,
  act: (context: VerbContext) => Promise<T>,
  more: Partial<OpenOptions> = {},
): Promise<T> {
  const options = command.optsWithGlobals<GlobalOptions>();
  const log = createLog(deps.streams, options);
  const splashdown = await deps.open({
    ...(options.store === undefined ? {} : { store: options.store }),
    ...(options.config === undefined ? {} : { configFile: options.config }),
    ...(deps.streams.interactive ? { askPassphrase: askPassphraseOn(deps.streams) } : {}),
    ...(deps.streams.interactive && options.json !== true ? { askTrust: askTrustOn(deps.streams) } : {}),
    ...confinementOf(options),
    log,
    ...more,
  });
  try {
    const write = createCommandWriter(options);
    const print: VerbContext["print"] = (view, format) => {
      const asText = (whole: typeof view): string => format(whole, write);
      deps.streams.out(formatView(repeatFlagsIn(view, options), options.json === true ? "json" : asText));
    };
    return await act({ splashdown, options, deps, log, print });
  } finally {
    await splashdown.close();
  }
}

function confinementOf({ confine, confineModules }: GlobalOptions): Pick<OpenOptions, "confine"> {
  return confine === undefined ? {} : { confine: { root: confine, mayLoadModules: confineModules === true } };
}

function createLog(streams: Streams, options: GlobalOptions): Log {
  const colours = coloursOf(streams);
  const say = (text: string): void => {
    if (options.json !== true) streams.error(`${cleanForTerminal(text)}\n`);
  };
  return {
    info: (message) => {
      if (options.quiet !== true) say(repeatFlags(message, options));
    },
    warn: (text) => {
      const message = repeatFlags(text, options);
      streams.error(
        options.json === true
          ? `${JSON.stringify({ warning: message })}\n`
          : `${colours.yellow("warning")} ${cleanForTerminal(message)}\n`,
      );
    },
    debug: (message) => {
      if (options.debug === true || options.verbose === true) say(message);
    },
  };
}
