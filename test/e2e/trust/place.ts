/**
 * One machine's worth of Splashdown in a temporary folder: settings, state, keys and outputs of its own, and a record of
 * every byte of it, so that a test can show what a command has changed.
 */
import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { PROGRAM, startCommand, type CommandResult, type RunningCommand } from "../../support/built-program.js";
import { until } from "../../support/real-clock.js";

export interface ErrorReport {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
  readonly details: Readonly<Record<string, unknown>>;
}

/** Bytes and mode by path below the place; sockets and links are left out. */
export type Image = ReadonlyMap<string, { readonly bytes: Buffer; readonly mode: number }>;

/**
 * What a refusal or a look leaves as it is: tasks, keys, and what is remembered of either. Who looked is kept beside it,
 * in the state folder, until somebody acts on the task.
 */
export const UNTOUCHED = ["outputs", "config", "home", "state/anchors", "state/audit/anchors"] as const;

const open: Place[] = [];

/** Removes every place of the file; for `afterAll`. */
export function removePlaces(): void {
  for (const place of open.splice(0)) rmSync(place.folder, { recursive: true, force: true });
}

export class Place {
  readonly folder: string;
  /** The built command, for those who start it by themselves. */
  readonly program = PROGRAM;
  readonly environment: Readonly<Record<string, string>>;

  constructor(folder = mkdtempSync(join(tmpdir(), "splashdown-trust-"))) {
    this.folder = folder;
    mkdirSync(this.path("project"), { recursive: true });
    this.environment = {
      HOME: this.path("home"),
      SPLASHDOWN_CONFIG_DIR: this.path("config"),
      SPLASHDOWN_STATE_DIR: this.path("state"),
      SPLASHDOWN_TRUST: "1",
      SPLASHDOWN_STORE: `file:${this.path("outputs")}`,
    };
    open.push(this);
  }

  path(...parts: string[]): string {
    return join(this.folder, ...parts);
  }

  /** Absolute path in the checkpoints folder of a task. */
  checkpoints(task: string, ...parts: string[]): string {
    return this.path("outputs", task, "checkpoints", ...parts);
  }

  /** Writes a file of the project; the answer is its path. */
  write(name: string, text: string): string {
    const path = this.path("project", name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return path;
  }

  run(args: readonly string[], environment: Readonly<Record<string, string>> = {}): Promise<CommandResult> {
    return this.start(args, environment).done;
  }

  start(args: readonly string[], environment: Readonly<Record<string, string>> = {}): RunningCommand {
    return startCommand(args, { cwd: this.path("project"), env: { ...this.environment, ...environment } });
  }

  runProgram(
    program: string,
    args: readonly string[],
    environment: Readonly<Record<string, string>> = {},
  ): Promise<CommandResult> {
    return this.startProgram(program, args, environment).done;
  }

  startProgram(
    program: string,
    args: readonly string[],
    environment: Readonly<Record<string, string>> = {},
  ): RunningCommand {
    return startCommand(args, { cwd: this.path("project"), env: { ...this.environment, ...environment }, program });
  }

  /** Names of the snapshot files of a task, oldest first. */
  snapshots(task: string): string[] {
    const bySequence = (name: string) => name.split("_").at(-1) ?? "";
    return readdirSync(this.checkpoints(task))
      .filter((name) => name.startsWith("checkpoint_"))
      .sort((a, b) => (bySequence(a) < bySequence(b) ? -1 : 1));
  }

  segments(task: string): string[] {
    return readdirSync(this.checkpoints(task, "journal")).sort();
  }

  take(...below: string[]): Image {
    const image = new Map<string, { bytes: Buffer; mode: number }>();
    const root = this.path(...below);
    if (existsSync(root)) collect(root, image);
    return image;
  }

  /** Puts the files below a folder back as they were: changed and new ones too. */
  restore(image: Image, ...below: string[]): void {
    for (const path of this.take(...below).keys()) if (!image.has(path)) rmSync(path);
    for (const [path, { bytes, mode }] of image) {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      writeFileSync(path, bytes);
      chmodSync(path, mode);
    }
  }

  /** One line per file below the folders: path, mode, digest. */
  fingerprint(...folders: string[]): string[] {
    return folders
      .flatMap((folder) => [...this.take(folder)])
      .map(
        ([path, { bytes, mode }]) => `${path} ${mode.toString(8)} ${createHash("sha256").update(bytes).digest("hex")}`,
      )
      .sort();
  }
}

function collect(folder: string, image: Map<string, { bytes: Buffer; mode: number }>): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const stat = lstatSync(path);
    if (stat.isDirectory()) collect(path, image);
    else if (stat.isFile()) image.set(path, { bytes: readFileSync(path), mode: stat.mode & 0o777 });
  }
}

