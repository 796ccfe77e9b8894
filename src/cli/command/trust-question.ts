/** Asks a person in the terminal whether to trust the settings file of a folder. */
import type { TrustQuestion } from "../../runtime/trust/folder-settings.js";
import type { TrustedFolderView } from "../../runtime/contract.js";
import type { Streams } from "../terminal/deps.js";
import { cleanForTerminal } from "../terminal/output.js";

/** Shows what waits and asks once for each text of the file. */
export function askTrustOn({ screen, error }: Streams): (question: TrustQuestion) => Promise<boolean> {
  return async ({ file, waiting }) => {
    const release = screen?.hold();
    try {
      error(`${cleanForTerminal(file)} names what can act or read for you:\n${formatWaiting(waiting).join("\n")}\n`);
      const { confirm, isCancel } = await import("@clack/prompts");
      const answer = await confirm({ message: "trust it?", initialValue: false, output: process.stderr });
      return !isCancel(answer) && answer;
    } finally {
      release?.();
    }
  };
}

/** One line for each setting. */
export function formatWaiting(settings: TrustedFolderView["settings"]): string[] {
  if (settings.length === 0) return ["  nothing in it needed to be"];
  return settings.map(({ key, value }) => `  ${cleanForTerminal(`${key}: ${JSON.stringify(value)}`)}`);
}
