/**
 * A place in which a page is followed as it is written: its files are written, its commands typed into a shell, in order.
 *
 * A block with a file's name is that file. In a `console` block each line after `$ ` is typed and the lines below it are what
 * stdout shows (with `all` behind the language stderr too); a line `…` stands for any number of lines. Times, ids, sizes and
 * lengths of time differ from run to run, so they are masked on both sides.
 */
import { execFile } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { PROJECT_FOLDER } from "./built-program.js";
import { findBlocks, type Block } from "./document-pages.js";

export interface TypedCommand {
  readonly command: string;
  /** What the page shows below it. */
  readonly shown: string;
}

export interface BlockResult {
  readonly block: Block;
  /** In the order of the block's commands; what really came. */
  readonly commands: readonly (TypedCommand & { readonly came: string })[];
}

/** Where package.json says that the command is. */
const COMMAND = "dist/cli/main.js";
const MARK = "@@ended@@";

export class PagePlace {
  readonly #root = realpathSync(mkdtempSync(join(tmpdir(), "splashdown-page-")));
  readonly #home = join(this.#root, "home", "you");
  readonly #folder = join(this.#home, "project");
  readonly #env: Readonly<Record<string, string>>;

  /** `installed` is the folder of the package: this project, or one that was packed and unpacked. */
  constructor(env: Readonly<Record<string, string>> = {}, installed = PROJECT_FOLDER) {
    const programs = join(this.#root, "bin");
    for (const folder of [this.#folder, programs, join(this.#folder, "node_modules")])
      mkdirSync(folder, { recursive: true });
    symlinkSync(installed, join(this.#folder, "node_modules", "splashdown"));
    writeFileSync(
      join(programs, "splashdown"),
      `#!/bin/sh\nexec "${process.execPath}" "${join(installed, COMMAND)}" "$@"\n`,
    );
    chmodSync(join(programs, "splashdown"), 0o755);
    this.#env = {
      PATH: `${programs}:${process.env["PATH"] ?? ""}`,
      HOME: this.#home,
      USER: "you",
      TZ: "UTC",
      TERM: "dumb",
      ...env,
    };
  }

  /** Follows the page from its top. */
  async follow(page: string): Promise<BlockResult[]> {
    const results: BlockResult[] = [];
    for (const block of findBlocks(page)) {
      if (block.language === "console") results.push({ block, commands: await this.#type(block) });
      else if (isFileName(block.about)) this.#write(block.about, block.text);
    }
    return results;
  }

  remove(): void {
    rmSync(this.#root, { recursive: true, force: true, maxRetries: 10 });
  }

  #write(name: string, text: string): void {
    const path = join(this.#folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }

  async #type(block: Block): Promise<BlockResult["commands"]> {
    const commands = readCommands(block.text);
    const silence = block.about === "all" ? "exec 2>&1" : "exec 2>/dev/null";
    const lines = commands.map(({ command }) => `${command}\nstatus=$?; echo '${MARK}'; (exit $status)`);
    const stdout = await this.#shell([silence, ...lines].join("\n"));
    const parts = stdout.split(`${MARK}\n`);
    return commands.map((typed, index) => ({ ...typed, came: this.#hidePlace(parts[index] ?? "(the shell ended)\n") }));
  }

  #shell(script: string): Promise<string> {
    return new Promise((resolve) => {
      const options = { cwd: this.#folder, env: this.#env, timeout: 120_000, maxBuffer: 1e8 };
      const child = execFile("bash", ["-c", script], options, (_error, stdout) => resolve(stdout));
      child.stdin?.end();
    });
  }

  /** The folder of the reader stands for ours. */
  #hidePlace(text: string): string {
    return text.replaceAll(this.#home, "/home/you").replaceAll(/^\(?bash: .*\n/gm, "");
  }
}

function isFileName(about: string): boolean {
  return /^[\w./-]+\.\w+$/.test(about);
}

/** The commands of a console block; one that ends in `\` goes on in the next line. */
export function readCommands(text: string): TypedCommand[] {
  return text
    .split(/^\$ /m)
    .slice(1)
    .map((part) => {
      const [, command = "", shown = ""] = /^((?:.*\\\n)*.*\n)([\s\S]*)$/.exec(part) ?? [];
      return { command: command.trimEnd(), shown };
    });
}

/** What differs from run to run, as one word each. */
const MASKS: readonly (readonly [RegExp, string])[] = [
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "ID"],
  [/\b[0-9a-f]{16,64}\b/g, "HASH"],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, "TIME"],
  [/\d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d)?(?: UTC)?/g, "TIME"],
  [/\d{4}-\d\d-\d\d(?= UTC| ──)(?: UTC)?/g, "DAY"],
  [/(?<=^\d+ {2,})[0-9a-f]{8}(?= )/gm, "ID"],
  [/\d{8}T\d{9}Z/g, "TIME"],
  [/\b\d+ (of them )?files?\b/g, "N $1files"],
  [/_\d{8}_\d{6}(?:_\d+)?/g, "_TIME"],
  [/\b\d\d:\d\d(?::\d\d(?:\.\d+)?)?\b/g, "TIME"],
  [/\b\d+(?:\.\d+)? ?(?:ms|s|min)\b(?: ago)?/g, "LENGTH"],
  [/\b\d+(?:\.\d+)? (?:B|KiB|MiB|GiB)(?!\w)/g, "SIZE"],
  [/\b\d{4}-\d\d-\d\d\b/g, "DATE"],
  [/\b(process|pid) \d+/g, "$1 N"],
  [/ *(?:[─█▓▒░┊■◆] *)+/g, " BAR "],
  [/\byou@\S+ +\d+/g, "you@HOST PID"],
  [/"(pid|memory_bytes)":\d+/g, '"$1":N'],
  [/  journal$/gm, "  SIZE"],
  [/ {2,}/g, "  "],
  [/ +$/gm, ""],
];

export function mask(text: string): string {
  return MASKS.reduce((masked, [pattern, word]) => masked.replaceAll(pattern, word), text).trimEnd();
}

/** Whether what is shown is what came, `…` alone in a line standing for whatever came there. */
export function isShown({ shown, came }: { readonly shown: string; readonly came: string }): boolean {
  const parts = mask(shown)
    .split(/^…$/m)
    .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
  return new RegExp(`^${parts.join("[\\s\\S]*")}$`).test(mask(came));
}

/** The page with what really came below each command. */
export function showWhatCame(page: string, results: readonly BlockResult[]): string {
  return results.toReversed().reduce((text, { block, commands }) => {
    const fresh = commands.map(
      (typed) => `$ ${typed.command}\n${isShown(typed) ? typed.shown : cleanEnds(typed.came)}`,
    );
    return text.slice(0, block.from) + fresh.join("") + text.slice(block.to);
  }, page);
}

const cleanEnds = (text: string): string => (text === "" ? "" : `${text.replaceAll(/ +$/gm, "").trimEnd()}\n`);
