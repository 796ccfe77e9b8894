/**
 * The terminal behind stderr: text that stays, and below it a frame of lines that is redrawn in place.
 *
 * SC1: text goes above the frame, whoever writes it; the frame is taken away first and drawn again after it. SC2: a frame
 * is written in one piece, with wrapping off, so that it does not flicker and every line is one row whatever the terminal
 * thinks of its width. SC3: nothing is written where the frame has not changed. SC4: while somebody holds the screen,
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

export interface ScreenParts extends Pick<Screen, "canRedraw" | "size"> {
  readonly write: (text: string) => void;
}

export function createScreen({ write, size, canRedraw }: ScreenParts): Screen {
  let shown: readonly string[] = [];
  let kept = "";
  let holders = 0;
  const erase = (): string => {
    if (shown.length === 0) return "";
    const { columns } = size();
    const rows = shown.reduce((sum, line) => sum + Math.max(1, Math.ceil(countColumns(line) / columns)), 0);
    return `\u001b[${rows}A\r\u001b[J`;
  };
  const draw = (): string => (shown.length === 0 ? "" : `${WRAP_OFF}${shown.join("\n")}\n${WRAP_ON}`);
  const say = (text: string): void => {
    const end = text.endsWith("\n") || shown.length === 0 ? "" : "\n";
    write(`${erase()}${text}${end}${draw()}`);
  };
  const show = (lines: readonly string[]): void => {
    if (lines.join("\n") === shown.join("\n")) return;
    const before = erase();
    shown = [...lines];
    write(`${before}${draw()}`);
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
