/** Reads `text/event-stream` as it comes in pieces; an event may be cut anywhere. */
export interface StreamEvent {
  readonly event: string;
  readonly data: string;
}

export class StreamParser {
  #rest = "";

  /** The events that this piece completes. */
  take(piece: string): StreamEvent[] {
    const blocks = (this.#rest + piece).replace(/\r\n/g, "\n").split("\n\n");
    this.#rest = blocks.pop() ?? "";
    return blocks.flatMap(readBlock);
  }
}

function readBlock(block: string): StreamEvent[] {
  let event = "message";
  const data: string[] = [];
  for (const line of block.split("\n")) {
    const [, name, value = ""] = /^(\w+):? ?(.*)$/.exec(line) ?? [];
    if (name === "event") event = value;
    if (name === "data") data.push(value);
  }
  return data.length === 0 && event === "message" ? [] : [{ event, data: data.join("\n") }];
}

/** How long to wait before the next try: doubled up to ten seconds. Units: milliseconds. */
export function nextDelay(tries: number): number {
  return Math.min(10_000, 500 * 2 ** Math.min(tries, 10));
}
