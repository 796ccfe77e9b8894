/** `splashdown guide`: says something to a task under way, for what begins after it. */
import { createReadStream } from "node:fs";
import type { Command } from "commander";
import { messageOf, SplashdownError } from "../../base/errors.js";
import { LIMITS } from "../../base/limits.js";
import type { GuideView } from "../../runtime/contract.js";
import type { CliDeps } from "../terminal/deps.js";
import { cleanForTerminal } from "../terminal/output.js";
import { describeStatuses, withSplashdown, type VerbCall } from "../command/verb.js";

interface GuideFlags {
  readonly file?: string;
  readonly step?: string;
  readonly by?: string;
}

const EXAMPLES = `
Specialists that begin afterwards have it in their prompt or input, and a model that is in the middle of its work hears it
before its next turn. It stays for the rest of the task, whatever is resumed, gone back to or forked.
  splashdown guide TASK "leave out vendors that do not ship to Europe"
  splashdown guide TASK --step research "prices in euros, please"
  splashdown guide TASK --file notes.md        or:  … | splashdown guide TASK -
`;

export function registerGuide(program: Command, deps: CliDeps): void {
  program
    .command("guide")
    .description("tell a task something while it is under way; what begins afterwards takes it into account")
    .argument("<task>", "task name, id or workflow name")
    .argument("[text]", "what is to be told; - reads it from stdin")
    .option("--file <file>", "the text is in this file")
    .option("--step <path>", "for this step or scope only, by path or name (default: the whole task)")
    .option("--by <name>", "who says it (default: the user's name)")
    .addHelpText("after", EXAMPLES)
    .addHelpText(
      "after",
      describeStatuses([
        [0, "taken, or kept for the next owner of a task that nobody runs"],
        [2, "no text or too long a one, no such step, or the task has ended for good"],
        [10, "no such task"],
        [12, "key missing or wrong"],
      ]),
    )
    .action((...[task, given, flags, command]: [string, string | undefined, GuideFlags, Command]) =>
      runGuide({ task, given, flags }, { command, deps }),
    );
}

interface GuideRequest {
  readonly task: string;
  readonly given: string | undefined;
  readonly flags: GuideFlags;
}

async function runGuide({ task, given, flags }: GuideRequest, verb: VerbCall): Promise<void> {
  const text = await readText(given, flags, verb.deps);
  const { step, by } = flags;
  await withSplashdown(verb, async ({ splashdown, print }) => {
    const about = { ...(step === undefined ? {} : { step }), ...(by === undefined ? {} : { by }) };
    print(await splashdown.guide({ task, text, ...about }), formatGuide);
  });
}

/** Errors: USAGE_INVALID. */
async function readText(given: string | undefined, { file }: GuideFlags, { streams }: CliDeps): Promise<string> {
  if (file !== undefined && given !== undefined)
    throw new SplashdownError("USAGE_INVALID", "give the text or --file, not both");
  if (file !== undefined) return readAll(createReadStream(file), `file ${file}`);
  if (given !== undefined && given !== "-") return given;
  if (given === "-" && streams.input !== undefined) return readAll(streams.input, "stdin");
  throw new SplashdownError("USAGE_INVALID", 'what is to be told? splashdown guide TASK "TEXT", or --file FILE, or -');
}

/** Shape: at most a little more than what is allowed, so that a longer text is refused for its length. */
async function readAll(source: AsyncIterable<unknown>, name: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  try {
    for await (const chunk of source) {
      const bytes = Buffer.from(chunk as Uint8Array);
      chunks.push(bytes);
      sizeBytes += bytes.length;
      if (sizeBytes > LIMITS.guidanceCharsMax * 8) break;
    }
  } catch (error) {
    throw new SplashdownError("USAGE_INVALID", `the text cannot be read from ${name}: ${messageOf(error)}`);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function formatGuide(view: GuideView): string {
  const about = view.step === undefined ? "" : ` for ${cleanForTerminal(view.step)}`;
  if (view.taken) return `${view.task} was told${about}; what begins from now on takes it into account`;
  return `kept for ${view.task}${about}, which takes it as soon as it is resumed: ${view.command ?? ""}`;
}
