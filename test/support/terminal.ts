/**
 * The built program on a real pseudo-terminal, whose output a terminal emulator turns into the screen that a person sees.
 *
 * The pseudo-terminal is made by `script` of util-linux, the screen by xterm.js without a display. The emulator wraps
 * lines anew when it is resized, as most terminals do.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import headless from "@xterm/headless";
import { PROGRAM, type RunningCommand } from "./built-program.js";
import type { CommandPlace } from "./command-place.js";
import { until } from "./real-clock.js";

const SCRIPT = "/usr/bin/script";
/** Why tests on a terminal cannot run here; nothing where they can. */
export const NO_TERMINAL = existsSync(SCRIPT) ? undefined : "there is no script(1) of util-linux";

export interface TerminalOptions {
  readonly columns?: number;
  readonly rows?: number;
  readonly env?: Readonly<Record<string, string>>;
}

export class TerminalRun {
  readonly #place: CommandPlace;
  readonly #running: RunningCommand;
  readonly #terminal: InstanceType<typeof headless.Terminal>;
  readonly done: RunningCommand["done"];
  #isOver = false;

  constructor(place: CommandPlace, args: readonly string[], { columns = 100, rows = 30, env }: TerminalOptions = {}) {
    this.#place = place;
    this.#terminal = new headless.Terminal({ cols: columns, rows, scrollback: 1000, allowProposedApi: true });
    const words = [process.execPath, PROGRAM, ...args].map((word) => `'${word}'`).join(" ");
    const command = `tty > terminal; stty cols ${columns} rows ${rows}; exec ${words}`;
    this.#running = place.start(["-qefc", command, "/dev/null"], {
      program: SCRIPT,
      keepInput: true,
      env: { TERM: "xterm-256color", SHELL: "/bin/sh", ...env },
    });
    this.#running.child.stdout?.on("data", (text: string) => this.#terminal.write(text));
    this.done = this.#running.done;
    void this.done.then(() => {
      this.#isOver = true;
    });
  }

  /** Everything the program wrote to the terminal. */
  raw(): string {
    return this.#running.stdout();
  }

  /** All lines from the first, those scrolled away too, without trailing blank ones. */
  async lines(): Promise<string[]> {
    await this.#settle();
    const { active } = this.#terminal.buffer;
    const lines = Array.from(
      { length: active.length },
      (_line, at) => active.getLine(at)?.translateToString(true) ?? "",
    );
    return lines.slice(0, lines.findLastIndex((line) => line !== "") + 1);
  }

  /** Waits until the screen shows a text, or one that is as wanted; fails with the screen when the program ends before. */
  async shows(what: string | RegExp | ((text: string) => boolean)): Promise<string[]> {
    let lines: string[] = [];
    await until(`the terminal shows ${String(what)}`, async () => {
      const isOver = this.#isOver;
      lines = await this.lines();
      if (fits(lines.join("\n"), what)) return true;
      if (isOver) throw new Error(`it ended without showing ${String(what)}:\n${lines.join("\n")}`);
      return false;
    });
    return lines;
  }

  /** What a key sends. */
  press(keys: string): void {
    this.#running.child.stdin?.write(keys);
  }

  /** SIGKILL to the program itself; its terminal stays until it is gone. */
  kill(): void {
    const { pid } = this.#running;
    const [child] = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
    process.kill(Number(child), "SIGKILL");
  }

  resize(columns: number, rows: number): void {
    const name = this.#place.read("terminal").trim();
    execFileSync("stty", ["-F", join(name), "cols", String(columns), "rows", String(rows)]);
    this.#terminal.resize(columns, rows);
  }

  async #settle(): Promise<void> {
    await new Promise<void>((resolve) => this.#terminal.write("", resolve));
    await nextTurn();
  }
}

function fits(text: string, what: string | RegExp | ((text: string) => boolean)): boolean {
  if (typeof what === "function") return what(text);
  return typeof what === "string" ? text.includes(what) : what.test(text);
}
