/** Text that a person can paste into a shell. */
import { showControls } from "./plain-text.js";

/** Text that every shell reads as itself; a leading `=` is a path to zsh. */
const BARE = /^(?!=)[\w@%+=:,./-]+$/;

/**
 * An argument as any shell takes it back (POSIX: sh, dash, bash, zsh): bare where that is safe, else in single quotes, and
 * on one line, without what would move a cursor or turn the reading order, as bytes that `printf` makes.
 *
 * Shape: newlines at the very end stand as they are, as a shell takes them from what a program prints.
 */
export function quoteArgument(text: string): string {
  if (BARE.test(text)) return text;
  if (showControls(text) === text && !/[\n\t]/.test(text)) return quoteWhole(text);
  let length = text.length;
  while (text[length - 1] === "\n") length -= 1;
  const printed = `"$(printf '${text.slice(0, length).replace(UNSHOWN, escapeBytes)}')"`;
  return length === text.length ? printed : `${printed}'${text.slice(length)}'`;
}

function quoteWhole(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Besides controls, what `printf`, the quotes around it, or the history of an interactive shell would read. */
const UNSHOWN = /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\\%'!"`$]/g;

function escapeBytes(character: string): string {
  return [...Buffer.from(character, "utf8")].map((byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");
}
