/**
 * What a program wrote to stderr before it failed: the line that names the error, and the few lines worth showing.
 *
 * Runtimes end with lines of their own (their version, frames of a stack, where a log lies): those say nothing about what
 * went wrong. Pure; the text is of others and is cleaned by whoever shows it.
 */

/** Said by a runtime after the error, of whatever language. */
const TRAILERS: readonly RegExp[] = [
  /^\s*$/,
  /^(?:Node\.js|Bun) v\d/,
  /^\(Use `?[^`]*--trace-[\w-]+/,
  /^(?:note: run with `RUST_BACKTRACE|note: Some details are omitted)/,
  /^(?:exit status \d+|goroutine \d+ \[.*\]:|created by \S+)/,
  /^npm (?:ERR!|error)(?:\s*$| (?:A complete log of this run|\s*\S*[/\\]_logs[/\\]))/,
  /^(?:usage:|Usage:|Try '|Try `|See '|Run '|For more information)/,
  /^(?:#\d+ \S|\s*thrown in |Stack trace:|stack backtrace:|CallStack \()/,
  /^\s*(?:at |from |\.\.\. \d+ more|\^+~*\s*$)/,
  /^\s*[}\])]+[,;]?\s*$/,
];
/** Between the error and the end of a stack: fields of the error, frames. */
const OF_A_STACK = /^(?:\s+|Caused by: |[\w./]*\(.*\)$)/;
/** Names an error by itself. */
const ERROR_LINE =
  /^(?:(?:Uncaught |Unhandled )?[\w.$:]*(?:Error|Exception|Failure|Panic)\b|(?:PHP )?Fatal|panic:|error(?:\[\w+\])?:|fatal:|Unhandled exception|Exception in thread|Uncaught|npm (?:ERR!|error) (?!code|errno))/i;

/** One line, however long a program's is. */
const LINE_CHARS_MAX = 500;
const LINES_SHOWN = 10;
const LINES_BEFORE = 4;

/**
 * The line that says what went wrong.
 *
 * Shape: without spaces around it; empty where nothing was written. A text that ends without a runtime's trailer gives its last line.
 */
export function selectErrorLine(stderr: string): string {
  const lines = stderr.split(/\r?\n/);
  return (lines[findErrorLine(lines)] ?? "").trim().slice(0, LINE_CHARS_MAX);
}

/**
 * The lines around it, for a person: some before it, those after it, without the runtime's trailer.
 *
 * Shape: at most ten lines, none empty at the ends; empty where nothing was written.
 */
export function selectErrorLines(stderr: string): readonly string[] {
  const lines = stderr.split(/\r?\n/).map((line) => line.trimEnd().slice(0, LINE_CHARS_MAX));
  const error = findErrorLine(lines);
  if (error < 0) return [];
  let end = lines.length;
  while (end > error + 1 && isTrailer(lines[end - 1] ?? "")) end -= 1;
  const from = Math.max(0, Math.min(error - LINES_BEFORE, end - LINES_SHOWN), error - LINES_SHOWN + 1);
  const shown = lines.slice(from, Math.min(end, from + LINES_SHOWN));
  const first = shown.findIndex((line) => line !== "");
  return shown.slice(Math.max(0, first));
}

/** Shape: its index; -1 where every line is empty. */
function findErrorLine(lines: readonly string[]): number {
  const written = lines.findLastIndex((line) => line.trim() !== "");
  let isCut = false;
  const last = lines.slice(0, written + 1).findLastIndex((line) => {
    const isOfRuntime = isTrailer(line) || (isCut && OF_A_STACK.test(line));
    isCut ||= isOfRuntime;
    return !isOfRuntime;
  });
  // Nothing but trailers: the last of them is all there is.
  if (last < 0) return written;
  return isCut ? findNamed(lines, last) : last;
}

/** Upwards from the end of an error's text to the line that names it, as far as the text reaches. */
function findNamed(lines: readonly string[], last: number): number {
  for (let index = last; index >= 0 && (lines[index] ?? "").trim() !== ""; index -= 1)
    if (ERROR_LINE.test(lines[index] ?? "")) return index;
  return last;
}

function isTrailer(line: string): boolean {
  return TRAILERS.some((trailer) => trailer.test(line));
}
