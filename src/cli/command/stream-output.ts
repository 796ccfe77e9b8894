/** Prints what comes one after another: as text, as one document per line, or as one list that is never held as a whole. */
import { cleanForTerminal } from "../terminal/output.js";

export type StreamFormat = "text" | "lines" | "list";

/** One list with `--json`; with `--follow` too, which may go on for days, a document per line. */
export function chooseFormat(json: boolean | undefined, follow: boolean | undefined): StreamFormat {
  if (json !== true) return "text";
  return follow === true ? "lines" : "list";
}

export interface StreamOutput<T> {
  readonly format: StreamFormat;
  readonly out: (text: string) => void;
  readonly toText: (item: T) => string;
}

/** Shape: how many there were. */
export async function printStream<T>(
  items: AsyncIterable<T>,
  { format, out, toText }: StreamOutput<T>,
): Promise<number> {
  let before = "[\n";
  let count = 0;
  for await (const item of items) {
    count += 1;
    if (format === "text") out(`${toText(item)}\n`);
    else if (format === "lines") out(`${cleanForTerminal(JSON.stringify(item))}\n`);
    else out(`${before}${cleanForTerminal(JSON.stringify(item))}`);
    before = ",\n";
  }
  if (format === "list") out(count === 0 ? "[]\n" : "\n]\n");
  return count;
}
