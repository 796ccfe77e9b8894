/** Text that a person can paste into a shell. */
import { showControls } from "./plain-text.js";

/**
 * An argument as a shell takes it back: bare where that is safe, else in single quotes, and with what would move a cursor
 * or turn the reading order as escapes in `$'…'`.
 */
export function quoteArgument(text: string): string {
  if (/^[\w@%+=:,./-]+$/.test(text)) return text;
  if (showControls(text) === text) return `'${text.replaceAll("'", `'\\''`)}'`;
  const escaped = text.replaceAll("\\", "\\\\").replaceAll("'", "\\'").replaceAll("\r", "\\r");
  return `$'${showControls(escaped)}'`;
}
