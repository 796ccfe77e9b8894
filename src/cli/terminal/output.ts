/**
 * How views become text: the answer on stdout, everything else on stderr.
 *
 * Text that came from agents, files or people is shown as text: control characters are made visible, so it cannot move
 * the cursor, change colours or forge lines.
 */
import { showControls } from "../../base/plain-text.js";
import { formatJsonText } from "../../base/plain-value.js";
import type { CheckView } from "../../runtime/contract.js";
import type { Streams } from "./deps.js";

/** Makes terminal control characters visible; newlines and tabs stay. */
export function cleanForTerminal(text: string): string {
  return showControls(text);
}

export interface Colours {
  readonly bold: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly green: (text: string) => string;
  readonly yellow: (text: string) => string;
  readonly red: (text: string) => string;
  readonly cyan: (text: string) => string;
}

const wrap =
  (open: number, close: number) =>
  (text: string): string =>
    `\u001b[${open}m${text}\u001b[${close}m`;

const plain = (text: string): string => text;

const COLOURED: Colours = {
  bold: wrap(1, 22),
  dim: wrap(2, 22),
  green: wrap(32, 39),
  yellow: wrap(33, 39),
  red: wrap(31, 39),
  cyan: wrap(36, 39),
};
const PLAIN: Colours = { bold: plain, dim: plain, green: plain, yellow: plain, red: plain, cyan: plain };

export function coloursOf(streams: Streams): Colours {
  return streams.colour ? COLOURED : PLAIN;
}

const STATUS_COLOUR: Readonly<Record<string, keyof Colours>> = {
  done: "green",
  completed: "green",
  running: "cyan",
  open: "cyan",
  partial: "yellow",
  waiting: "yellow",
  paused: "yellow",
  stopped: "yellow",
  crashed: "red",
  failed: "red",
  damaged: "red",
};

export function colourStatus(colours: Colours, status: string): string {
  return colours[STATUS_COLOUR[status] ?? "dim"](status);
}

/** Columns aligned by their widest cell, two spaces apart; no line ends with spaces. */
export function formatTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, ...rows].map((row) => row.map((cell) => cleanForTerminal(cell).replaceAll("\n", " ")));
  const widths = head.map((_title, column) => Math.max(...lines.map((line) => (line[column] ?? "").length)));
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

const CHECK_MARKS = { ok: "ok  ", failed: "FAIL", skipped: "–   " } as const;

/** A line per check, with what to do about it below. */
export function formatChecks(checks: readonly CheckView[], streams: Streams): string[] {
  const colours = coloursOf(streams);
  const paint = { ok: colours.green, failed: colours.red, skipped: colours.dim };
  return checks.map((check) => {
    const result = !check.ok ? "failed" : check.skipped === true ? "skipped" : "ok";
    const hint = check.hint === undefined ? "" : `\n     → ${cleanForTerminal(check.hint)}`;
    return `${paint[result](CHECK_MARKS[result])} ${check.name}: ${cleanForTerminal(check.text)}${hint}`;
  });
}

/** Bytes with a binary unit, three significant digits at most. */
export function formatSize(bytes: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit] ?? "B"}`;
}

/** A share of 1 as people say it. */
export function formatPercent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

/** A view as one JSON document, in which control characters of any kind are escaped, or as the text that `format` makes of it; with its last newline. */
export function formatView<T>(view: T, format: "json" | ((view: T) => string)): string {
  return format === "json"
    ? `${cleanForTerminal(formatJsonText(view, { isIndented: true }))}\n`
    : `${format(view).trimEnd()}\n`;
}

/** A field of a view as text; absent is empty. */
export function textOf(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}
