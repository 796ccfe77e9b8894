/** Arguments whose bytes are no text: Node hands them over with characters replaced. */
import { readFileSync } from "node:fs";
import { SplashdownError } from "../../base/errors.js";
import { readUtf8 } from "../../base/utf8-text.js";

const REPLACEMENT = "\uFFFD";

/** Looked at where the system shows the bytes. Errors: USAGE_INVALID for an argument that is not UTF-8, as it is shown. */
export function requireTextArguments(args: readonly string[]): void {
  const replaced = args.find((word) => word.includes(REPLACEMENT));
  if (replaced === undefined || process.platform !== "linux") return;
  const read = readUtf8(readFileSync("/proc/self/cmdline"));
  if ("text" in read) return;
  throw new SplashdownError("USAGE_INVALID", `the argument ${JSON.stringify(replaced)} is not UTF-8 text`);
}
