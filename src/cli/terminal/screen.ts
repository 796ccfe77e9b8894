/**
 * The terminal behind stderr: text that stays, and below it a frame of lines that is redrawn in place.
 *
 * SC1: text goes above the frame, whoever writes it; the frame is taken away first and drawn again after it. SC2: a frame
 * is written in one piece, over the one before and line by line, so that nothing is blank in between; with wrapping off, so
 * that every line is one row whatever the terminal thinks of its width. SC3: lines that have not changed are not written. SC4: while somebody holds the screen,
 * nothing is written; text follows in its order when it is released.
 *
 * A terminal that became narrower has wrapped the lines that no longer fit: as many rows are taken away.
 */
import { countColumns } from "./text-width.js";

export interface ScreenSize {
  readonly columns: number;
  readonly rows: number;
}

export interface Screen {
  /** False for a terminal without control codes: frames are not shown. */
  readonly canRedraw: boolean;
  readonly text: (text: string) => void;
  /** Shows these lines instead of the ones before; none takes the frame away. */
  readonly frame: (lines: readonly string[]) => void;
  /** Leaves the terminal to somebody else, without the frame, until the answer is called. */
  readonly hold: () => () => void;
  readonly size: () => ScreenSize;
}

const WRAP_OFF = "\u001b[?7l";
const WRAP_ON = "\u001b[?7h";
const REST_OF_LINE_OFF = "\u001b[K";
const BELOW_OFF = "\u001b[J";
/** A terminal that knows it shows what is written between them at once; others pass over it. */
const TOGETHER = ["\u001b[?2026h", "\u001b[?2026l"] as const;

export interface ScreenParts extends Pick<Screen, "canRedraw" | "size"> {
  readonly write: (text: string) => void;
}

export function createScreen({ write, size, canRedraw }: ScreenParts): Screen {
  let shown: readonly string[] = [];
  let kept = "";
  let holders = 0;
  const rowsShown = (): number => {
    const { columns } = size();
    return shown.reduce((sum, line) => sum + Math.max(1, Math.ceil(countColumns(line) / columns)), 0);
  };
  const draw = (): string => (shown.length === 0 ? "" : `${WRAP_OFF}${shown.join("\n")}\n${WRAP_ON}`);
  const say = (text: string): void => {
    if (shown.length === 0) return write(text);
    const [begin, end] = TOGETHER;
    write(`${begin}${goUp(rowsShown())}${BELOW_OFF}${text}${text.endsWith("\n") ? "" : "\n"}${draw()}${end}`);
  };
  const show = (lines: readonly string[]): void => {
    if (lines.join("\n") === shown.join("\n")) return;
    const rows = rowsShown();
    const before = shown;
    shown = [...lines];
    if (before.length === 0 || lines.length === 0 || rows !== before.length) {
      write(`${goUp(rows)}${rows === 0 ? "" : BELOW_OFF}${draw()}`);
    } else write(`${goUp(rows)}${WRAP_OFF}${overwrite(before, lines)}${WRAP_ON}`);
  };
  return {
    canRedraw,
    size,
    text: (text) => {
      if (holders > 0) kept += text;
      else say(text);
    },
    frame: (lines) => {
      if (holders === 0 && canRedraw) show(lines);
    },
    hold: () => {
      show([]);
      holders += 1;
      return () => {
        holders -= 1;
        if (holders > 0 || kept === "") return;
        say(kept);
        kept = "";
      };
    },
  };
}

function goUp(rows: number): string {
  return rows === 0 ? "" : `\u001b[${rows}A\r`;
}

/** The new lines over the old ones; a line that stays is passed. */
function overwrite(before: readonly string[], lines: readonly string[]): string {
  const text = lines.map((line, at) => (line === before[at] ? "\n" : `${line}${REST_OF_LINE_OFF}\n`)).join("");
  return lines.length < before.length ? `${text}${BELOW_OFF}` : text;
}
