/** A place of its own for the built program: working folder, home, key, and the files of a test. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import {
  PROGRAM,
  runCommand,
  startCommand,
  type CommandOptions,
  type CommandResult,
  type RunningCommand,
} from "./built-program.js";

export type PlaceOptions = Partial<CommandOptions>;

export class CommandPlace {
  readonly folder = mkdtempSync(join(tmpdir(), "splashdown-e2e-"));
  readonly env: Readonly<Record<string, string>>;

  constructor(env: Readonly<Record<string, string>> = {}) {
    const home = join(this.folder, "home");
    this.env = {
      HOME: home,
      USER: "tester",
      SPLASHDOWN_CONFIG_DIR: join(home, "config"),
      SPLASHDOWN_STATE_DIR: join(home, "state"),
      // The settings of a test are its own.
      SPLASHDOWN_TRUST: "1",
      SPLASHDOWN_KEY: Buffer.alloc(32, 7).toString("base64"),
      ...env,
    };
  }

  run(args: readonly string[], options: PlaceOptions = {}): Promise<CommandResult> {
    return runCommand(args, this.#place(options));
  }

  start(args: readonly string[], options: PlaceOptions = {}): RunningCommand {
    return startCommand(args, this.#place(options));
  }

  /** Runs it, and tells the processor's time that it took, whatever others on the machine do meanwhile. Unit: ms. */
  async runMeasured(
    args: readonly string[],
  ): Promise<{ readonly result: CommandResult; readonly processorMs: number }> {
    const script = '"$@"; code=$?; times > processor-time; exit $code';
    const result = await this.run(["-c", script, "sh", process.execPath, PROGRAM, ...args], { program: "sh" });
    const [, ofChildren = ""] = this.read("processor-time").split("\n");
    const times = [...ofChildren.matchAll(/(\d+)m([\d.]+)s/g)];
    if (times.length !== 2) throw new Error(`no times in: ${ofChildren}`);
    const processorMs = times.reduce(
      (sum, [, minutes, seconds]) => sum + 60_000 * Number(minutes) + 1_000 * Number(seconds),
      0,
    );
    return { result, processorMs };
  }

  /** Writes a file below the folder; its path. */
  write(name: string, text: string): string {
    const path = join(this.folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return path;
  }

  /** A file's text; absent is empty. */
  read(name: string): string {
    try {
      return readFileSync(join(this.folder, name), "utf8");
    } catch {
      return "";
    }
  }

  /** The lines of a file that steps append to: what really ran. */
  ledger(name = "ledger"): string[] {
    return this.read(name)
      .split("\n")
      .filter((line) => line !== "");
  }

  remove(): void {
    // Whoever was killed last may be writing still.
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 10 });
  }

  #place({ env, ...rest }: PlaceOptions): CommandOptions {
    return { cwd: this.folder, env: { ...this.env, ...env }, ...rest };
  }
}

/** Inside a test: a place that goes away when the test ends. */
export function openPlace(env?: Readonly<Record<string, string>>): CommandPlace {
  const place = new CommandPlace(env);
  onTestFinished(() => place.remove());
  return place;
}