/** For preparations: the command must have ended so. Shape: its view. */
export function requireEnded<T>(result: CommandResult, status: number): T {
  if (result.code !== status) throw new Error(`ended with ${result.code}: ${result.stderr}${result.stdout}`);
  return result.json<T>();
}

/** The one error line of `--json` on stderr. */
export function errorOf(result: CommandResult): ErrorReport {
  const line = result.stderr
    .trim()
    .split("\n")
    .findLast((each) => each.startsWith('{"error"'));
  if (line === undefined) throw new Error(`no error in: ${result.stderr} ${result.stdout}`);
  return (JSON.parse(line) as { error: ErrorReport }).error;
}

const SPECIALIST = `
import { appendFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
const [name, folder, mode] = process.argv.slice(2);
appendFileSync(join(folder, "ledger.txt"), name + "\\n");
if (mode === "hold") while (!existsSync(join(folder, "go"))) await sleep(10);
if (mode === "fail" && !existsSync(join(folder, "go"))) {
  console.error("the file go is not there");
  process.exit(1);
}
appendFileSync(join(folder, "ended.txt"), name + "\\n");
process.stdout.write(JSON.stringify({ output: { name, text: "output-canary-" + name }, confidence: 0.95 }));
`;

/**
 * Four steps in three phases; the last one waits for the file \`go\` (\`hold\`) or fails without it (\`fail\`).
 *
 * Shape: the path of the workflow file. Steps write their names into \`project/ledger.txt\`.
 */
export function writeSample(place: Place, last: "hold" | "fail", effects = "none"): string {
  const program = place.write("specialist.mjs", SPECIALIST);
  const step = (name: string, mode = "") => ({
    name,
    command: [process.execPath, program, name, place.path("project"), mode],
    effects,
    input: { word: "{{ workflow.input.word }}" },
  });
  const workflow = {
    workflow: { name: "sample", input: { word: { type: "string", default: "input-canary-word" } } },
    phases: [
      { name: "gather", specialists: [step("alpha"), step("beta")], restart: { max_attempts: 0 } },
      { name: "weigh", specialists: [step("gamma")] },
      { name: "write", specialists: [step("delta", last)], restart: { max_attempts: 0 } },
    ],
    output: { alpha: "{{ alpha.output.text }}", gamma: "{{ gamma.output.text }}", delta: "{{ delta.output.text }}" },
  };
  return place.write("sample.json", JSON.stringify(workflow, undefined, 2));
}

export const SAMPLE_OUTPUT = {
  alpha: "output-canary-alpha",
  gamma: "output-canary-gamma",
  delta: "output-canary-delta",
};

export function readLedger(place: Place): string[] {
  const file = place.path("project", "ledger.txt");
  return existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean) : [];
}

/** A task of the sample whose owner was killed in its last step: three steps are done, one is under way. */
export async function crashSample(place: Place, task: string, effects = "none"): Promise<string> {
  const file = writeSample(place, "hold", effects);
  const before = readLedger(place).filter((line) => line === "delta").length;
  const running = place.start(["run", file, "--task", task]);
  await until(
    "the last step runs",
    () => readLedger(place).filter((line) => line === "delta").length > before || running.child.exitCode !== null,
  );
  await until("a snapshot of the last phase", () => place.snapshots(task).some((name) => name.includes("_phase3_")));
  running.child.kill("SIGKILL");
  const { signal, stderr } = await running.done;
  if (signal !== "SIGKILL") throw new Error(`the run ended by itself: ${stderr}`);
  return file;
}

/** Lets the last step of the sample end well. */
export function letGo(place: Place): void {
  place.write("go", "");
}

/** A socket that refuses at the place where the task's owner is said to listen: what a kill leaves behind. */
export async function leaveDeadSocket(place: Place, task: string): Promise<void> {
  const record = readdirSync(place.checkpoints(task)).find((name) => /^owner-\d+$/.test(name)) ?? "";
  const { socket } = JSON.parse(readFileSync(place.checkpoints(task, record), "utf8")) as { socket: string };
  const path = place.checkpoints(task, socket);
  if (existsSync(path)) return;
  const listen = `require("node:net").createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, "SIGKILL"))`;
  await place.runProgram(process.execPath, ["-e", listen]);
}
