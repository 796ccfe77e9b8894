/** Text that a person can paste into a shell. */

/** An argument as a shell takes it back: bare where that is safe, else in single quotes. */
export function quoteArgument(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
