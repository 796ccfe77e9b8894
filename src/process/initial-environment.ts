/**
 * Takes values out of what the system shows as this process's environment.
 *
 * On Linux `/proc/PID/environ` is the memory that the process was started with: a variable that was unset stays in it,
 * for every process of the same user to read. A process may write its own memory, so the values are overwritten there.
 * Nothing is promised where the system has no such file or refuses it; what is unset stays unset.
 */
import { closeSync, openSync, readFileSync, readSync, writeSync } from "node:fs";

const ENV_START_FIELD = 50;
const FIRST_FIELD_AFTER_NAME = 3;
const REGION_BYTES_MAX = 8 * 1024 * 1024;

/** Errors: none. Shape: true where every value of these names is gone from what the system shows. */
export function wipeInitialEnvironment(names: ReadonlySet<string>): boolean {
  try {
    const region = findRegion(readFileSync("/proc/self/stat", "latin1"));
    if (region === undefined) return false;
    const memory = openSync("/proc/self/mem", "r+");
    try {
      wipe(memory, region, names);
      return true;
    } finally {
      closeSync(memory);
    }
  } catch {
    return false;
  }
}

interface Region {
  readonly start: number;
  readonly sizeBytes: number;
}

/** Source: proc(5), fields env_start and env_end; the name of the program, in brackets, may hold anything. */
function findRegion(stat: string): Region | undefined {
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [start = 0, end = 0] = fields.slice(ENV_START_FIELD - FIRST_FIELD_AFTER_NAME).map(Number);
  const sizeBytes = end - start;
  return start > 0 && sizeBytes > 0 && sizeBytes <= REGION_BYTES_MAX ? { start, sizeBytes } : undefined;
}

function wipe(memory: number, { start, sizeBytes }: Region, names: ReadonlySet<string>): void {
  const bytes = Buffer.alloc(sizeBytes);
  const length = readSync(memory, bytes, 0, sizeBytes, start);
  for (let from = 0; from < length;) {
    const end = bytes.indexOf(0, from);
    const stop = end === -1 ? length : end;
    const equals = bytes.indexOf("=", from);
    const isNamed = equals > from && equals < stop && names.has(bytes.toString("utf8", from, equals));
    if (isNamed) writeSync(memory, Buffer.alloc(stop - equals - 1), 0, stop - equals - 1, start + equals + 1);
    from = stop + 1;
  }
}
