/**
 * What the tests of the code audit share: real trees in temporary folders, and tools run as the engine runs them.
 */
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { onTestFinished } from "vitest";

export const EXAMPLE = resolve(import.meta.dirname, "../../../../examples/code-audit");
/** What runs a tool: `node PROGRAM NAME`. */
export const PROGRAM = join(EXAMPLE, "audit.mjs");

/** One message of a tool on descriptor 3. */
export interface ControlLine {
  readonly type: string;
  readonly fraction?: number;
  readonly state?: Record<string, unknown>;
  readonly name?: string;
}

/** JSON of which a test knows the shape, and the compiler does not. */
export type Json = ReturnType<typeof JSON.parse>;

export interface Answer {
  readonly output: Json;
  readonly confidence: Record<string, number>;
  readonly factors: readonly string[];
  readonly uncertainties: readonly Json[];
  readonly blockers: readonly string[];
  readonly assumptions: readonly string[];
}

/** A folder that is gone after the test. */
export function createFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "audit-test-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Writes files into a new folder. */
export function createTree(files: Record<string, string | Uint8Array>): string {
  const folder = createFolder();
  for (const [path, content] of Object.entries(files)) writeInto(folder, path, content);
  return folder;
}

export function writeInto(folder: string, path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), content);
}

/** Runs git in a folder, without the settings of the machine. */
export function git(folder: string, ...args: string[]): void {
  const environment = { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null" };
  const { status, stderr } = spawnSync("git", ["-C", folder, ...args], { env: environment, encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
}

/** Runs a tool to its end without descriptor 3; the bytes of its answer. */
export function runRaw(tool: string, request: object): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, tool], {
    input: JSON.stringify(request),
    encoding: "utf8",
    maxBuffer: 8 * 1024 * 1024,
  });
  if (status !== 0) throw new Error(`${tool} ended with ${status}: ${stderr}`);
  return stdout;
}

export function runSpecialist(tool: string, folder: string, more: object = {}): Answer {
  return JSON.parse(runRaw(tool, { inputs: { folder }, input: { folder }, ...more })) as Answer;
}

/** Runs a tool with descriptor 3 open; its answer and what it said there. */
export async function runWithChannel(tool: string, request: object): Promise<{ stdout: string; lines: ControlLine[] }> {
  const child = spawn(process.execPath, [PROGRAM, tool], {
    stdio: ["pipe", "pipe", "inherit", "pipe"],
  });
  const collect = async (stream: AsyncIterable<Uint8Array>): Promise<string> => {
    const parts: Uint8Array[] = [];
    for await (const part of stream) parts.push(part);
    return Buffer.concat(parts).toString("utf8");
  };
  child.stdin?.end(JSON.stringify(request));
  const channel = child.stdio[3] as unknown as AsyncIterable<Uint8Array>;
  const [stdout, text] = await Promise.all([
    collect(child.stdout as unknown as AsyncIterable<Uint8Array>),
    collect(channel),
  ]);
  const lines = text.split("\n").filter((line) => line !== "");
  return { stdout, lines: lines.map((line) => JSON.parse(line) as ControlLine) };
}

/** Runs the six specialists as the phase does. */
export function measureAll(folder: string, more: object = {}): Record<string, Answer> {
  const inventory = runSpecialist("inventory", folder, more);
  const outputs = { inventory: inventory.output };
  const others = ["dependencies", "secrets", "duplicates", "hotspots", "churn"];
  const answers = others.map((name) => [name, runSpecialist(name, folder, { ...more, outputs })] as const);
  return { inventory, ...Object.fromEntries(answers) };
}

export function outputsOf(answers: Record<string, Answer>): Record<string, Json> {
  return Object.fromEntries(Object.entries(answers).map(([name, answer]) => [name, answer.output]));
}
