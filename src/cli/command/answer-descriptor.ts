/**
 * Descriptor 1 belongs to the answer: one document, or the protocol of the MCP server.
 *
 * Modules and functions of workflows run in this process and may print. What they write through the stream of stdout goes
 * to stderr (main.ts); here the same is done for what they write to the descriptor by its number. Programs that they start
 * with an inherited stdout are out of reach; so a verb that only looks loads modules in a process whose descriptor 1 is
 * stderr (aside.ts), and whose answer has a descriptor of its own.
 */
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

const STDOUT = 1;
const STDERR = 2;
const WAIT_MS = 2;

const { writeSync } = fs;

/** The stream of stdout has functions of its own; these are those of programs. */
export function turnDescriptorAside(): void {
  const { write } = fs;
  const aside = (descriptor: unknown): unknown => (descriptor === STDOUT ? STDERR : descriptor);
  const redirect =
    (call: (...given: never[]) => unknown) =>
    (...given: unknown[]): unknown =>
      call(...([aside(given[0]), ...given.slice(1)] as never[]));
  Object.assign(fs, { writeSync: redirect(writeSync), write: redirect(write) });
  syncBuiltinESMExports();
}

/** Writes an answer to a descriptor. Errors: none; what cannot be shown is dropped. */
export function openAnswer(descriptor: number): (text: string) => void {
  return (text) => writeAll(descriptor, Buffer.from(text));
}

function writeAll(descriptor: number, bytes: Uint8Array): void {
  for (let from = 0; from < bytes.length;) {
    try {
      from += writeSync(descriptor, bytes, from);
    } catch (error) {
      if ((error as { readonly code?: unknown }).code !== "EAGAIN") return;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WAIT_MS);
    }
  }
}
