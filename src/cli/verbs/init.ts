/**
 * `splashdown init`: a sample workflow that runs as it is, with its settings file, to be changed into one's own.
 *
 * The sample is `examples/first-steps`, one truth for package and folder. Nothing is overwritten: when a file of the
 * sample exists already, nothing is written at all.
 */
import { writeCommand } from "../../base/command-text.js";
import { mkdir, readdir, readFile, writeFile, lstat } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import type { Command } from "commander";
import { errnoOf, messageOf, SplashdownError } from "../../base/errors.js";
import { packageFile } from "../../base/package-files.js";
import { repeatFlagsIn } from "../command/next-command.js";
import type { CliDeps, GlobalOptions } from "../terminal/deps.js";
import { formatView } from "../terminal/output.js";
import { describeStatuses } from "../command/verb.js";

const SAMPLE = packageFile("examples/first-steps");

interface InitView {
  readonly folder: string;
  readonly files: readonly string[];
  /** The command that runs the sample. */
  readonly command: string;
}

export function registerInit(program: Command, deps: CliDeps): void {
  program
    .command("init")
    .description("write a sample workflow and settings file that run as they are; overwrites nothing")
    .argument("[folder]", "where (default: here)", ".")
    .addHelpText(
      "after",
      describeStatuses([
        [0, "written"],
        [2, "a file of the sample exists already; nothing was written"],
        [4, "the folder cannot be written"],
      ]),
    )
    .action(async (folder: string, _flags: object, command: Command) => {
      const view = await writeSample(folder);
      const options = command.optsWithGlobals<GlobalOptions>();
      deps.streams.out(formatView(repeatFlagsIn(view, options), options.json === true ? "json" : formatInit));
    });
}

/** Errors: USAGE_INVALID when a file is there already, STORE_FAILED when one cannot be written. */
export async function writeSample(folder: string): Promise<InitView> {
  const target = resolve(folder);
  const files = await listSample();
  await requireFree(target, files);
  for (const file of files) await writeNew(join(target, file), await readFile(join(SAMPLE, file)));
  const workflow = join(relative(".", target), "workflow.yaml");
  return { folder: target, files, command: writeCommand("run", [workflow]) };
}

async function listSample(): Promise<string[]> {
  const entries = await readdir(SAMPLE, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && entry.name !== "README.md")
    .map((entry) => relative(SAMPLE, join(entry.parentPath, entry.name)))
    .sort();
}

async function requireFree(target: string, files: readonly string[]): Promise<void> {
  const taken: string[] = [];
  for (const file of files) {
    const there = await lstat(join(target, file)).then(
      () => true,
      (error: unknown) => errnoOf(error) !== "ENOENT" && errnoOf(error) !== "ENOTDIR",
    );
    if (there) taken.push(file);
  }
  if (taken.length > 0) {
    throw new SplashdownError(
      "USAGE_INVALID",
      `${target} holds ${taken.join(", ")} already; nothing was written; name another folder: splashdown init FOLDER`,
      { details: { folder: target, files: taken } },
    );
  }
}

async function writeNew(path: string, bytes: Uint8Array): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, bytes, { flag: "wx" });
  } catch (error) {
    throw new SplashdownError("STORE_FAILED", `${path} could not be written: ${messageOf(error)}`, {
      details: { file: path },
      cause: error,
    });
  }
}

function formatInit(view: InitView): string {
  return [
    `wrote to ${view.folder}:`,
    ...view.files.map((file) => `  ${file}`),
    "",
    "try it, then kill it in the middle and run it again:",
    `  ${view.command}`,
  ].join("\n");
}
